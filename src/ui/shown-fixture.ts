/** A page's facts for tests, as shown: results are given, everything else is as a fresh page has it. */
import type { Measured } from '../graph/probe-record';
import { createFactsStore, resultsKey, shownOf, type FactsState, type Results, type Shown } from '../state';
import type { PolicyOptions, RecipeName } from '../graph/policy';

export const measured = (angleDeg: number): Measured => ({
  status: 'measured', angleDeg, cleanAngleDeg: angleDeg, angleSeDeg: 0.01, belowNoise: false, relativeShift: 0.1, lengthRatio: 1, rotationShare: 1,
  lossChange: 0, localError: 0.01, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 1,
});

export function shownWith(part: Partial<FactsState>, results: Partial<Results> = {}, recipe: RecipeName = 'nvfp4', options: PolicyOptions = {}): Shown {
  const facts = { ...createFactsStore().getState(), ...part };
  return { ...shownOf(facts, { recipe, options }), ...results, key: resultsKey(facts.data, recipe, options) };
}
