/** The plan in hand, B, held against A, in one line above the grid (ux.md 3.9); what cannot be compared says why. */
import type { Plan } from '../../allocate/plan';
import type { CostKind } from '../../allocate/costs';
import { formatDegrees } from '../../base/units';
import { RECIPES } from '../../graph/recipes';
import { costKindOf, type CostChoice, type PinnedPlan, type Shown } from '../../state';
import { costChangeWords } from '../budget/cost-words';
import { planDifference } from '../compare/plan-difference';
import type { PlanFigures } from '../compare/plan-figures';

/** Why there is nothing to compare; null where there is. */
export function differenceFault(shown: Shown, pinned: PinnedPlan | null): string | null {
  if (pinned === null) return 'Nothing is pinned as A yet: press P on the grid, or click a point of the frontier';
  if (RECIPES[pinned.recipe].kind === RECIPES[shown.recipe].kind) return null;
  return `A (${pinned.name}) is a plan of ${RECIPES[pinned.recipe].kind === 'out' ? 'op groups’ outputs' : 'GEMM passes'}: its cells have no counterpart in this grid`;
}

/** "17 of 144 differ; B costs +13.0 % HP work; predicted −15.0 deg, measured −14.6 deg". `plan` is B, under what is shown. */
export function differenceWords(pinned: PinnedPlan, shown: Shown, plan: Plan, choice: CostChoice): string {
  const { cells, counterparts, onlyHere, onlyInA, inHand, ofA } = planDifference(shown, plan, pinned, choice);
  const parts = [`${cells.length} of ${counterparts} ${cells.length === 1 ? 'differs' : 'differ'}`];
  if (onlyHere + onlyInA > 0) parts.push(`no counterpart: ${onlyHere} cells of B, ${onlyInA} of A`);
  if (ofA === null) return [...parts, 'A is a plan of another model, so cost and bending are not compared'].join('; ');
  const kind = costKindOf(shown.recipe, choice.kind);
  parts.push(kind === costKindOf(pinned.recipe, choice.kind) ? costWords(kind, ofA.cost, inHand.cost) : 'their costs are of different kinds');
  const predicted = difference(ofA, inHand, ({ totals }) => totals?.predictedDeg ?? null);
  const measured = difference(ofA, inHand, (figures) => (figures.measured?.status === 'measured' ? figures.measured.angleDeg : null));
  parts.push(`${typeof predicted === 'number' ? `predicted ${signed(predicted)}` : `${predicted} not predicted`}, ${typeof measured === 'number' ? `measured ${signed(measured)}` : `${measured} not verified jointly`}`);
  return parts.join('; ');
}

function costWords(kind: CostKind, a: number | null, b: number | null): string {
  return a === null || b === null ? 'cost not known' : `B costs ${costChangeWords(kind, b - a)}`;
}

/** B's figure minus A's, or which of the two has none, with its verb. */
function difference(a: PlanFigures, b: PlanFigures, figure: (of: PlanFigures) => number | null): number | 'A and B are' | 'A is' | 'B is' {
  const [inA, inB] = [figure(a), figure(b)];
  if (inA !== null && inB !== null) return inB - inA;
  return inA === null && inB === null ? 'A and B are' : inA === null ? 'A is' : 'B is';
}

function signed(deg: number): string {
  return `${deg < 0 ? '−' : '+'}${formatDegrees(Math.abs(deg))}`;
}
