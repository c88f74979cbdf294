/**
 * The allocator with one low format (method.md 7): which sites stay in high precision (HP) so that the plan bends least for
 * its cost. A 0/1 knapsack, asked as a choice between two formats: HP costs the site's work or bytes and bends nothing, low
 * costs nothing and bends by its clean angle. A site that costs nothing is HP in every efficient plan, unless a lock keeps
 * it low.
 */
import type { SiteId } from '../graph/policy';
import { poseQuestion, type SiteChoice } from './choices';
import { solveChoices, type FrontierLine } from './frontier';

export { bendAtMost, spendAtMost, type Choice, type FrontierPoint } from './frontier';

export interface KnapsackItem {
  readonly id: SiteId;
  /** Cost of keeping the site in high precision; an integer, 0 where that is free (FLOPs, or bytes kept). */
  readonly cost: number;
  /** tan^2 of the site's clean angle in the low format, or null if it failed or was not measured. */
  readonly tan2: number | null;
  /** tan^2 of the noise floor that a plan carries once this site is low (method.md 1); wgrad 0. */
  readonly floorTan2: number;
  /** The site must stay as it is, or null when the solver may choose. */
  readonly lock: 'high' | 'low' | null;
}

export interface Frontier extends FrontierLine {
  /** HP sites of a point in the order of the items: on a tie the set that holds the earlier sites. */
  highAt(index: number): SiteId[];
  /** Sites without a usable tan^2: kept HP, or low because a lock says so (then no prediction covers them). */
  readonly unpredicted: readonly { readonly id: SiteId; readonly kept: 'high' | 'low' }[];
}

/** Which of the recipes is the low format does not matter here: the caller knows. */
const LOW = 'nvfp4';

/** All efficient plans under the locks. Throws E-BUG-02 for a cost that is not an integer >= 0 or a negative tan^2. */
export function solveFrontier(items: readonly KnapsackItem[]): Frontier {
  const sites = items.map(({ id, cost, tan2, floorTan2, lock }): SiteChoice => ({
    id,
    offers: [{ format: 'bf16', cost, tan2: 0, floorTan2: 0 }, { format: LOW, cost: 0, tan2, floorTan2 }],
    lock: lock === null ? null : lock === 'high' ? 'bf16' : LOW,
  }));
  const { formatsAt, unpredicted, ...line } = solveChoices(poseQuestion(sites));
  return {
    ...line,
    highAt(index) {
      const formats = formatsAt(index);
      return items.map((item) => item.id).filter((id) => formats[id] === 'bf16');
    },
    unpredicted: unpredicted.map(({ id, kept }) => ({ id, kept: kept === null ? 'high' : 'low' })),
  };
}
