/**
 * Every efficient plan in one call (method.md 7), for any number of formats a site.
 * A plan's floor is the largest floor among its formats (a joint prediction adds the floor once, method.md 5): each floor
 * level is solved with the formats above it left out, and the union is filtered. A level is solved by Pareto lists, which
 * is exact. Costs without a common size and thousands of sites make these lists longer than anybody can look at; past
 * STATE_LIMIT the level's points are the stops of its convex relaxation instead: every one still a plan that no other of
 * that level beats, a step apart, with a proven bound on what a plan between two of them could gain. A single budget has
 * its exact optimum all the same: solveWithin (within.ts).
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { BendscopeError } from '../base/errors';
import type { SiteFormat, SiteId } from '../graph/policy';
import { formatsOf, winsTie, type Level, type Question } from './choices';
import { entriesOf, ranksTaken } from './options';
import { paretoLists } from './pareto';
import { optionsAfter, relaxedValue } from './relaxation';

export interface FrontierPoint {
  /** Cost of the plan in the unit of the offers; sites with an unmeasured format included. */
  readonly cost: number;
  /** floor^2 + sum of tan^2; sites without a measurement count 0 and are named in `unpredicted`. */
  readonly tan2: number;
  readonly angleDeg: number;
}

export interface FrontierLine {
  /** Efficient plans: cost strictly increasing, predicted angle strictly decreasing. Never empty. */
  readonly points: readonly FrontierPoint[];
  /** Whether every efficient plan is a point. */
  readonly complete: boolean;
  /** No plan that costs at most `cost` has a smaller tan^2; that of a point itself where it is proven optimal. */
  leastTan2(cost: number): number;
  /** Cost of everything in its dearest format. */
  readonly totalCost: number;
}

export interface ChoiceFrontier extends FrontierLine {
  /** The format of every site at a point. On a tie the earliest site that could differ has its highest precision. */
  formatsAt(index: number): Record<SiteId, SiteFormat>;
  /** Formats that no measurement covers, and the one a lock takes all the same (then no prediction covers it). */
  readonly unpredicted: Question['unpredicted'];
}

export interface Choice {
  /** Index into `points`. */
  readonly index: number;
  readonly point: FrontierPoint;
  /** False when locks make the budget or target unreachable; the point is then the nearest one. */
  readonly feasible: boolean;
}

/** States of all lists together: 32 MiB of parents, about a tenth of a second. */
const STATE_LIMIT = 8_000_000;

/** The frontier under the question's locks. */
export function solveChoices(question: Question, stateLimit = STATE_LIMIT): ChoiceFrontier {
  const { costUnit, scale, unpredicted, totalCost } = question;
  const runs = exactRuns(question.levels, stateLimit) ?? question.levels.map(relaxedRun);
  const kept = efficient(runs);
  const points = kept.map(({ cost, bend }) => ({ cost: cost * costUnit, tan2: bend / scale, angleDeg: angleOfTanSquared(bend / scale) }));
  return {
    points,
    complete: runs.every((run) => run.isExact),
    leastTan2: (cost) => runs.reduce((least, run) => Math.min(least, run.leastBend(cost / costUnit)), Infinity) / scale,
    totalCost,
    formatsAt(index) {
      const candidate = kept[index];
      if (candidate === undefined) throw new BendscopeError('E-BUG-02', `frontier: expected an index below ${kept.length}, got ${index}`);
      return formatsOf(question, candidate.run.ranksOf(candidate.state));
    },
    unpredicted,
  };
}

/** "Spend at most": the point of least predicted angle with cost <= budget; among equals the cheapest. Budget in the unit of the offers. */
export function spendAtMost(frontier: FrontierLine, budget: number): Choice {
  const after = firstIndex(frontier.points, (point) => point.cost > budget);
  return choice(frontier, Math.max(0, after - 1), after > 0);
}

/** "Bend at most": the cheapest point whose predicted angle is at most `targetDeg`. */
export function bendAtMost(frontier: FrontierLine, targetDeg: number): Choice {
  const limit = tan2Limit(targetDeg);
  const index = firstIndex(frontier.points, (point) => point.tan2 <= limit);
  const last = frontier.points.length - 1;
  return choice(frontier, Math.min(index, last), index <= last);
}

/**
 * The tan^2 a target allows: it may be exceeded by 2^-40 of itself, so that a plan's own predicted angle, computed in
 * another order, still admits that plan.
 */
export function tan2Limit(targetDeg: number): number {
  return targetDeg >= 90 ? Infinity : tanSquared(Math.max(0, targetDeg)) * (1 + 2 ** -40);
}

interface Run {
  readonly isExact: boolean;
  readonly floor: number;
  /** By state, costs ascending; bends without the floor. */
  readonly costs: Float64Array;
  readonly bends: Float64Array;
  ranksOf(state: number): ArrayLike<number>;
  leastBend(cost: number): number;
}

interface Candidate {
  readonly cost: number;
  readonly bend: number;
  readonly run: Run;
  readonly state: number;
}

/** Null when the lists of all levels hold more than `stateLimit` states. */
function exactRuns(levels: readonly Level[], stateLimit: number): Run[] | null {
  const runs: Run[] = [];
  let left = stateLimit;
  // The last level leaves out the least, so that its lists are the longest.
  for (const { options, floor } of levels.toReversed()) {
    const lists = paretoLists(Array.from({ length: options.starts.length - 1 }, (_, d) => entriesOf(options, d)), left);
    if (lists === null) return null;
    left -= lists.states;
    const { weights: costs, values: bends } = lists;
    const leastBend = (cost: number): number => {
      const after = firstIndex(costs, (weight) => weight > cost);
      return after === 0 ? Infinity : floor + bends[after - 1]!;
    };
    runs.push({ isExact: true, floor, costs, bends, ranksOf: (state) => lists.ranksOf(state), leastBend });
  }
  return runs;
}

function relaxedRun({ floor, byCost }: Level): Run {
  const { options, relaxation: chain } = byCost();
  return {
    isExact: false, floor, costs: chain.weights, bends: chain.values,
    ranksOf: (state) => ranksTaken(options, optionsAfter(options, chain, state)),
    leastBend: (cost) => floor + relaxedValue(chain, cost),
  };
}

/** Candidates of all levels that no other one beats, by cost; of equal ones the winner of the tie. */
function efficient(runs: readonly Run[]): Candidate[] {
  const candidates = runs.flatMap((run) => Array.from(run.costs, (cost, state): Candidate => ({ cost, bend: run.floor + run.bends[state]!, run, state })));
  candidates.sort((a, b) => a.cost - b.cost || a.bend - b.bend);
  const kept: Candidate[] = [];
  for (const candidate of candidates) {
    const last = kept.at(-1);
    if (last === undefined || candidate.bend < last.bend) kept.push(candidate);
    else if (candidate.cost === last.cost && candidate.bend === last.bend && winsTie(candidate.run.ranksOf(candidate.state), last.run.ranksOf(last.state))) kept[kept.length - 1] = candidate;
  }
  return kept;
}

function choice(frontier: FrontierLine, index: number, feasible: boolean): Choice {
  return { index, point: frontier.points[index]!, feasible };
}

/** First index whose element satisfies a condition that, once true, stays true; the length if none does. */
function firstIndex<T>(sorted: ArrayLike<T>, condition: (element: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (condition(sorted[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
