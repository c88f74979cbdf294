/**
 * The plans that can stand beside each other: the one in hand, those put aside, and every baseline of method.md 7 as the
 * plan it makes under what is shown.
 */
import { baselinesFor, isReason, type BaselineInputs, type BaselineMethod } from '../allocate/baselines';
import type { Evidence, Formats } from '../allocate/cost';
import type { CostTable } from '../allocate/costs';
import type { Plan } from '../allocate/plan';
import { toPlainError } from '../base/errors';
import type { PassScheme, RecipeName } from '../graph/policy';
import type { Graph } from '../graph/types';
import { costOf, costSumOf, type CostChoice } from './cost-choice';
import type { DocumentState } from './document';
import { memo } from './memo';
import type { Results } from './results';
import type { PlanInContext } from './saved-plans';
import { evidenceOf } from './selectors';
import type { Shown } from './shown';
import { sitesOf } from './sites';
import { groupsOf } from './solving';

export interface BaselineRow extends Pick<BaselineMethod, 'id' | 'name' | 'sentence' | 'kind' | 'scoreName'> {
  /** Null where there is none, and `reason` says why. */
  readonly plan: Plan | null;
  readonly reason: string | null;
  /** The method's own score of its plan. */
  readonly score: number | null;
}

const inputsMemo = memo((graph: Graph, recipe: RecipeName, second: PassScheme | null, evidence: Evidence, scores: Results['scores'], costs: CostTable): BaselineInputs =>
  ({ graph, recipe, second, sites: sitesOf(graph, recipe), evidence, scores, costs, groups: groupsOf(graph, recipe) }), 16);
/** What the methods look at; null without a model or without costs. */
export function baselineInputsOf(shown: Shown, choice: CostChoice): BaselineInputs | null {
  const costs = costOf(shown, choice);
  return shown.graph === null || costs === null ? null : inputsMemo(shown.graph, shown.recipe, shown.second, evidenceOf(shown), shown.scores, costs);
}

function planOf(name: string, made: Formats | { readonly reason: string }): Pick<BaselineRow, 'plan' | 'reason'> {
  return isReason(made) ? { plan: null, reason: made.reason } : { plan: { name, formats: made, locked: {}, notes: '' }, reason: null };
}

/** A method that cannot be asked (groups that no choice satisfies, a format without a cost) is a row with its reason. */
function attempted(make: () => Formats | { readonly reason: string }): Formats | { readonly reason: string } {
  try {
    return make();
  } catch (thrown) {
    const { name, message } = toPlainError(thrown);
    return { reason: `${name}: ${message}` };
  }
}

const rowsMemo = memo((inputs: BaselineInputs, budget: number): readonly BaselineRow[] => baselinesFor(inputs.recipe).map((method): BaselineRow => {
  const { id, name, sentence, kind, scoreName } = method;
  const made = planOf(name, attempted(() => method.formats(inputs, budget)));
  return { id, name, sentence, kind, scoreName, ...made, score: made.plan === null ? null : method.score(inputs, made.plan.formats) };
}), 8);
/** Every baseline of the recipe; those that make a plan of a budget, at this one, in the table's unit. */
export function baselinesOf(shown: Shown, choice: CostChoice, budget: number): readonly BaselineRow[] {
  const inputs = baselineInputsOf(shown, choice);
  return inputs === null ? [] : rowsMemo(inputs, budget);
}

/** The same at what a plan costs. */
export function baselinesAt(shown: Shown, choice: CostChoice, plan: Plan): readonly BaselineRow[] {
  return baselinesOf(shown, choice, costSumOf(shown, plan, choice) ?? 0);
}

/** A plan with a name to pin, draw or verify it by. */
export interface NamedPlan extends PlanInContext {
  /** `current`, the id of a saved plan, or of a baseline. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'current' | 'saved' | 'baseline';
  readonly slot: number | null;
}

const plansMemo = memo((document: DocumentState, rows: readonly BaselineRow[]): readonly NamedPlan[] => {
  const { recipe, options, second, plan, saved } = document;
  const here = { recipe, options, second };
  return [
    ...(plan === null ? [] : [{ ...here, id: 'current', name: plan.name, kind: 'current', slot: null, plan } as const]),
    ...saved.map((entry): NamedPlan => ({ ...entry, name: entry.plan.name, kind: 'saved' })),
    ...rows.flatMap(({ id, name, plan: made }): NamedPlan[] => (made === null ? [] : [{ ...here, id, name, kind: 'baseline', slot: null, plan: made }])),
  ];
}, 8);
/** Every plan that can be pinned or drawn; baselines at what the plan in hand costs. */
export function plansOf(document: DocumentState, shown: Shown, choice: CostChoice): readonly NamedPlan[] {
  return plansMemo(document, document.plan === null ? [] : baselinesAt(shown, choice, document.plan));
}
