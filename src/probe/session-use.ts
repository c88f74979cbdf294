/**
 * What the engine is asked for to do a probe's runs. How much of it fits on a device is graph/ledger's to say, so that
 * the page predicts the memory of the very session that a worker makes.
 */
import type { SessionUse } from '../engine/memory';
import type { ProbeRun } from '../graph/ledger';
import { OUT_SCHEME, type PolicyOptions, type RecipeName } from '../graph/policy';

/** What is measured: the recipe that is swept, and options of op groups that a joint policy lowers beside it. */
export interface Measuring {
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly persistent: boolean;
  readonly outs?: PolicyOptions;
}

export function sessionUse({ recipe, options = {}, outs, batches, shiftSets = 0 }: ProbeRun): SessionUse {
  const lowOuts = recipe === OUT_SCHEME ? options : outs;
  return { batches, shiftSets, ...(lowOuts ? { outs: lowOuts } : {}) };
}
