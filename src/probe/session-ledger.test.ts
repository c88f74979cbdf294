/** What the page says a probe will keep on the device is what the worker asks the engine for: the same rule, twice. */
import { describe, expect, it } from 'vitest';
import { FEWEST_BATCHES, probeRun, STOCHASTIC_DRAWS } from '../graph/ledger';
import type { PolicyOptions, RecipeName } from '../graph/policy';
import { gpt2Graph } from '../models/gpt2';
import * as persistence from './persistence';
import { probeSessionUse } from './session-use';

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const MEDIUM = gpt2Graph({ model: 'm', layers: 8, width: 256, heads: 8, positions: 256, vocabulary: 8192, eps: 1e-5 });

describe('a probe', () => {
  it('counts draws alike on both sides', () => {
    expect([FEWEST_BATCHES, STOCHASTIC_DRAWS]).toEqual([persistence.FEWEST_BATCHES, persistence.STOCHASTIC_DRAWS]);
  });

  it.each<[RecipeName, PolicyOptions, PolicyOptions | undefined]>([
    ['nvfp4', {}, undefined], ['nvfp4', { sr: true, rht: true }, undefined], ['mxfp8', {}, { out: 'mx' }], ['fp8-out', {}, undefined], ['fp8-out', { out: 'block' }, undefined],
  ])('of %s under %j, op groups beside it %j', (recipe, options, outs) => {
    for (const graph of [MINI, MEDIUM]) {
      for (const persistent of [false, true]) {
        for (const batches of [1, 4, 8, 12, 40]) {
          const shape = { sequences: 4, tokens: 128 };
          const measuring = { recipe, options, persistent, ...(outs ? { outs } : {}) };
          const use = probeSessionUse(graph, shape, batches, measuring);
          const run = probeRun(graph, shape, batches, measuring);
          expect({ batches: run.batches, shiftSets: run.shiftSets ?? 0 }, `${graph.model} ${batches} ${persistent}`).toEqual({ batches: use.batches, shiftSets: use.shiftSets ?? 0 });
        }
      }
    }
  });
});
