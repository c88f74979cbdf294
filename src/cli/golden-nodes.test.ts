/**
 * The `bf16` policy node by node on the PyTorch reference's own inputs (e2e/golden/nano/nodes.safetensors, float64 sums,
 * rounded where method.md 2 rounds): every output and every input gradient, then every parameter gradient.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gradientSums } from '../base/angle';
import { NodeHarness } from '../engine/node-harness';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { bitsView } from '../numerics/float-bits';
import { builtIn, readTensors } from './golden';

const LEAST_EQUAL = 0.998;
/** Relative to the largest value of the element's row. */
const ROW_TOLERANCE = 2 ** -9;
const TOKENS = 32;
const SEQUENCES = 2;

const { graph, params, batches } = builtIn('nano');
const golden = readTensors('e2e/golden/nano/nodes.safetensors').tensors;
const gradients = readTensors('e2e/golden/nano/nodes-gradient.safetensors').tensors;
const tokens = (batches[0] ?? []).slice(0, SEQUENCES).map((row) => row.slice(0, TOKENS + 1));

let gpu: Gpu;
let harness: NodeHarness;
beforeAll(async () => {
  gpu = await sharedGpu();
  harness = new NodeHarness(gpu, graph, params, { sequences: SEQUENCES, tokens: TOKENS });
  harness.setTokens(tokens);
});
afterAll(() => {
  harness.dispose();
  expect(gpu.liveBuffers).toBe(0);
});

interface Comparison {
  readonly what: string;
  readonly elements: number;
  readonly equal: number;
  /** Elements further away than one BF16 ulp and than 2^-9 of their row's largest value. */
  readonly outside: number;
}

function compare(what: string, got: Float32Array, expected: Float32Array, cols: number): Comparison {
  if (got.length !== expected.length) throw new Error(`${what}: expected ${expected.length} elements, got ${got.length}`);
  const [a, b] = [bitsView(got), bitsView(expected)];
  let equal = 0;
  let outside = 0;
  for (let first = 0; first < got.length; first += cols) {
    const largest = expected.subarray(first, first + cols).reduce((most, v) => Math.max(most, Math.abs(v)), 0);
    for (let i = first; i < first + cols; i++) {
      if (a[i] === b[i]) {
        equal += 1;
        continue;
      }
      const ulps = Math.abs(((a[i] ?? 0) >> 16) - ((b[i] ?? 0) >> 16));
      if (ulps > 1 && !(Math.abs((got[i] ?? NaN) - (expected[i] ?? NaN)) <= ROW_TOLERANCE * largest)) outside += 1;
    }
  }
  return { what, elements: got.length, equal, outside };
}

const tensor = (name: string): Float32Array => {
  const found = golden.get(name);
  if (!found) throw new Error(`golden nodes hold no ${name}`);
  return found;
};
const found: Comparison[] = [];
function hold(result: Comparison): void {
  found.push(result);
  expect(result.equal / result.elements, `${result.what}: share of bit-equal elements`).toBeGreaterThanOrEqual(LEAST_EQUAL);
  expect(result.outside, `${result.what}: elements outside the tolerance`).toBe(0);
}

describe('gpt2-nano, node by node', () => {
  it.each(graph.nodes.map((node) => [node.id, node] as const))('%s', async (id, node) => {
    const { values } = harness;
    const inputCols = (port: number): number => values.node(node.inputs[port] ?? '').cols;
    node.inputs.forEach((input, port) => harness.write(values.y(input), node.op === 'cross_entropy' ? tensor(`${input}/y`) : tensor(`${id}/x${port}`), inputCols(port)));
    await harness.run([`${id}/fprop`]);
    if (node.op !== 'cross_entropy') {
      hold(compare(`${id} y`, await harness.read(values.y(id), node.cols), tensor(`${id}/y`), node.cols));
      harness.write(values.dy(id), tensor(`${id}/dy`), node.cols);
    }
    const backward = harness.slots(id).filter((slot) => !slot.endsWith('/fprop') && !slot.endsWith('/dy'));
    expect(backward.length > 0).toBe(node.op !== 'add');
    await harness.run(backward);
    for (const [port, input] of node.inputs.entries()) {
      const cols = inputCols(port);
      const expected = node.op === 'cross_entropy' ? tensor(`${input}/dy`) : tensor(`${id}/dx${port}`);
      hold(compare(`${id} dx${port}`, await harness.read(values.dx(node, port), cols), expected, cols));
    }
  });

  it('sums of the gradients that two consumers send back', async () => {
    const { values } = harness;
    const forks = graph.nodes.filter(({ id }) => values.consumers(id).length > 1);
    expect(forks.length).toBe(2 * graph.layers);
    for (const { id, cols } of forks) {
      for (const { node, port } of values.consumers(id)) harness.write(values.dx(node, port), tensor(`${node.id}/dx${port}`), cols);
      await harness.run([`${id}/dy`]);
      hold(compare(`${id} dy`, await harness.read(values.dy(id), cols), tensor(`${id}/dy`), cols));
    }
  });

  it('parameter gradients within 1e-5 relative L2', async () => {
    const worst = { name: '', error: 0 };
    // The head's share of the tied table was left by its own test above, and is summed by the embedding's.
    for (const node of [...graph.nodes].reverse().filter(({ params: own }) => Object.keys(own).length > 0)) {
      node.inputs.forEach((input, port) => harness.write(harness.values.y(input), tensor(`${node.id}/x${port}`), harness.values.node(input).cols));
      await harness.run([`${node.id}/fprop`]);
      harness.write(harness.values.dy(node.id), tensor(`${node.id}/dy`), node.cols);
      await harness.run(harness.slots(node.id).filter((slot) => !/\/(fprop|dy)$/.test(slot)));
      for (const name of Object.values(node.params)) {
        if (harness.values.isTied(name) && node.op !== 'embed') continue;
        const sums = gradientSums(await harness.readGradient(name), gradients.get(name) ?? []);
        const error = Math.sqrt(sums.dd / sums.rr);
        if (!(error <= worst.error)) Object.assign(worst, { name, error });
        expect(error, name).toBeLessThanOrEqual(1e-5);
      }
    }
    console.log(`parameter gradients: worst relative L2 error ${worst.error.toExponential(2)} (${worst.name})`);
  });

  it('says what it found', () => {
    const share = ({ equal, elements }: Comparison): number => equal / elements;
    const [worst] = found.toSorted((a, b) => share(a) - share(b));
    const elements = found.reduce((sum, one) => sum + one.elements, 0);
    const equal = found.reduce((sum, one) => sum + one.equal, 0);
    // y of every node but the loss, dx of every port of every node, and dy of the four forks.
    expect(found.length).toBe(graph.nodes.length - 1 + graph.nodes.reduce((sum, node) => sum + node.inputs.length, 0) + 2 * graph.layers);
    console.log(`node by node: ${elements} elements, ${((100 * equal) / elements).toFixed(4)} % bit-equal; worst ${worst?.what}: ${worst ? (100 * share(worst)).toFixed(3) : ''} %`);
    for (const one of found.filter((c) => share(c) < 1)) console.log(`  ${one.what}: ${one.elements - one.equal} of ${one.elements} differ`);
  });
});
