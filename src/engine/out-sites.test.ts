/**
 * Op groups in a probe: a variant run of any `:out` site, of joints, and of plans that mix them with passes of every
 * scheme gives the bits of the same run made in full. And the local error of an output.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { OUT_SCHEME, PASS_SCHEMES, type PassScheme, type Policy, type PolicyOptions } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import { outValues, quantize } from '../numerics/quantize';
import { operandFormat } from '../numerics/schemes';
import { bf16Tensor, bitsOfRun, graph, params, SHAPE, tokensOf } from './run-fixture';
import { Session } from './session';
import type { RunResult } from './run';

const OUTS = paintableSites(graph, OUT_SCHEME).map(({ node }) => node);
const PASSES = paintableSites(graph, 'nvfp4').map(({ id }) => id);
const low = (outs: readonly string[], options: PolicyOptions = {}, passes: Policy['passes'] = {}): Policy => ({ reference: 'bf16', outs, passes, options });

let gpu: Gpu;
let session: Session;
let reference: RunResult;
beforeAll(async () => {
  gpu = await sharedGpu();
  // The finest scaling has the most scales: its buffers hold every other form too.
  session = await Session.create(gpu, graph, params, SHAPE, { outs: { out: 'mx' } });
  session.setBatch(tokensOf(0));
  reference = await session.runReference();
});
afterAll(() => {
  session.dispose();
  expect(gpu.liveBuffers).toBe(0);
});

const shift = (run: RunResult): number => [...run.sums.values()].reduce((sum, s) => sum + s.dd, 0);

async function expectSame(policy: Policy, localErrorOf?: string): Promise<RunResult> {
  const variant = { policy, random: { step: 3, draw: 1 }, ...(localErrorOf === undefined ? {} : { localErrorOf }) };
  const incremental = await session.runVariant(variant);
  const full = await session.runVariant({ ...variant, full: true });
  expect(bitsOfRun(incremental)).toEqual(bitsOfRun(full));
  expect(incremental.executedSteps).toBeLessThan(full.executedSteps);
  expect(shift(incremental)).toBeGreaterThan(0);
  expect(incremental.nonFiniteOperands).toBe(0);
  return incremental;
}

describe('incremental = full, bit for bit', () => {
  it.each(OUTS)('%s:out', async (node) => {
    const run = await expectSame(low([node]), `${node}:out`);
    expect(run.loss).not.toBe(reference.loss);
    expect(run.localError).toBeGreaterThan(0);
  });

  const every = (scheme: (i: number) => PassScheme | null): Policy['passes'] =>
    Object.fromEntries(PASSES.flatMap((id, i) => {
      const chosen = scheme(i);
      return chosen === null ? [] : [[id, chosen]];
    }));
  const odd = OUTS.filter((_, i) => i % 2 === 1);
  const fixed = OUTS.filter((id) => id !== 'wte' && id !== 'lm_head' && !/ln_/.test(id));
  const MIXED: [string, Policy][] = [
    ['blocks of one output', low(['h.1.ln_2'], { out: 'block' })],
    ['mx of one output', low(['h.0.attn'], { out: 'mx' })],
    ['power-of-two scales of one output', low(['h.1.mlp.act'], { pow2: true })],
    ['all but the fixed policy', low(fixed)],
    ['the last block and the head', low(OUTS.filter((id) => /^(h\.1|ln_f|lm_head)/.test(id)))],
    ['both inputs of a residual sum, and the sum', low(['h.1.res_1', 'h.1.mlp.c_proj', 'h.1.res_2'])],
    ['half the outputs in blocks, forward passes nvfp4', low(odd, { out: 'block' }, every((i) => (i % 3 === 0 ? 'nvfp4' : null)))],
    ['half the outputs in mx, passes in every scheme', low(odd, { out: 'mx' }, every((i) => (i % 4 === 0 ? (PASS_SCHEMES[i / 4] ?? null) : null)))],
    ['outputs and passes of the last block only', low(['h.1.mlp.c_fc', 'h.1.mlp.c_proj'], {}, { 'h.1.mlp.c_fc:dgrad': 'fp8', 'h.1.mlp.c_proj:fprop': 'mxfp8' })],
    ['an output, and a wgrad far from it', low(['h.1.res_2'], {}, { 'h.0.attn.c_attn:wgrad': 'fp8-block' })],
    ['every pass, Hadamard and stochastic', low([], { rht: true, sr: true, seed: 5 }, every((i) => (i % 2 === 0 ? 'nvfp4' : 'mxfp4')))],
    ['outputs beside stochastic rounding', low(['h.0.ln_1', 'h.1.attn'], { rht: true, sr: true }, every((i) => (i % 3 === 0 ? null : 'nvfp4')))],
  ];
  it.each(MIXED)('%s', async (_name, policy) => {
    await expectSame(policy);
  });

  it('all outputs low: the most a variant can reach', async () => {
    const run = await session.runVariant({ policy: low(OUTS) });
    const full = await session.runVariant({ policy: low(OUTS), full: true });
    expect(bitsOfRun(run)).toEqual(bitsOfRun(full));
    // Only the embedding comes before the first low output.
    expect(run.executedSteps).toBe(full.executedSteps - 1);
  });

  it('a reference is a reference again after low outputs', async () => {
    const nothing = await session.runVariant({ policy: low([]), full: true });
    expect(bitsOfRun(nothing)).toEqual(bitsOfRun(reference));
  });

  it('the order of sites does not matter', async () => {
    const some = OUTS.filter((_, i) => i % 4 === 1);
    const of = async (nodes: readonly string[]): Promise<Map<string, Record<string, string>>> => {
      const found = new Map<string, Record<string, string>>();
      for (const node of nodes) found.set(node, bitsOfRun(await session.runVariant({ policy: low([node], { out: 'block' }), localErrorOf: `${node}:out` })));
      return found;
    };
    const [forward, backward] = [await of(some), await of(some.toReversed())];
    for (const node of some) expect(backward.get(node)).toEqual(forward.get(node));
    expect(new Set([...forward.values()].map((bits) => JSON.stringify(bits))).size).toBe(some.length);
  });
});

describe('the local error of an output', () => {
  it.each<[string, PolicyOptions]>([['h.0.mlp.act', {}], ['h.1.attn.c_attn', { out: 'block' }], ['lm_head', { out: 'mx' }], ['h.1.res_2', { pow2: true }]])('%s %o: of its rounded values, in FP64', async (id, options) => {
    const cols = graph.nodes.find((node) => node.id === id)?.cols ?? 0;
    const run = await session.runVariant({ policy: low([id], options), localErrorOf: `${id}:out` });
    const y = bf16Tensor(await session.readValue(`y:${id}`), cols);
    const q = outValues(quantize(y, y.length / cols, cols, operandFormat(OUT_SCHEME, 'x', options)));
    let [dd, rr] = [0, 0];
    y.forEach((value, i) => {
      dd += ((q[i] ?? NaN) - value) ** 2;
      rr += value ** 2;
    });
    expect(run.localError).toBeGreaterThan(0);
    // Partials of 1,024 squares in FP32.
    expect(Math.abs((run.localError ?? NaN) / (dd / rr) - 1)).toBeLessThan(1e-5);
  });

});

describe('a session', () => {
  it('counts the Inf of an output and of what arrives at it, which their codes hide', async () => {
    const planted = new Map(params);
    planted.set('h.1.mlp.c_fc.bias', new Float32Array(4 * graph.width).fill(3.4e38, 0, 1));
    const broken = await Session.create(gpu, graph, planted, SHAPE, { outs: {} });
    try {
      broken.setBatch(tokensOf(0));
      const high = await broken.runReference();
      expect(high.nonFiniteOperands).toBe(0);
      // One column of the output is Inf; the output of the norm before it is finite, what arrives at that is not.
      const output = await broken.runVariant({ policy: low(['h.1.mlp.c_fc']) });
      expect(output.nonFiniteOperands).toBeGreaterThanOrEqual(SHAPE.sequences * SHAPE.tokens);
      const gradient = await broken.runVariant({ policy: low(['h.1.ln_2']) });
      expect(gradient.nonFiniteOperands).toBeGreaterThan(0);
    } finally {
      broken.dispose();
    }
  });

  it('needs a session made for op groups', async () => {
    const plain = await Session.create(gpu, graph, params, SHAPE);
    try {
      plain.setBatch(tokensOf(0));
      await plain.runReference();
      await expect(plain.runVariant({ policy: low(['ln_f']) })).rejects.toThrow(/no buffer for yr:ln_f in work/);
    } finally {
      plain.dispose();
    }
  });
});
