/**
 * Which plans `compare` holds against each other: at every budget ours and each method that makes a plan of a budget; plans
 * that are one and the same at any budget once. Ours also stands at the cost of each of those, so that none is met only by a plan that may
 * spend more or less than it. Pure: nothing here measures.
 */
import { baselinesFor, isReason, type BaselineInputs, type BaselineMethod } from '../allocate/baselines';
import { formatOf, type CostedSite, type Formats } from '../allocate/cost';
import { planCost } from '../allocate/costs';
import { planWithin, type Plan, type PlanQuestion } from '../allocate/plan';
import type { RecipeName } from '../graph/policy';
import { notWithin } from './allocate-question';

export interface MethodAbout {
  readonly id: string;
  readonly name: string;
  readonly sentence: string;
  /** ours: the solver. fixed, budget: baselines, by whether they look at the budget. given: a plan of --plans. */
  readonly kind: 'ours' | 'fixed' | 'budget' | 'given';
  readonly scoreName: string | null;
}

export const OURS: MethodAbout = {
  id: 'ours', name: 'Ours', kind: 'ours', scoreName: null,
  sentence: 'The plan within the budget whose predicted angle is least, from measured clean angles; solved exactly.',
};

/** A method's plan, or why it has none here. */
export type Row = { readonly method: MethodAbout } & ({ readonly formats: Formats; readonly reason: null } | { readonly formats: null; readonly reason: string });

export interface Level {
  /** In the figure people read, and in the integers of the cost table. */
  readonly budget: number;
  readonly limit: number;
  /** Whether it was asked for, or is what some fixed plan costs. */
  readonly isAsked: boolean;
  /** Ours first. */
  readonly rows: readonly Row[];
}

export interface Compared {
  readonly methods: readonly MethodAbout[];
  readonly fixed: readonly Row[];
  /** By budget. */
  readonly levels: readonly Level[];
}

export interface GivenPlan {
  readonly name: string;
  readonly plan: Plan;
}

export interface CompareQuestion {
  readonly asked: PlanQuestion;
  readonly inputs: BaselineInputs;
  /** Figures of the cost. */
  readonly budgets: readonly number[];
  /** Ids beside ours; null: all of the recipe. */
  readonly methods: readonly string[] | null;
  readonly given: readonly GivenPlan[];
}

export function comparedPlans({ asked, inputs, budgets, methods, given }: CompareQuestion): Compared {
  const chosen = baselinesFor(inputs.recipe).filter(({ id }) => methods === null || methods.includes(id));
  const { sites, costs } = asked;
  const checked = (row: Row): Row => {
    const missing = row.formats === null ? undefined : lowFormats(sites, row.formats).find((format) => !costs.formats.includes(format));
    return missing === undefined ? row : { method: row.method, formats: null, reason: `no cost of ${missing} is known` };
  };
  const fixed = [
    ...given.map(({ name, plan }): Row => ({ method: { id: name, name: plan.name, kind: 'given', scoreName: null, sentence: `The plan of ${name}.` }, formats: plan.formats, reason: null })),
    ...chosen.filter(({ kind }) => kind === 'fixed').map((method) => rowOf(method, inputs, 0)),
  ].map(checked);
  const atBudget = chosen.filter(({ kind }) => kind === 'budget');

  const levels: Level[] = budgets.map((budget) => {
    const limit = costs.costOf(budget);
    return { budget, limit, isAsked: true, rows: [ours(asked, budget, limit), ...atBudget.map((method) => rowOf(method, inputs, limit))].map(checked) };
  });
  for (const { formats } of fixed) {
    const limit = formats === null ? null : planCost(costs, sites, formats);
    if (limit === null || levels.some((level) => level.limit === limit)) continue;
    const budget = costs.figureOf(limit);
    levels.push({ budget, limit, isAsked: false, rows: [ours(asked, budget, limit)] });
  }
  return { methods: [OURS, ...fixed.map(({ method }) => method), ...atBudget.map(aboutOf)], fixed, levels: levels.sort((a, b) => a.limit - b.limit) };
}

/** Ids that --methods can name for a recipe, ours apart. */
export function methodIds(recipe: RecipeName): string[] {
  return baselinesFor(recipe).map(({ id }) => id);
}

const aboutOf = ({ id, name, sentence, kind, scoreName }: BaselineMethod): MethodAbout => ({ id, name, sentence, kind, scoreName });

function rowOf(method: BaselineMethod, inputs: BaselineInputs, budget: number): Row {
  const made = method.formats(inputs, budget);
  return isReason(made) ? { method: aboutOf(method), formats: null, reason: made.reason } : { method: aboutOf(method), formats: made, reason: null };
}

function ours(asked: PlanQuestion, budget: number, limit: number): Row {
  const nothingHeld: Plan = { name: '', notes: '', formats: {}, locked: {} };
  const solution = planWithin(asked, nothingHeld, { cost: limit });
  if (!solution.feasible) return { method: OURS, formats: null, reason: notWithin('ours', { budget }, solution, asked, nothingHeld).message };
  return { method: OURS, formats: solution.formats, reason: null };
}

/** The low formats that a plan uses, by site order of their first use. */
export function lowFormats(sites: readonly CostedSite[], formats: Formats): RecipeName[] {
  return [...new Set(sites.map(({ id }) => formatOf(formats, id)))].filter((format) => format !== 'bf16');
}
