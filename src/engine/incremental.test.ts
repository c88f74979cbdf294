/**
 * A variant run executes only what a change can reach (engine.md 6.1); here the same runs are made in full and must give
 * the same bits: loss, local error and every sum of every parameter. Order of sites must not matter. Passes; op groups
 * have out-sites.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gradientMetrics } from '../base/angle';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { REFERENCE_POLICY, type Policy, type PolicyOptions, type SiteId } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import { bitsOfRun, graph, params, SHAPE, tokensOf } from './run-fixture';
import { Session } from './session';
import type { RunResult, Variant } from './run';

const SITES = paintableSites(graph, 'nvfp4').map((site) => site.id);
const low = (sites: readonly SiteId[], options: PolicyOptions = {}): Policy => ({ reference: 'bf16', passes: Object.fromEntries(sites.map((id) => [id, 'nvfp4' as const])), options });

let gpu: Gpu;
let session: Session;
let reference: RunResult;
beforeAll(async () => {
  gpu = await sharedGpu();
  session = await Session.create(gpu, graph, params, SHAPE);
  session.setBatch(tokensOf(0));
  reference = await session.runReference();
});
afterAll(() => {
  session.dispose();
  expect(gpu.liveBuffers).toBe(0);
});

const shift = (run: RunResult): number => [...run.sums.values()].reduce((sum, s) => sum + s.dd, 0);
const moved = (run: RunResult): string[] => [...run.sums].filter(([, s]) => s.dd > 0).map(([name]) => name);

const CASES: [string, Variant][] = [
  ...SITES.map((site): [string, Variant] => [site, { policy: low([site]), localErrorOf: site }]),
  ['h.1.mlp.c_fc:fprop, 1x16 weights', { policy: low(['h.1.mlp.c_fc:fprop'], { weights1d: true }), localErrorOf: 'h.1.mlp.c_fc:fprop' }],
  ['h.0.attn.c_proj:dgrad, 1x16 weights', { policy: low(['h.0.attn.c_proj:dgrad'], { weights1d: true }), localErrorOf: 'h.0.attn.c_proj:dgrad' }],
  ['joint: passes of both layers', { policy: low(['h.1.attn.c_attn:fprop', 'h.1.mlp.c_proj:dgrad', 'h.0.mlp.c_fc:wgrad', 'h.0.attn.c_proj:dgrad']) }],
  ['joint: wgrad only', { policy: low(SITES.filter((id) => id.endsWith(':wgrad'))) }],
  ['one ulp of y in the middle', { flip: { node: 'h.1.ln_1', what: 'y', index: 12345 } }],
  ['one ulp of y at the end', { flip: { node: 'ln_f', what: 'y', index: 12345 } }],
  ['one ulp of dy where two gradients are summed', { flip: { node: 'h.0.res_1', what: 'dy', index: 77 } }],
  ['one ulp of dy with one consumer', { flip: { node: 'h.1.ln_1', what: 'dy', index: 12345 } }],
];

describe('incremental = full, bit for bit', () => {
  it.each(CASES)('%s', async (_name, variant) => {
    const incremental = await session.runVariant(variant);
    const full = await session.runVariant({ ...variant, full: true });
    expect(bitsOfRun(incremental)).toEqual(bitsOfRun(full));
    expect(incremental.executedSteps).toBeLessThan(full.executedSteps);
    expect(full.executedSteps).toBeGreaterThanOrEqual(reference.executedSteps);
    expect(shift(incremental)).toBeGreaterThan(0);
    expect(incremental.nonFiniteOperands).toBe(0);
  });

  it('all passes low: the most a variant can reach', async () => {
    const incremental = await session.runVariant({ policy: low(SITES) });
    expect(bitsOfRun(incremental)).toEqual(bitsOfRun(await session.runVariant({ policy: low(SITES), full: true })));
    // Only the embedding and the first norm come before the first low pass.
    expect(incremental.executedSteps).toBe(reference.executedSteps - 2);
  });
});

describe('what a change can reach (engine.md 6.1)', () => {
  it('a wgrad site: its own step, its own tensor, the same loss', async () => {
    const run = await session.runVariant({ policy: low(['h.0.mlp.c_fc:wgrad']) });
    expect(run.executedSteps).toBe(1);
    expect(moved(run)).toEqual(['h.0.mlp.c_fc.weight']);
    expect(run.loss).toBe(reference.loss);
  });

  it('a dgrad site: nothing after it, not its own dw, the same loss', async () => {
    const run = await session.runVariant({ policy: low(['h.1.attn.c_proj:dgrad']) });
    const names = moved(run);
    expect(names).not.toContain('h.1.attn.c_proj.weight');
    expect(names.filter((name) => /^(h\.1\.(mlp|ln_2|attn\.c_proj)|ln_f)/.test(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['h.1.attn.c_attn.weight', 'h.1.ln_1.weight', 'h.0.mlp.c_proj.weight', 'wte.weight', 'wpe.weight']));
    expect(run.loss).toBe(reference.loss);
  });

  it('an fprop site: the loss and every gradient', async () => {
    const run = await session.runVariant({ policy: low(['h.1.mlp.c_proj:fprop']) });
    expect(run.loss).not.toBe(reference.loss);
    expect(moved(run).length).toBe(graph.params.length);
    // The forward steps of the first block and most of the second are not run again.
    expect(run.executedSteps).toBeLessThan(reference.executedSteps - 15);
  });
});

describe('independence of the runs', () => {
  it('the order of sites does not matter, and A, B, A gives A again', async () => {
    const some = SITES.filter((_, i) => i % 3 === (i >> 2) % 3);
    const of = async (sites: readonly SiteId[]): Promise<Map<SiteId, Record<string, string>>> => {
      const found = new Map<SiteId, Record<string, string>>();
      for (const site of sites) found.set(site, bitsOfRun(await session.runVariant({ policy: low([site]), localErrorOf: site })));
      return found;
    };
    const forward = await of(some);
    const backward = await of(some.toReversed());
    for (const site of some) expect(backward.get(site)).toEqual(forward.get(site));
    expect(new Set([...forward.values()].map((bits) => JSON.stringify(bits))).size).toBe(some.length);
  });

  it('no change is no shift: no step, or every step with the same bits', async () => {
    const nothing = await session.runVariant({});
    const everything = await session.runVariant({ policy: REFERENCE_POLICY, full: true });
    expect(nothing.executedSteps).toBe(0);
    expect(everything.executedSteps).toBe(reference.executedSteps);
    for (const run of [nothing, everything]) {
      expect(bitsOfRun(run)).toEqual(bitsOfRun(reference));
      const sums = [...run.sums.values()].reduce((a, b) => ({ gg: a.gg + b.gg, rr: a.rr + b.rr, dd: a.dd + b.dd, dr: a.dr + b.dr }), { gg: 0, rr: 0, dd: 0, dr: 0 });
      expect(gradientMetrics({ ...sums, gr: sums.rr }).angleDeg).toBe(0);
    }
  });
});
