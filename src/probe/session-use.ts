/**
 * What a session of a probe has to hold: as many reference runs as fit, the packed outputs of op groups only where
 * something lowers one, and room for shifts only where it is asked what of them persists.
 */
import type { BatchShape } from '../engine/values';
import { residentBatches, type SessionUse } from '../engine/memory';
import { OUT_SCHEME, type PolicyOptions, type RecipeName } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';
import type { Graph } from '../graph/types';
import { FEWEST_BATCHES, STOCHASTIC_DRAWS } from './persistence';

/** What is measured: the recipe that is swept, and options of op groups that a joint policy lowers beside it. */
export interface Measuring {
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly persistent: boolean;
  readonly outs?: PolicyOptions;
}

/** Room for the shifts of all batches comes first; where it costs a resident reference run it is not taken. */
export function probeSessionUse(graph: Graph, shape: BatchShape, batches: number, { recipe, options, persistent, outs }: Measuring): SessionUse & { readonly batches: number } {
  const lowOuts = recipe === OUT_SCHEME ? recipeOptions(recipe, options) : outs;
  const draws = persistent && recipeOptions(recipe, options).sr ? STOCHASTIC_DRAWS : 0;
  const overBatches = persistent && batches >= FEWEST_BATCHES ? batches : 0;
  const [widest, narrow] = [Math.max(draws, overBatches), draws].map((shiftSets) => ({ ...(lowOuts ? { outs: lowOuts } : {}), ...(shiftSets > 0 ? { shiftSets } : {}) })) as [SessionUse, SessionUse];
  const use = residentBatches(graph, shape, batches, widest) === batches ? widest : narrow;
  return { ...use, batches: residentBatches(graph, shape, batches, use) };
}
