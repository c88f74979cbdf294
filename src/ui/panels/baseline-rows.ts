/**
 * What the table of baselines says of each: its plan's figures, its own score of its plan and of the plan in hand, and
 * which plan has the lowest measured angle of those that cost no more than the one in hand.
 */
import { baselinesFor } from '../../allocate/baselines';
import type { Plan } from '../../allocate/plan';
import { baselineInputsOf, baselinesAt, costSumOf, hashOfPlan, type BaselineRow, type CostChoice, type Shown } from '../../state';
import { planFigures, type PlanFigures } from '../compare/plan-figures';

export interface BaselineLine extends BaselineRow {
  /** Null where there is no plan: `reason` says why. */
  readonly figures: PlanFigures | null;
  /** The method's own score of the plan in hand; null where it has none or a part is missing. */
  readonly scoreInHand: number | null;
  readonly isLowest: boolean;
}

export interface BaselineLines {
  readonly inHand: { readonly figures: PlanFigures; readonly isLowest: boolean };
  readonly lines: readonly BaselineLine[];
}

/** A line of each baseline at what the plan costs. */
export function baselineLines(shown: Shown, plan: Plan, choice: CostChoice): BaselineLines {
  const inputs = baselineInputsOf(shown, choice);
  const methods = new Map(baselinesFor(shown.recipe).map((method) => [method.id, method]));
  const figuresOf = (of: Plan): PlanFigures => planFigures(shown, { ...shown, plan: of }, choice);
  const inHand = figuresOf(plan);
  const rows = baselinesAt(shown, choice, plan).map((row) => ({ ...row, figures: row.plan && figuresOf(row.plan) }));
  const budget = costSumOf(shown, plan, choice) ?? 0;
  /** Measured degrees of a plan within the budget; Infinity for the others. */
  const within = (of: Plan | null, figures: PlanFigures | null): number =>
    of !== null && figures?.measured?.status === 'measured' && (costSumOf(shown, of, choice) ?? Infinity) <= budget ? figures.measured.angleDeg : Infinity;
  const angles = [within(plan, inHand), ...rows.map((row) => within(row.plan, row.figures))];
  // One alone is no lowest.
  const lowest = angles.filter(Number.isFinite).length > 1 ? Math.min(...angles) : NaN;
  return {
    inHand: { figures: inHand, isLowest: angles[0] === lowest },
    lines: rows.map((row, i): BaselineLine => ({
      ...row,
      scoreInHand: inputs === null ? null : (methods.get(row.id)?.score(inputs, plan.formats) ?? null),
      isLowest: angles[i + 1] === lowest,
    })),
  };
}

/** The baselines whose plans are still to be measured, each plan once; nothing low is the reference itself. */
export function unverified(shown: Shown, lines: readonly BaselineLine[]): { readonly id: string; readonly hash: string }[] {
  const seen = new Set<string>();
  return lines.flatMap(({ id, plan, figures }) => {
    const hash = plan === null ? null : hashOfPlan(shown, plan);
    if (plan === null || hash === null || figures?.measured !== null || figures.isReference || seen.has(hash)) return [];
    seen.add(hash);
    return [{ id, hash }];
  });
}
