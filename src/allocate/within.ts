/**
 * The optimal plan within one budget, proven, at any size: "spend at most" and "bend at most" (method.md 7).
 * The convex relaxation is all but right: whole steps up to the budget are a plan, and only decisions whose slopes lie near
 * the last step's can differ from it in a better one. They are added to a Pareto list nearest first; a state is dropped once
 * even the steepest steps that are left cannot make it better than the best plan found (Pisinger 1995: the expanding
 * core). When nothing is left, that plan is optimal. A second pass over the few decisions that can still take part in a plan
 * equal to it, in site order, finds the one that wins the tie.
 */
import { angleOfTanSquared } from '../base/angle';
import { assert, BendscopeError } from '../base/errors';
import type { SiteFormat, SiteId } from '../graph/policy';
import { formatsOf, winsTie, type Question } from './choices';
import { tan2Limit, type FrontierPoint } from './frontier';
import { addDecision, ParetoList, paretoLists, type Entry } from './pareto';
import { entriesAfter, isRelaxedOptimum, relaxedValue, stepsWithin, type Relaxation } from './relaxation';

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
  const { scale, costUnit } = question;
  const isSpend = 'cost' in limit;
  const asked = wholeLimit(limit, question);
  // The floor is part of the angle, whether that is the limit or what is to be small.
  const levels = question.levels.map(({ entries, floor, relaxation, byBend }) =>
    isSpend ? { entries, relaxation: relaxation(), weight: 0, value: floor } : { ...byBend(), weight: floor, value: 0 });
  const lightest = Math.min(...levels.map(({ relaxation, weight }) => relaxation.weights[0]! + weight));
  const capacity = Math.max(asked, lightest);
  let best: Optimum | null = null;
  let bound = Infinity;
  // The last level leaves out the least, so its plan is most likely the best one, and the others are mostly refused at once.
  for (const { entries, relaxation, weight, value } of levels.toReversed()) {
    const found = minimise(entries, relaxation, capacity - weight, (best?.value ?? Infinity) - value, stateLimit);
    if (found === null) continue;
    bound = Math.min(bound, found.bound + value);
    const optimum = { ...found, weight: found.weight + weight, value: found.value + value };
    if (best === null || isBetter(optimum, best)) best = optimum;
  }
  if (best === null) throw new BendscopeError('E-BUG-01', 'solver: expected a plan at the lightest level');
  const gap = Math.max(0, best.value - bound);
  const [cost, bend] = isSpend ? [best.weight, best.value] : [best.value, best.weight];
  return {
    formats: formatsOf(question, best.ranks),
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
function minimise(entries: readonly (readonly Entry[])[], relaxation: Relaxation, capacity: number, atMost: number, stateLimit: number): Optimum | null {
  const whole = stepsWithin(relaxation, capacity);
  if (whole < 0 || Math.floor(relaxedValue(relaxation, capacity)) > atMost) return null;
  const base = entriesAfter(entries, relaxation, whole);
  const last = relaxation.steps[whole];
  const start = { weight: relaxation.weights[whole]!, value: relaxation.values[whole]! };
  // Everything at its best fits: nothing can be better, and what equals it has been left out of the options.
  if (last === undefined) return { ...start, bound: start.value, ranks: ranksOf(entries, base) };

  const core = new Core(entries, base, last.gain / last.weight, relaxation);
  const found = core.expand(start, capacity, relaxation, stateLimit);
  return { ...found, ranks: core.winner(start, found, stateLimit) };
}

function ranksOf(entries: readonly (readonly Entry[])[], taken: Int32Array): Int32Array {
  return taken.map((entry, d) => entries[d]![entry]!.rank);
}

interface Plan {
  readonly weight: number;
  readonly value: number;
}

interface Found extends Plan {
  readonly bound: number;
  /** Decisions that were added, in this order. */
  readonly added: readonly number[];
  /** Whether the others are known to have no part in a plan as good. */
  readonly isProven: boolean;
}

/** The decisions around a base plan, and how steep the steps that leave it are. */
class Core {
  readonly #entries: readonly (readonly Entry[])[];
  readonly #base: Int32Array;
  /** The last step's: what a unit of weight is worth. */
  readonly #slope: number;
  /** By decision: the steepest gain of an option heavier than the base's, and the least loss of a lighter one, a unit of weight. */
  readonly #up: Float64Array;
  readonly #down: Float64Array;
  /** Float error of a bound: products of integers below 2^53. */
  readonly #slack: number;

  constructor(entries: readonly (readonly Entry[])[], base: Int32Array, slope: number, { weights, values }: Relaxation) {
    this.#entries = entries;
    this.#base = base;
    this.#slope = slope;
    this.#slack = 2 ** -48 * (values[0]! + slope * weights.at(-1)!);
    this.#up = new Float64Array(entries.length).fill(0);
    this.#down = new Float64Array(entries.length).fill(Infinity);
    entries.forEach((own, d) => {
      const from = own[base[d]!]!;
      own.forEach((entry, e) => {
        const steepness = (from.value - entry.value) / (entry.weight - from.weight);
        if (e > base[d]!) this.#up[d] = Math.max(this.#up[d]!, steepness);
        if (e < base[d]!) this.#down[d] = Math.min(this.#down[d]!, steepness);
      });
    });
  }

  /** Adds decisions, the nearest slopes first, until no state can come to a plan as good as the best one found, or states are used up. */
  expand(start: Plan, capacity: number, relaxation: Relaxation, stateLimit: number): Found {
    const distance = this.#up.map((up, d) => Math.min(this.#slope - up, this.#down[d]! - this.#slope));
    const order = this.#entries.flatMap((own, d) => (own.length > 1 ? [d] : [])).sort((a, b) => distance[a]! - distance[b]! || a - b);
    const reachAfter = this.#reach(order, capacity);
    let { weight, value } = start;
    let list = ParetoList.of(weight, value);
    let other = new ParetoList();
    const spare = new ParetoList();
    let states = 0;
    let count = 0;
    // A plan that the relaxation cannot beat has no equal that weighs less either.
    while (count < order.length && list.length > 0 && states <= stateLimit && !isRelaxedOptimum(relaxation, capacity, value)) {
      const shifts = this.#shifts(order[count]!, this.#loss(start, { weight: capacity, value }));
      if (shifts.length > 1) {
        addDecision(list, shifts, other, spare);
        [list, other] = [other, list];
      }
      for (let s = 0; s < list.length && list.weights[s]! <= capacity; s++) {
        if (list.values[s]! < value || (list.values[s]! === value && list.weights[s]! < weight)) [weight, value] = [list.weights[s]!, list.values[s]!];
      }
      count += 1;
      const reach = reachAfter(count);
      const worst = value + this.#slack;
      list.filter((w, v) => reach(w, v) <= worst);
      states += list.length;
    }
    const isProven = count === order.length || list.length === 0 || isRelaxedOptimum(relaxation, capacity, value);
    if (isProven) return { weight, value, bound: value, added: order.slice(0, count), isProven };
    const reach = reachAfter(count);
    const least = list.values.subarray(0, list.length).reduce((low, v, s) => Math.min(low, reach(list.weights[s]!, v)), value);
    const bound = Math.max(0, least, relaxedValue(relaxation, capacity)) - this.#slack;
    return { weight, value, bound, added: order.slice(0, count), isProven };
  }

  /** Ranks of the plan of exactly this weight and value that wins the tie; of those the added decisions reach, where that is all one knows. */
  winner(start: Plan, found: Found, stateLimit: number): Int32Array {
    const loss = this.#loss(start, found);
    const target = { weight: found.weight - start.weight, value: found.value - start.value };
    const bySite = found.isProven ? this.#rebuild([...this.#entries.keys()].reverse(), target, loss, stateLimit) : null;
    const ranks = bySite ?? this.#rebuild(found.added, target, loss, Infinity);
    assert(ranks, 'solver: lists without a limit have no end');
    return ranks;
  }

  /** Adds the decisions in an order, keeping what can still come to `target`, a shift of the base; null past the limit. */
  #rebuild(order: readonly number[], target: Plan, loss: number, stateLimit: number): Int32Array | null {
    const added = order.map((d) => [d, this.#shifts(d, loss)] as const).filter(([, shifts]) => shifts.length > 1);
    const reachAfter = this.#reach(added.map(([d]) => d), target.weight);
    const worst = target.value + this.#slack;
    const decisions = added.map(([, shifts]) => shifts).reverse();
    const lists = paretoLists(decisions, stateLimit, (list, left) => {
      const reach = reachAfter(decisions.length - left);
      list.filter((w, v) => reach(w, v) <= worst);
    });
    if (lists === null) return null;
    const state = lists.weights.indexOf(target.weight);
    assert(lists.values[state] === target.value, 'solver: the best plan found cannot be rebuilt');
    const found = lists.ranksOf(state).reverse();
    const ranks = ranksOf(this.#entries, this.#base);
    added.forEach(([d], i) => (ranks[d] = found[i]!));
    return ranks;
  }

  /** What a plan is worth less than the relaxation of the base's slope allows for its weight. */
  #loss(start: Plan, { weight, value }: Plan): number {
    return value - start.value + this.#slope * (weight - start.weight);
  }

  /** The options of a decision as shifts of the base, without those that alone lose more than `loss`. */
  #shifts(d: number, loss: number): Entry[] {
    const own = this.#entries[d]!;
    const from = own[this.#base[d]!]!;
    const shifts = own.map(({ rank, weight, value }) => ({ rank, weight: weight - from.weight, value: value - from.value }));
    return shifts.filter(({ weight, value }) => value + this.#slope * weight <= loss + this.#slack);
  }

  /** After the first n decisions of an order: a lower bound on the value that a state can come to within a capacity. */
  #reach(order: readonly number[], capacity: number): (n: number) => (weight: number, value: number) => number {
    const up = new Float64Array(order.length + 1);
    const down = new Float64Array(order.length + 1).fill(Infinity);
    for (let n = order.length - 1; n >= 0; n--) {
      up[n] = Math.max(up[n + 1]!, this.#up[order[n]!]!);
      down[n] = Math.min(down[n + 1]!, this.#down[order[n]!]!);
    }
    return (n) => {
      const [gain, loss] = [up[n]!, down[n]!];
      return (weight, value) => (weight <= capacity ? value - gain * (capacity - weight) : value + loss * (weight - capacity));
    };
  }
}
