/**
 * The plan in hand against A (ux.md 3.9): the cells that differ, each with what its other format does to the plan's tan^2,
 * largest first, and how the totals differ. A may be of another recipe or model: cells are counterparts by site id, and
 * those without one are counted.
 */
import { cleanTan2, formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import { angleOfTanSquared } from '../../base/angle';
import type { SiteFormat, SiteId } from '../../graph/policy';
import { PASS_LABELS, type SitePart } from '../../graph/sites';
import { evidenceOf, sitesOf, type CostChoice, type PinnedPlan, type Shown } from '../../state';
import { planFigures, type PlanFigures } from './plan-figures';

const PARTS = Object.keys(PASS_LABELS) as readonly SitePart[];

export interface CellDifference {
  readonly id: SiteId;
  readonly part: SitePart;
  readonly from: SiteFormat;
  readonly to: SiteFormat;
  /** Clean tan^2 in the plan minus that in A; null where one of the two was not measured. */
  readonly tan2: number | null;
}

export interface PlanDifference {
  /** Largest effect first, unknown effects last; ties in site order. */
  readonly cells: readonly CellDifference[];
  /** Cells that both plans have. */
  readonly counterparts: number;
  /** Cells of the plan in hand, and of A, that the other has not. */
  readonly onlyHere: number;
  readonly onlyInA: number;
  readonly inHand: PlanFigures;
  /** Null where A is of another model: its angles are not among these results. */
  readonly ofA: PlanFigures | null;
}

/** What the plan has otherwise than A, cell by cell and in total. */
export function planDifference(shown: Shown, plan: Plan, pinned: PinnedPlan, choice: CostChoice): PlanDifference {
  const sites = shown.graph === null ? [] : sitesOf(shown.graph, shown.recipe);
  const both = sites.filter(({ id }) => Object.hasOwn(pinned.plan.formats, id));
  const isSameModel = pinned.modelSha256 === shown.modelSha256;
  const inHand = planFigures(shown, { ...shown, plan }, choice);
  const ofA = isSameModel ? planFigures(shown, pinned, choice) : null;
  const tan2 = (figures: PlanFigures | null, id: SiteId, format: SiteFormat): number | null =>
    format === 'bf16' ? 0 : figures === null ? null : cleanTan2(evidenceOf(figures.shown), id, format);
  const cells = both.flatMap(({ id, pass }): CellDifference[] => {
    const [from, to] = [formatOf(pinned.plan.formats, id), formatOf(plan.formats, id)];
    if (from === to) return [];
    const [inA, here] = [tan2(ofA, id, from), tan2(inHand, id, to)];
    return [{ id, part: pass, from, to, tan2: inA === null || here === null ? null : here - inA }];
  });
  const size = ({ tan2: effect }: CellDifference): number => (effect === null ? -1 : Math.abs(effect));
  return {
    cells: cells.toSorted((a, b) => size(b) - size(a)),
    counterparts: both.length,
    onlyHere: sites.length - both.length,
    onlyInA: Object.keys(pinned.plan.formats).length - both.length,
    inHand,
    ofA,
  };
}

/** The effect of a cell as people read it: a difference of tan^2 as an angle with its sign. */
export function effectDegrees(tan2: number): number {
  return Math.sign(tan2) * angleOfTanSquared(Math.abs(tan2));
}

export interface DifferenceFilter {
  readonly part: SitePart | 'all';
  /** Null: whether they are unstable does not matter. */
  readonly unstable: ReadonlySet<SiteId> | null;
}

/** The cells that a filter lets through, in their order. */
export function filtered(cells: readonly CellDifference[], { part, unstable }: DifferenceFilter): CellDifference[] {
  return cells.filter((cell) => (part === 'all' || cell.part === part) && (unstable === null || unstable.has(cell.id)));
}

/** Parts that occur, in the order of rows. */
export function partsOf(cells: readonly CellDifference[]): SitePart[] {
  return PARTS.filter((part) => cells.some((cell) => cell.part === part));
}
