/** What a probe keeps on the device as its batches grow, and what the engine is asked for: one rule for page and worker. */
import { describe, expect, it } from 'vitest';
import { planMemory } from '../engine/memory';
import { FEWEST_BATCHES, predictLedger, probeRun, RESIDENT_BYTES, STOCHASTIC_DRAWS } from '../graph/ledger';
import type { PolicyOptions, RecipeName } from '../graph/policy';
import { gpt2Graph } from '../models/gpt2';
import { sessionUse, type Measuring } from './session-use';

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const SHAPE = { sequences: 4, tokens: 128 };
const measuring = (options: PolicyOptions, persistent: boolean, recipe: RecipeName = 'nvfp4'): Measuring => ({ recipe, options, persistent });
const runOf = (batches: number, what: Measuring) => probeRun(MINI, SHAPE, batches, what);

describe('what a probe keeps', () => {
  it('shifts only where it is asked what persists, and there are draws', () => {
    expect(runOf(4, measuring({}, false)).shiftSets).toBe(0);
    expect(runOf(FEWEST_BATCHES - 1, measuring({}, true)).shiftSets).toBe(0);
    expect(runOf(FEWEST_BATCHES, measuring({}, true)).shiftSets).toBe(FEWEST_BATCHES);
    expect(runOf(4, measuring({ sr: true }, true)).shiftSets).toBe(STOCHASTIC_DRAWS);
    expect(runOf(4, measuring({ sr: true }, false)).shiftSets).toBe(0);
  });

  it('gives up shifts of batches first, then the resident reference runs, never the draws of one batch', () => {
    const kept = Array.from({ length: 50 }, (_, i) => i + 8).map((batches) => ({ asked: batches, run: runOf(batches, measuring({ sr: true }, true)) }));
    const fits = kept.map(({ asked, run }) => [run.batches === asked, run.shiftSets === Math.max(asked, STOCHASTIC_DRAWS)].join());
    // Once something no longer fits it does not fit with more batches either.
    expect([...new Set(fits)]).toEqual(['true,true', 'true,false', 'false,false']);
    for (const { run } of kept) {
      expect(run.shiftSets).toBeGreaterThanOrEqual(STOCHASTIC_DRAWS);
      if (run.batches > 1) expect(predictLedger(MINI, SHAPE, run).totalBytes).toBeLessThanOrEqual(RESIDENT_BYTES);
    }
  });
});

describe('what the engine is asked for', () => {
  it.each<[Measuring, PolicyOptions | undefined]>([
    [measuring({ rht: true }, false), undefined],
    [{ ...measuring({}, false, 'mxfp8'), outs: { out: 'mx' } }, { out: 'mx' }],
    [measuring({ out: 'block' }, false, 'fp8-out'), { out: 'block' }],
  ])('%j: op groups as they are lowered, and as many bytes as predicted, within 5 %%', (what, outs) => {
    const run = runOf(4, what);
    const use = sessionUse(run);
    expect(use).toEqual({ batches: 4, shiftSets: 0, ...(outs ? { outs } : {}) });
    const predicted = predictLedger(MINI, SHAPE, run).totalBytes;
    expect(Math.abs(planMemory(MINI, SHAPE, use).totalBytes / predicted - 1)).toBeLessThan(0.05);
  });
});
