/**
 * Low op groups and random draws in a whole gradient, on a tiny GPT-2: which values are quantized, once, and who reads them
 * (method.md 2 and 4, formats.md 2.0). Against PyTorch: recipes.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { philox4x32 } from '../../base/random';
import { recipeOptions } from '../../graph/recipes';
import { REFERENCE_POLICY, type Policy, type PolicyOptions } from '../../graph/policy';
import { paintableSites } from '../../graph/sites';
import { gpt2Graph } from '../../models/gpt2';
import { referenceGradient, type ReferenceRun, type ReferenceSettings } from './gradient';
import { outTensor } from './low-operand';
import { roundInPlace } from './rounding';

const graph = gpt2Graph({ model: 'tiny', layers: 1, width: 24, heads: 2, positions: 8, vocabulary: 37, eps: 1e-5 });
const params = new Map(graph.params.map(({ name, shape }, i) => {
  const values = Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, j) => Math.fround((philox4x32([j, 0, 0, 0], [i, 0])[0] / 2 ** 31 - 1) * (name.endsWith('bias') ? 0.1 : 0.7)));
  return [name, values];
}));
const TOKENS = [[1, 5, 36, 2, 7, 1, 0], [9, 9, 3, 30, 2, 11, 4]];
const ROWS = 12;
const groups = paintableSites(graph, 'fp8-out').map(({ node }) => node);

const run = (policy: Partial<Policy>, settings: ReferenceSettings = {}): ReferenceRun => referenceGradient(graph, params, TOKENS, { ...REFERENCE_POLICY, ...policy }, { trace: true, ...settings });
function traced(found: ReferenceRun, key: string): Float64Array {
  const x = found.trace.get(key);
  if (!x) throw new Error(`no trace ${key}`);
  return x;
}
const width = (node: string): number => graph.nodes.find(({ id }) => id === node)?.cols ?? 0;
const reference = run({});

/** The BF16 gradient that arrives at a node: what its consumers send back, summed. */
function arrived(found: ReferenceRun, node: string): Float64Array {
  const sum = new Float64Array(ROWS * width(node));
  for (const consumer of [...graph.nodes].reverse()) {
    consumer.inputs.forEach((id, port) => {
      if (id === node) traced(found, `${consumer.id}/dx${port}`).forEach((v, i) => {
        sum[i] = (sum[i] as number) + v;
      });
    });
  }
  return roundInPlace(sum, 'bf16');
}

describe.each<PolicyOptions>([{}, { pow2: true }, { out: 'block' }, { out: 'mx' }])('one low op group, %j', (options) => {
  const read = recipeOptions('fp8-out', options);
  it.each(groups)('%s: output and arriving gradient are quantized once, and every reader gets that copy', (node) => {
    const low = run({ outs: [node], options });
    // A linear's own weight is low too, so its output is no longer the reference's before it is quantized.
    const before = graph.nodes.find(({ id }) => id === node)?.op === 'linear' ? null : traced(reference, `${node}/y`);
    const y = traced(low, `${node}/y`);
    if (before) expect(y).toEqual(outTensor(before, ROWS, width(node), 'x', read));
    // Under power-of-two scales what is quantized once stays as it is.
    if (options.out || options.pow2) expect(outTensor(y, ROWS, width(node), 'x', read)).toEqual(y);
    const dy = traced(low, `${node}/dy`);
    expect(dy).toEqual(outTensor(arrived(low, node), ROWS, width(node), 'dy', read));
    for (const consumer of graph.nodes) {
      consumer.inputs.forEach((id, port) => {
        if (id === node) expect(traced(low, `${consumer.id}/x${port}`)).toEqual(y);
      });
    }
    // Nothing else is quantized: what arrives elsewhere is only rounded.
    for (const other of groups) if (other !== node) expect(traced(low, `${other}/dy`)).toEqual(arrived(low, other));
  });
});

it('a residual sum hands its quantized gradient to both branches', () => {
  const low = run({ outs: ['h.0.res_1'] });
  const dy = traced(low, 'h.0.res_1/dy');
  expect(dy).not.toEqual(arrived(low, 'h.0.res_1'));
  expect([traced(low, 'h.0.res_1/dx0'), traced(low, 'h.0.res_1/dx1')]).toEqual([dy, dy]);
});

it('the tied table is low for the head only', () => {
  const low = run({ outs: ['lm_head'] });
  expect(traced(low, 'wte/y')).toEqual(traced(reference, 'wte/y'));
  expect(traced(low, 'lm_head/x0')).toEqual(traced(reference, 'lm_head/x0'));
  expect(traced(low, 'lm_head/y')).not.toEqual(traced(reference, 'lm_head/y'));
});

it('stochastic rounding draws by seed, step and draw, and leaves the loss alone', () => {
  const passes = { 'h.0.mlp.c_fc:dgrad': 'nvfp4', 'h.0.attn.c_proj:wgrad': 'nvfp4' } as const;
  const sr = (options: PolicyOptions, step: number, draw: number): ReferenceRun => run({ passes, options: { sr: true, ...options } }, { draw: { step, draw } });
  const once = sr({ seed: 5 }, 1, 0);
  expect(sr({ seed: 5 }, 1, 0).gradient).toEqual(once.gradient);
  for (const other of [sr({ seed: 6 }, 1, 0), sr({ seed: 5 }, 2, 0), sr({ seed: 5 }, 1, 1), run({ passes })]) {
    expect(other.loss).toBe(reference.loss);
    expect(other.gradient).not.toEqual(once.gradient);
  }
});

it('refuses low op groups where nothing is rounded', () => {
  expect(() => run({ reference: 'fp32', outs: ['wte'] })).toThrow('reference: low op groups need the bf16 policy');
});
