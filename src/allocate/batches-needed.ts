/**
 * How little data is enough (method.md 7, 1): the plan that k of K calibration batches would have given, and what it comes
 * to when all K judge it.
 */
import type { SiteResult } from '../graph/probe-record';
import type { Plan, PlanQuestion } from './plan';
import type { Limit } from './within';

export interface BatchesInput {
  /** Its evidence holds every batch of every site (`perBatch`) and of the floor (`perRun`). */
  readonly asked: PlanQuestion;
  /** Whose locks hold. */
  readonly plan: Plan;
  readonly limit: Limit;
  /** The measured joint angle of a plan, to be pooled over subsets; null where none was measured. */
  readonly joint: SiteResult | null;
}

/** Of a figure over the subsets. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface BatchesRow {
  /** k. */
  readonly batches: number;
  /** Subsets of k batches that were solved: all of them, or 20 drawn with a seed. */
  readonly subsets: number;
  readonly isComplete: boolean;
  /** Predicted by all K batches, of the plan that the subset gives; null where some low site is not measured. */
  readonly predictedDeg: Spread | null;
  /** Of the plan, in the integer costs of the table. */
  readonly cost: Spread;
  /** Cells in which the plan differs from that of all K. */
  readonly cellsChanged: Spread;
  /** The measured joint angle pooled over the subset; null without one. */
  readonly jointDeg: Spread | null;
}

/** One row for k = 1 .. K; empty where the results hold no single batches. */
export function batchesNeeded(_input: BatchesInput): readonly BatchesRow[] {
  return [];
}
