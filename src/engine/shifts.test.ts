/**
 * Kept shifts and their inner products against gradients read back and multiplied on the host; and the draws of
 * stochastic rounding that make shifts differ: the same address gives the same bits, any other address others.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { REFERENCE_POLICY, type Policy, type PolicyOptions } from '../graph/policy';
import { bitsOfGradient, bitsOfRun, graph, params, SHAPE, tokensOf } from './run-fixture';
import type { Variant } from './run';
import { Session } from './session';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

const passes = (sites: readonly string[], options: PolicyOptions = {}): Policy => ({ ...REFERENCE_POLICY, passes: Object.fromEntries(sites.map((id) => [id, 'nvfp4' as const])), options });

/** g under a policy minus g under the reference, of one batch, in FP32 as the device subtracts. */
async function shiftOf(policy: Policy, batch: number): Promise<number[]> {
  const gradients: ReadonlyMap<string, Float32Array>[] = [];
  for (const plan of [policy, REFERENCE_POLICY]) {
    const session = await Session.create(gpu, graph, params, SHAPE, { plan });
    try {
      session.setBatch(tokensOf(batch));
      await session.runReference();
      gradients.push(await session.readGradient());
    } finally {
      session.dispose();
    }
  }
  const [g, r] = gradients;
  return graph.params.flatMap(({ name }) => Array.from(g?.get(name) ?? [], (x, i) => Math.fround(x - (r?.get(name)?.[i] ?? NaN))));
}

describe('inner products of shifts', () => {
  // Of everything, of the backward pass from the last block down, of one tensor, of everything again.
  const KEPT: { policy: Policy; batch: number }[] = [
    { policy: passes(['h.0.attn.c_attn:fprop']), batch: 0 },
    { policy: passes(['h.1.attn.c_proj:dgrad']), batch: 1 },
    { policy: passes(['h.0.mlp.c_fc:wgrad']), batch: 0 },
    { policy: { ...REFERENCE_POLICY, outs: ['h.1.mlp.act', 'lm_head'] }, batch: 1 },
  ];

  it('are those of the gradients, over parameters and batches', async () => {
    const session = await Session.create(gpu, graph, params, SHAPE, { batches: 2, outs: {}, shiftSets: KEPT.length });
    let gram: Float64Array;
    try {
      const keep = async (k: number, { policy, batch }: { policy: Policy; batch: number }): Promise<void> => {
        session.setBatch(tokensOf(batch), batch);
        if (!session.referenceRun) await session.runReference();
        await session.runVariant({ policy, keepShift: k });
      };
      // Sets that are used again hold nothing of what was there.
      for (const k of [2, 1]) await keep(k, { policy: passes(['h.1.attn.c_attn:fprop']), batch: 1 });
      for (const [k, kept] of KEPT.entries()) await keep(k, kept);
      gram = await session.readGram(KEPT.length);
      expect(await session.readGram(2)).toEqual(Float64Array.of(gram[0] ?? NaN, gram[1] ?? NaN, gram[4] ?? NaN, gram[5] ?? NaN));
      await expect(session.readGram(KEPT.length + 1)).rejects.toThrow('readGram: expected at most 4 shifts, got 5');
    } finally {
      session.dispose();
    }
    const shifts: number[][] = [];
    for (const { policy, batch } of KEPT) shifts.push(await shiftOf(policy, batch));
    const n = KEPT.length;
    const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? NaN), 0);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const [a = [], b = []] = [shifts[i], shifts[j]];
        const found = gram[i * n + j] ?? NaN;
        expect(found).toBe(gram[j * n + i]);
        // A partial adds 256 products in each of four lanes: 256 roundings of 2^-24 of the absolute products at the most.
        const bound = 2 ** -16 * a.reduce((sum, x, k) => sum + Math.abs(x * (b[k] ?? NaN)), 0);
        expect(Math.abs(found - dot(a, b)), `<${i}, ${j}>`).toBeLessThanOrEqual(bound);
      }
      expect(gram[i * n + i]).toBeGreaterThan(0);
    }
  });

  it('are kept by variants that change nothing, as zero', async () => {
    const session = await Session.create(gpu, graph, params, SHAPE, { shiftSets: 2 });
    try {
      session.setBatch(tokensOf(0));
      await session.runReference();
      await session.runVariant({ policy: passes(['h.0.mlp.c_fc:wgrad']), keepShift: 0 });
      await session.runVariant({ keepShift: 1 });
      const [own, across, , none] = await session.readGram(2);
      expect(own).toBeGreaterThan(0);
      expect([across, none]).toEqual([0, 0]);
      await expect(session.runVariant({ keepShift: 2 })).rejects.toThrow(/no buffer for d:wte\.weight in shift 2/);
    } finally {
      session.dispose();
    }
  });
});

describe('draws of stochastic rounding', () => {
  const SITES = ['h.1.mlp.c_fc:dgrad', 'h.0.attn.c_attn:wgrad'];
  const drawn = (seed: number, step: number, draw: number): Variant => ({ policy: passes(SITES, { sr: true, seed }), random: { step, draw } });
  const ADDRESSES = [drawn(1, 0, 0), drawn(2, 0, 0), drawn(1, 1, 0), drawn(1, 0, 1)];

  async function runs(variants: readonly Variant[]): Promise<string[]> {
    const session = await Session.create(gpu, graph, params, SHAPE);
    try {
      session.setBatch(tokensOf(0));
      await session.runReference();
      const found: string[] = [];
      for (const variant of variants) found.push(JSON.stringify(bitsOfRun(await session.runVariant(variant))));
      return found;
    } finally {
      session.dispose();
    }
  }

  it('of one address are the same bits, in any order and session; of another seed, step or draw others', async () => {
    const first = await runs(ADDRESSES);
    expect(new Set(first).size).toBe(ADDRESSES.length);
    expect(await runs(ADDRESSES.toReversed())).toEqual(first.toReversed());
    // Without an address: the first draw of step 0.
    const [variant] = ADDRESSES;
    expect(await runs([{ policy: variant?.policy ?? REFERENCE_POLICY }])).toEqual(first.slice(0, 1));
  });

  it('touch no pass that draws nothing: forward passes, and every pass without sr', async () => {
    const [a, b] = await runs([0, 1].map((draw) => ({ policy: passes(['h.1.mlp.c_fc:fprop'], { sr: true }), random: { step: 0, draw } })));
    expect(a).toBe(b);
    const [c, d] = await runs([0, 1].map((draw) => ({ policy: passes(SITES), random: { step: 0, draw } })));
    expect(c).toBe(d);
  });

  it('reach whole runs of a plan', async () => {
    const plan = passes(SITES, { sr: true, seed: 3 });
    const gradients: string[] = [];
    const session = await Session.create(gpu, graph, params, SHAPE, { plan });
    try {
      session.setBatch(tokensOf(0));
      for (const step of [0, 1, 0]) {
        await session.runReference(plan, undefined, { step, draw: 0 });
        gradients.push(JSON.stringify(bitsOfGradient(await session.readGradient())));
      }
    } finally {
      session.dispose();
    }
    expect(gradients[2]).toBe(gradients[0]);
    expect(gradients[1]).not.toBe(gradients[0]);
  });
});
