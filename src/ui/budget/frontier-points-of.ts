/** The plans that the frontier chart shows as points: the one in hand, every saved plan and every baseline of the same kind of sites, and A. */
import type { Plan } from '../../allocate/plan';
import { RECIPES } from '../../graph/recipes';
import { isSameKey, plansOf, recipeName, resultsKey, type CostChoice, type DocumentState, type HowMuchState, type NamedPlan, type PinnedPlan, type PlanInContext, type Shown } from '../../state';
import type { CostTable } from '../../allocate/costs';
import { isPinned } from '../compare/pin-button';
import { planFigures } from '../compare/plan-figures';
import type { ChartStep } from '../charts/frontier-chart';
import type { ChartPlan } from '../charts/frontier-scale';

export interface PlanPoint extends ChartPlan {
  readonly plan: Plan;
}

/** Id of A where it is none of the plans listed. */
export const PINNED_ID = 'pinned';

export interface PlanPoints {
  readonly points: readonly PlanPoint[];
  /** Which of them is A. */
  readonly pinnedId: string | null;
}

/** Baselines are those at what the plan in hand costs by the `chosen` cost; `axis` is what they are placed by. */
export function planPoints(document: DocumentState, shown: Shown, chosen: CostChoice, axis: CostChoice, pinned: PinnedPlan | null): PlanPoints {
  const plans = plansOf(document, shown, chosen).filter(({ recipe }) => RECIPES[recipe].kind === RECIPES[shown.recipe].kind);
  const point = (id: string, name: string, context: PlanInContext, current: boolean): PlanPoint[] => {
    const { cost, totals, measured } = planFigures(shown, context, axis);
    if (cost === null) return [];
    return [{ id, name, cost, predictedDeg: totals?.predictedDeg ?? null, measuredDeg: measured?.status === 'measured' ? measured.angleDeg : null, current, plan: context.plan }];
  };
  const points = plans.flatMap((named) => point(named.id, nameOf(shown, named), named, named.kind === 'current'));
  const isHere = pinned !== null && pinned.modelSha256 === shown.modelSha256 && RECIPES[pinned.recipe].kind === RECIPES[shown.recipe].kind;
  if (!isHere) return { points, pinnedId: null };
  const listed = plans.find((named) => named.kind !== 'current' && isPinned(pinned, { ...named, plan: { ...named.plan, name: named.name } }, shown.modelSha256));
  if (listed) return { points, pinnedId: listed.id };
  return { points: [...points, ...point(PINNED_ID, pinned.name, pinned, false)], pinnedId: PINNED_ID };
}

/** Under other switches, or another recipe, a plan bends by other measures: its name says which. */
function nameOf(shown: Shown, { name, recipe, options }: NamedPlan): string {
  const isOwn = resultsKey(shown.data, recipe, options).recipe === shown.key.recipe;
  return isOwn ? name : `${name} (${recipeName(recipe, options)})`;
}

/** The measurements of "how much is needed", where they are of what is shown and paid by the cost of the axis. */
export function howMuchSteps(shown: Shown, howMuch: HowMuchState | null, table: CostTable): readonly ChartStep[] {
  if (howMuch === null || !isSameKey(howMuch.key, shown.key) || howMuch.costKind !== table.kind) return [];
  return howMuch.steps.flatMap((step, i) => (step.status === 'measured' ? [{ number: i + 1, cost: step.figure, angleDeg: step.angleDeg, meets: step.meets }] : []));
}
