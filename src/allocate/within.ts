/**
 * The optimal plan within one budget, proven, at any size: "spend at most" and "bend at most" (method.md 7).
 * The convex relaxation is all but right: whole steps up to the budget are a plan, and only decisions whose slopes lie near
 * the last step's can differ from it in a better one. They are added to a Pareto list nearest first; a state is dropped once
 * even the steepest steps that are left cannot make it better than the best plan found (Pisinger 1995: the expanding
 * core; core.ts). When nothing is left, that plan is optimal. A second pass over the few decisions that can still take part
 * in a plan equal to it, in site order, finds the one that wins the tie.
 */
import { angleOfTanSquared } from '../base/angle';
import { BendscopeError } from '../base/errors';
import type { SiteFormat, SiteId } from '../graph/policy';
import { formatsOf, winsTie, type Question } from './choices';
import { Core } from './core';
import { tan2Limit, type FrontierPoint } from './frontier';
import { ranksTaken } from './options';
import { optionsAfter, relaxedValue, stepsWithin, type RelaxedQuestion } from './relaxation';

/** What a plan may cost, in the unit of the offers, or bend. */
export type Limit = { readonly cost: number } | { readonly angleDeg: number };

export interface Solution {
  readonly formats: Record<SiteId, SiteFormat>;
  readonly point: FrontierPoint;
  /** False when locks make the limit unreachable; the plan is then the nearest one. */
  readonly feasible: boolean;
  /** No plan within the limit bends less (under a cost) or costs less (under an angle) by more than this: tan^2, or cost. 0: proven optimal. */
  readonly gap: number;
}

/** States a level may put on its lists: some tens of milliseconds, reached only where many slopes are all but equal. */
const STATE_LIMIT = 250_000;

/**
 * Least predicted angle with cost <= limit, among equals the cheapest; or the cheapest plan that bends at most the limit,
 * among equals the one that bends least; on a tie the earliest site has its highest precision.
 * Throws E-BUG-02 for a limit that is not a number.
 */
export function solveWithin(question: Question, limit: Limit, stateLimit = STATE_LIMIT): Solution {
  const { ranks, point, feasible, gap } = solveRanks(question, limit, stateLimit);
  return { formats: formatsOf(question, ranks), point, feasible, gap };
}

/** The same with the rank of every decision in the place of formats by site. */
export function solveRanks(question: Question, limit: Limit, stateLimit = STATE_LIMIT): Omit<Solution, 'formats'> & { readonly ranks: Int32Array } {
  const { scale, costUnit } = question;
  const isSpend = 'cost' in limit;
  const asked = wholeLimit(limit, question);
  // The floor is part of the angle, whether that is the limit or what is to be small.
  const levels = question.levels.map(({ floor, byCost, byBend, leastCost, leastBend }) =>
    isSpend ? { relaxed: byCost, weight: 0, value: floor, lightest: leastCost } : { relaxed: byBend, weight: floor, value: 0, lightest: leastBend + floor });
  const lightest = Math.min(...levels.map((level) => level.lightest));
  const capacity = Math.max(asked, lightest);
  let best: Optimum | null = null;
  let bound = Infinity;
  // The last level leaves out the least, so its plan is most likely the best one, and the others are mostly refused at once.
  for (const level of levels.toReversed()) {
    if (level.lightest > capacity) continue;
    const { weight, value } = level;
    const found = minimise(level.relaxed(), capacity - weight, (best?.value ?? Infinity) - value, stateLimit);
    if (found === null) continue;
    bound = Math.min(bound, found.bound + value);
    const optimum = { ...found, weight: found.weight + weight, value: found.value + value };
    if (best === null || isBetter(optimum, best)) best = optimum;
  }
  if (best === null) throw new BendscopeError('E-BUG-01', 'solver: expected a plan at the lightest level');
  const gap = Math.max(0, best.value - bound);
  const [cost, bend] = isSpend ? [best.weight, best.value] : [best.value, best.weight];
  return {
    ranks: best.ranks,
    point: { cost: cost * costUnit, tan2: bend / scale, angleDeg: angleOfTanSquared(bend / scale) },
    feasible: asked >= lightest,
    gap: isSpend ? gap / scale : gap * costUnit,
  };
}

/** The limit in the question's integers: the largest one that does not exceed it. */
function wholeLimit(limit: Limit, { scale, costUnit }: Question): number {
  const asked = 'cost' in limit ? limit.cost / costUnit : tan2Limit(limit.angleDeg) * scale;
  if (Number.isNaN(asked)) throw new BendscopeError('E-BUG-02', 'solver: expected a budget or a target, got NaN');
  const whole = Math.floor(asked);
  return 'cost' in limit && whole * costUnit > limit.cost ? whole - 1 : whole;
}

interface Optimum {
  readonly weight: number;
  readonly value: number;
  /** No plan within the capacity is worth less; `value` where that is proven. */
  readonly bound: number;
  readonly ranks: Int32Array;
}

function isBetter(a: Optimum, b: Optimum): boolean {
  if (a.value !== b.value) return a.value < b.value;
  return a.weight !== b.weight ? a.weight < b.weight : winsTie(a.ranks, b.ranks);
}

/** Least value within a capacity, then least weight, then the tie rule; null where nothing fits, or nothing reaches `atMost`. */
function minimise({ options, relaxation }: RelaxedQuestion, capacity: number, atMost: number, stateLimit: number): Optimum | null {
  const whole = stepsWithin(relaxation, capacity);
  if (whole < 0 || Math.floor(relaxedValue(relaxation, capacity)) > atMost) return null;
  const base = optionsAfter(options, relaxation, whole);
  const start = { weight: relaxation.weights[whole]!, value: relaxation.values[whole]! };
  // Everything at its best fits: nothing can be better, and what equals it has been left out of the options.
  if (whole === relaxation.decisions.length) return { ...start, bound: start.value, ranks: ranksTaken(options, base) };

  const core = new Core(options, relaxation, whole, base);
  const found = core.expand(capacity, stateLimit);
  return { ...found, ranks: core.winner(found, stateLimit) };
}
