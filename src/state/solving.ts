/**
 * The solver's answers about the plan in hand (method.md 7): the frontier and the best plan within a budget, of everything
 * or of a row or layer, under the plan's locks. What is asked of it depends on locks alone: a question is posed once and
 * kept as long as evidence, costs and locks are the same, so that repainting or dragging unlocked cells poses nothing anew.
 */
import { toPlainError, type PlainError } from '../base/errors';
import { byPrecision, formatOf, type Evidence } from '../allocate/cost';
import type { CostTable } from '../allocate/costs';
import { solveChoices, type ChoiceFrontier } from '../allocate/frontier';
import type { Question } from '../allocate/choices';
import { sharedFormatGroups, type MeasuredFormat } from '../allocate/offers';
import { questionFor, type Plan, type PlanQuestion } from '../allocate/plan';
import { solveWithin, type Limit, type Solution } from '../allocate/within';
import type { PassScheme, PolicyOptions, RecipeName, SiteFormat, SiteId } from '../graph/policy';
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
  return [recipe, second].sort(byPrecision(options));
}, 16);
export function lowFormatsOf({ recipe, second, options }: Pick<Shown, 'recipe' | 'second' | 'options'>): readonly RecipeName[] {
  return lowMemo(recipe, second, options);
}

/** Passes that must share a format; none among op groups. */
export const groupsOf = memo((graph: Graph, recipe: RecipeName): readonly (readonly SiteId[])[] => (RECIPES[recipe].kind === 'out' ? [] : sharedFormatGroups(graph)), 16);

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

/** A plan of some locks: equal locks are the same object. */
const lockedPlan = memo((text: string): Plan => {
  const formats = Object.fromEntries(JSON.parse(text) as [SiteId, SiteFormat][]);
  return { name: '', formats, locked: Object.fromEntries(Object.keys(formats).map((id) => [id, true as const])), notes: '' };
}, 16);
const locksMemo = memo((locked: Plan['locked'], formats: Plan['formats']): Plan => lockedPlan(JSON.stringify(Object.keys(locked).sort().map((id) => [id, formatOf(formats, id)]))), 16);

/** States of a part's frontier, whose lists are all kept: beyond it the frontier is not complete, and `within` is exact all the same. */
const PART_STATES = 200_000;

/** One question under one set of locks: whole, and by part as they are asked for. */
class Solver {
  readonly #asked: PlanQuestion;
  readonly #locks: Plan;
  readonly #questions = new Map<ReadonlySet<SiteId> | undefined, Question>();
  readonly #frontiers = new Map<ReadonlySet<SiteId> | undefined, ChoiceFrontier>();
  #fault: PlainError | null = null;

  constructor(asked: PlanQuestion, locks: Plan) {
    this.#asked = asked;
    this.#locks = locks;
  }

  /** Null where the locks contradict each other: `fault` says how. */
  question(part?: ReadonlySet<SiteId>): Question | null {
    const known = this.#questions.get(part);
    if (known !== undefined || this.#fault !== null) return known ?? null;
    try {
      const posed = questionFor(this.#asked, this.#locks, part);
      this.#questions.set(part, posed);
      return posed;
    } catch (thrown) {
      this.#fault = toPlainError(thrown);
      return null;
    }
  }

  frontier(part?: ReadonlySet<SiteId>): ChoiceFrontier | null {
    const known = this.#frontiers.get(part);
    if (known) return known;
    const question = this.question(part);
    if (question === null) return null;
    const frontier = part === undefined ? solveChoices(question) : solveChoices(question, PART_STATES);
    this.#frontiers.set(part, frontier);
    return frontier;
  }

  get fault(): PlainError | null {
    this.question();
    return this.#fault;
  }

  readonly within = memo((part: ReadonlySet<SiteId> | undefined, kind: 'cost' | 'angleDeg', value: number): Solution | null => {
    const question = this.question(part);
    return question && solveWithin(question, kind === 'cost' ? { cost: value } : { angleDeg: value });
  }, 16);
}

// Few: a whole frontier keeps its lists, tens of MiB for large models.
const solverMemo = memo((asked: PlanQuestion, locks: Plan): Solver => new Solver(asked, locks), 3);
function solverOf(shown: Shown, plan: Plan, choice: CostChoice): Solver | null {
  const asked = questionOf(shown, choice);
  return asked === null ? null : solverMemo(asked, locksMemo(plan.locked, plan.formats));
}

/** The solver's frontier under the plan's locks; of a part (row, layer) for its budget handle, without the floor. Null without costs, and where locks contradict each other (solveFaultOf). */
export function frontierOf(shown: Shown, plan: Plan, choice: CostChoice, part?: ReadonlySet<SiteId>): ChoiceFrontier | null {
  return solverOf(shown, plan, choice)?.frontier(part) ?? null;
}

/** The best plan within a limit, proven, under the plan's locks: the exact optimum where the frontier is not complete. */
export function withinOf(shown: Shown, plan: Plan, choice: CostChoice, limit: Limit, part?: ReadonlySet<SiteId>): Solution | null {
  const solver = solverOf(shown, plan, choice);
  if (solver === null) return null;
  return 'cost' in limit ? solver.within(part, 'cost', limit.cost) : solver.within(part, 'angleDeg', limit.angleDeg);
}

/** Why the solver has no answer under these locks: E-PLAN-08; null where it has one. */
export function solveFaultOf(shown: Shown, plan: Plan, choice: CostChoice): PlainError | null {
  return solverOf(shown, plan, choice)?.fault ?? null;
}
