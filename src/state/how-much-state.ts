/** What the search for "how much is needed" has found so far (method.md 7), as it stands beside the plan. */
import type { BatchesRow } from '../allocate/batches-needed';
import type { HowMuch, HowMuchStep } from '../allocate/how-much';
import type { Plan } from '../allocate/plan';
import type { ResultsKey } from './facts';

/** A try that was measured, or one whose plan has no finite gradient. */
export type HowMuchTry = HowMuchStep & { readonly planHash: string };

export interface HowMuchState extends Pick<HowMuch, 'best' | 'isSettled' | 'costRange'> {
  /** Of which text, recipe and switches. */
  readonly key: ResultsKey;
  readonly targetDeg: number;
  readonly status: 'running' | 'done' | 'stopped' | 'failed';
  readonly steps: readonly HowMuchTry[];
  /** The best plan, to be looked at before it is taken over; null when none meets the target. */
  readonly plan: Plan | null;
  /** How little data is enough, k = 1 to all batches; empty until the search is over. */
  readonly batches: readonly BatchesRow[];
  /** Why it failed: code and sentence; null otherwise. */
  readonly reason: string | null;
  /** What `cost` of the steps is called, and its figure a unit (CostTable figureOf). */
  readonly costName: string;
}
