/** What the search for "how much is needed" has found so far (method.md 7), as it stands beside the plan. */
import type { BatchesRow } from '../allocate/batches-needed';
import type { CostKind } from '../allocate/costs';
import type { HowMuch, HowMuchStep } from '../allocate/how-much';
import type { Plan } from '../allocate/plan';
import type { ResultsKey } from './facts';

/** A point of the frontier that is, or was to be, measured. */
interface Tried extends Pick<HowMuchStep, 'aimedDeg' | 'index' | 'cost' | 'predictedDeg'> {
  readonly planHash: string;
  /** Its cost as it is read: a share of everything in BF16, or mean bits. */
  readonly figure: number;
}
export type HowMuchTry =
  | (Tried & { readonly status: 'measuring' })
  /** `isKnown`: it had been measured before, so nothing was run. */
  | (Tried & HowMuchStep & { readonly status: 'measured'; readonly isKnown: boolean })
  /** Why there is no angle. */
  | (Tried & { readonly status: 'failed'; readonly reason: string });

export interface HowMuchState extends Pick<HowMuch, 'best' | 'isSettled' | 'costRange'> {
  /** Of which text, recipe and switches. */
  readonly key: ResultsKey;
  readonly targetDeg: number;
  readonly status: 'running' | 'done' | 'stopped' | 'failed';
  /** At most four, in order; the last one may still be under way. */
  readonly steps: readonly HowMuchTry[];
  /** The best plan, to be looked at before it is taken over; null when none meets the target. */
  readonly plan: Plan | null;
  /** How little data is enough, k = 1 to all batches; empty until the search is over, and where results hold no single batches. */
  readonly batches: readonly BatchesRow[];
  /** Why it failed: code and sentence; null otherwise. */
  readonly reason: string | null;
  /** What the plans pay by, and what that is called. */
  readonly costKind: CostKind;
  readonly costName: string;
  /** costRange as it is read. */
  readonly figureRange: readonly [number, number] | null;
}
