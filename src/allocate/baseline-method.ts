/**
 * A rival way to choose which sites stay in high precision (method.md 7), as plans on the same grid. Each follows its own
 * rule and nothing else: the locks of the plan in hand do not bind it, because it is there to be compared with.
 */
import type { RecipeName, SiteId } from '../graph/policy';
import type { SiteScores } from '../graph/probe-record';
import type { Graph } from '../graph/types';
import type { CostedSite, Evidence, Formats } from './cost';
import type { CostTable } from './costs';

/** What a method may look at. */
export interface BaselineInputs {
  readonly graph: Graph;
  readonly recipe: RecipeName;
  /** Those of the recipe, in site order. */
  readonly sites: readonly CostedSite[];
  /** Without `byFormat` no other format than the recipe has results. */
  readonly evidence: Evidence;
  readonly scores: Readonly<Record<SiteId, SiteScores>>;
  /** Must cover the recipe's format and `second`. */
  readonly costs: CostTable;
  /** Sites that must share a format: one decision of every method that decides by budget. */
  readonly groups: readonly (readonly SiteId[])[];
  /** A second low format that methods with a score in it may take too; null or absent: none. */
  readonly second?: RecipeName | null;
}

export interface BaselineMethod {
  readonly id: string;
  readonly name: string;
  /** How it chooses, in one sentence. */
  readonly sentence: string;
  /** Whether its plan is one and the same, or the one it makes of a budget. */
  readonly kind: 'fixed' | 'budget';
  /** What its own score is called; null where it has none. */
  readonly scoreName: string | null;
  appliesTo(recipe: RecipeName): boolean;
  /** A format for every site, or why there is no such plan. Budget in the integer costs of the table; ignored by fixed ones. */
  formats(inputs: BaselineInputs, budget: number): Formats | { readonly reason: string };
  /** Its own score of any plan: the sum over the low sites; null where it has none or a part is missing. */
  score(inputs: BaselineInputs, formats: Formats): number | null;
}

/** Whether `formats` gave a reason instead of a plan. */
export function isReason(made: Formats | { readonly reason: string }): made is { readonly reason: string } {
  return 'reason' in made;
}
