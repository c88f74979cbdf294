/**
 * The solver's answers about the plan in hand (method.md 7): the frontier and the best plan within a budget, of everything
 * or of a row or layer, under the plan's locks. What is asked of it depends on locks alone, so that repainting or dragging
 * unlocked cells poses nothing anew; memo by identity of the inputs.
 */
import { storedBits } from '../allocate/cost';
import type { CostTable } from '../allocate/costs';
import type { ChoiceFrontier } from '../allocate/frontier';
import { sharedFormatGroups, type MeasuredFormat } from '../allocate/offers';
import { planFrontier, planWithin, type Plan, type PlanQuestion } from '../allocate/plan';
import type { Limit, Solution } from '../allocate/within';
import { formatOf } from '../allocate/cost';
import type { Evidence } from '../allocate/cost';
import { PASS_SCHEMES, type PassScheme, type PolicyOptions, type RecipeName, type SiteFormat, type SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import type { Graph } from '../graph/types';
import { costOf, type CostChoice } from './cost-choice';
import { memo } from './memo';
import { evidenceOf } from './selectors';
import type { Shown } from './shown';
import { sitesOf } from './sites';

/** The recipe's format and the second, highest precision first. */
const lowMemo = memo((recipe: RecipeName, second: PassScheme | null, options: PolicyOptions): readonly RecipeName[] => {
  if (RECIPES[recipe].kind === 'out' || second === null) return [recipe];
  const bits = (format: RecipeName): number => storedBits('fprop', format, options);
  return PASS_SCHEMES.filter((scheme) => scheme === recipe || scheme === second).sort((a, b) => bits(b) - bits(a));
}, 16);
export function lowFormatsOf({ recipe, second, options }: Pick<Shown, 'recipe' | 'second' | 'options'>): readonly RecipeName[] {
  return lowMemo(recipe, second, options);
}

const groupsOf = memo((graph: Graph, recipe: RecipeName) => (RECIPES[recipe].kind === 'out' ? [] : sharedFormatGroups(graph)), 16);

const questionMemo = memo((graph: Graph, recipe: RecipeName, low: readonly RecipeName[], evidence: Evidence, costs: CostTable): PlanQuestion => ({
  sites: sitesOf(graph, recipe),
  low: low.map((format): MeasuredFormat => ({ format, evidence })),
  costs,
  groups: groupsOf(graph, recipe),
}), 16);
/** What is asked whatever plan is in hand; null without a model or without costs (costFaultOf). */
export function questionOf(shown: Shown, choice: CostChoice): PlanQuestion | null {
  const costs = costOf(shown, choice);
  return shown.graph === null || costs === null ? null : questionMemo(shown.graph, shown.recipe, lowFormatsOf(shown), evidenceOf(shown), costs);
}

/** A plan's locks and nothing else, as a text, so that equal locks are one key: `[["h.0.mlp.c_fc:fprop","bf16"],...]`. */
function locksOf(plan: Plan): string {
  return JSON.stringify(Object.keys(plan.locked).sort().map((id) => [id, formatOf(plan.formats, id)]));
}

/** A plan of these locks. */
function lockedPlan(locks: string): Plan {
  const formats = Object.fromEntries(JSON.parse(locks) as [SiteId, SiteFormat][]);
  return { name: '', formats, locked: Object.fromEntries(Object.keys(formats).map((id) => [id, true as const])), notes: '' };
}

const frontierMemo = memo((asked: PlanQuestion, locks: string, part: ReadonlySet<SiteId> | undefined): ChoiceFrontier => planFrontier(asked, lockedPlan(locks), part), 192);
/** The solver's frontier under the plan's locks; of a part (row, layer) for its budget handle. Repainting unlocked sites keeps it. */
export function frontierOf(shown: Shown, plan: Plan, choice: CostChoice, part?: ReadonlySet<SiteId>): ChoiceFrontier | null {
  const asked = questionOf(shown, choice);
  return asked === null ? null : frontierMemo(asked, locksOf(plan), part);
}

/** The best plan within a limit, proven, under the plan's locks: the exact optimum where the frontier is not complete. */
export function withinOf(shown: Shown, plan: Plan, choice: CostChoice, limit: Limit, part?: ReadonlySet<SiteId>): Solution | null {
  const asked = questionOf(shown, choice);
  return asked === null ? null : planWithin(asked, plan, limit, part);
}
