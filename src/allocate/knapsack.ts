/**
 * The exact allocator (method.md 7): which sites stay in high precision (HP) so that the plan bends least for its cost.
 * Squared tangents of clean angles add, so this is a 0/1 knapsack: an HP site removes its tan^2 and costs its GEMM work.
 * All efficient plans come from one pass over Pareto lists (Nemhauser & Ullmann 1969): after each site the list holds
 * every (cost, tan^2 removed) that no other set beats. Costs are integers over their gcd and tan^2 are integers in units
 * of 2^-52 of the total, so sums are exact, ties are real ties, and the same input gives the same plan. A site that costs
 * nothing is HP in every efficient plan, unless a lock keeps it low.
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { BendscopeError } from '../base/errors';
import type { SiteId } from '../graph/policy';

export interface KnapsackItem {
  readonly id: SiteId;
  /** Cost of keeping the site in high precision; an integer, 0 where that is free (FLOPs, or bytes kept). */
  readonly cost: number;
  /** tan^2 of the site's clean angle in the low format, or null if it failed or was not measured. */
  readonly tan2: number | null;
  /** tan^2 of the noise floor that a plan carries once this site is low (method.md 1); wgrad 0. */
  readonly floorTan2: number;
  /** The site must stay as it is, or null when the solver may choose. */
  readonly lock: 'high' | 'low' | null;
}

export interface FrontierPoint {
  /** Cost of all HP sites, locked and unpredicted ones included, in the unit of the items. */
  readonly cost: number;
  /** floor^2 + sum of tan^2 over the low sites; sites without a measurement count 0 and are named in `unpredicted`. */
  readonly tan2: number;
  readonly angleDeg: number;
}

export interface Frontier {
  /** Every efficient plan: cost strictly increasing, predicted angle strictly decreasing. Never empty. */
  readonly points: readonly FrontierPoint[];
  /** HP sites of a point in the order of the items: on a tie the set that holds the earlier sites. */
  highAt(index: number): SiteId[];
  /** Sites without a usable tan^2: kept HP, or low because a lock says so (then no prediction covers them). */
  readonly unpredicted: readonly { readonly id: SiteId; readonly kept: 'high' | 'low' }[];
  /** Cost of all items: the cost of everything HP. */
  readonly totalCost: number;
}

export interface Choice {
  /** Index into `points`. */
  readonly index: number;
  readonly point: FrontierPoint;
  /** False when locks make the budget or target unreachable; the point is then the nearest one. */
  readonly feasible: boolean;
}

/**
 * All efficient plans under the locks, exactly.
 * A plan's floor is the largest floor among its low sites (a joint prediction adds the floor once, method.md 5): each
 * distinct floor level is solved with the sites above it forced HP, and the union is filtered.
 * Throws E-BUG-02 for a cost that is not an integer >= 0 or a tan^2 that is negative.
 */
export function solveFrontier(items: readonly KnapsackItem[]): Frontier {
  for (const item of items) checkItem(item);
  const tan2 = items.map((item) => (item.tan2 !== null && Number.isFinite(item.tan2) ? item.tan2 : null));
  const divisor = items.reduce((d, item) => gcd(d, item.cost), 0) || 1;
  const costs = items.map((item) => item.cost / divisor);
  const scale = integerScale(items, tan2);
  const values = tan2.map((t) => Math.round((t ?? 0) * scale));
  const floors = items.map((item) => Math.round(item.floorTan2 * scale));

  const candidates: Candidate[] = [];
  const runs: Run[] = [];
  const levels = [...new Set([0, ...floors])].sort((a, b) => a - b);
  for (const level of levels) {
    if (items.some((item, i) => item.lock === 'low' && floors[i]! > level)) continue;
    const fixedHigh: boolean[] = [];
    const free: number[] = [];
    let baseCost = 0;
    let bending = level;
    items.forEach((item, i) => {
      const high = item.lock === 'high' || (item.lock !== 'low' && (tan2[i] === null || floors[i]! > level));
      fixedHigh.push(high);
      if (high) baseCost += costs[i]!;
      else bending += values[i]!;
      if (!high && item.lock === null) free.push(i);
    });
    const lists = paretoLists(free.map((i) => costs[i]!), free.map((i) => values[i]!));
    const run: Run = { fixedHigh, free, parents: lists.parents };
    runs.push(run);
    lists.costs.forEach((cost, state) => candidates.push({ cost: baseCost + cost, bending: bending - lists.values[state]!, run, state }));
  }
  const kept = efficient(candidates);
  return {
    points: kept.map(({ cost, bending }) => ({ cost: cost * divisor, tan2: bending / scale, angleDeg: angleOfTanSquared(bending / scale) })),
    highAt(index) {
      const candidate = kept[index];
      if (candidate === undefined) throw new BendscopeError('E-BUG-02', `frontier: expected an index below ${kept.length}, got ${index}`);
      const high = highSites(candidate);
      return items.filter((_, i) => high[i]).map((item) => item.id);
    },
    unpredicted: items.flatMap((item, i) => (tan2[i] === null ? [{ id: item.id, kept: item.lock === 'low' ? ('low' as const) : ('high' as const) }] : [])),
    totalCost: items.reduce((sum, item) => sum + item.cost, 0),
  };
}

/** "Spend at most": least predicted angle with cost <= budget; among equals the cheapest. Budget in the unit of the items. */
export function spendAtMost(frontier: Frontier, budget: number): Choice {
  const after = firstIndex(frontier.points, (point) => point.cost > budget);
  return choice(frontier, Math.max(0, after - 1), after > 0);
}

/**
 * "Bend at most": the cheapest plan whose predicted angle is at most `targetDeg`. The target may exceed the sum by 2^-40
 * of itself, so that a plan's own predicted angle, computed in another order, still admits that plan.
 */
export function bendAtMost(frontier: Frontier, targetDeg: number): Choice {
  const limit = targetDeg >= 90 ? Infinity : tanSquared(Math.max(0, targetDeg)) * (1 + 2 ** -40);
  const index = firstIndex(frontier.points, (point) => point.tan2 <= limit);
  const last = frontier.points.length - 1;
  return choice(frontier, Math.min(index, last), index <= last);
}

interface Run {
  readonly fixedHigh: readonly boolean[];
  /** Indices of the items the solver chose among, in site order. */
  readonly free: readonly number[];
  /** Per free item, per state of its list: 2 * (state in the list of the items after it) + (1 if this item is HP). */
  readonly parents: readonly Int32Array[];
}

interface Candidate {
  readonly cost: number;
  readonly bending: number;
  readonly run: Run;
  readonly state: number;
}

/**
 * Pareto lists from the last item to the first, so that on an exact tie "this item is HP" wins and the earlier sites are
 * kept. Returns the final list (cost and value strictly increasing) and the parents that rebuild any state's set.
 */
function paretoLists(costs: readonly number[], values: readonly number[]): { costs: Float64Array; values: Float64Array; parents: Int32Array[] } {
  const parents: Int32Array[] = new Array<Int32Array>(costs.length);
  let oldCosts = new Float64Array(1);
  let oldValues = new Float64Array(1);
  let length = 1;
  let newCosts = new Float64Array(0);
  let newValues = new Float64Array(0);
  for (let item = costs.length - 1; item >= 0; item--) {
    const cost = costs[item]!;
    const value = values[item]!;
    if (newCosts.length < 2 * length) {
      newCosts = new Float64Array(4 * length);
      newValues = new Float64Array(4 * length);
    }
    const parent = new Int32Array(2 * length);
    let without = 0;
    let withItem = 0;
    let count = 0;
    let best = -1;
    while (withItem < length) {
      const takenCost = oldCosts[withItem]! + cost;
      const takenValue = oldValues[withItem]! + value;
      const plainCost = without < length ? oldCosts[without]! : Infinity;
      const plainValue = without < length ? oldValues[without]! : -1;
      if (takenCost < plainCost || (takenCost === plainCost && takenValue >= plainValue)) {
        if (takenValue > best) {
          newCosts[count] = takenCost;
          newValues[count] = best = takenValue;
          parent[count++] = 2 * withItem + 1;
        }
        withItem++;
      } else {
        if (plainValue > best) {
          newCosts[count] = plainCost;
          newValues[count] = best = plainValue;
          parent[count++] = 2 * without;
        }
        without++;
      }
    }
    parents[item] = parent.slice(0, count);
    [oldCosts, newCosts] = [newCosts, oldCosts];
    [oldValues, newValues] = [newValues, oldValues];
    length = count;
  }
  return { costs: oldCosts.slice(0, length), values: oldValues.slice(0, length), parents };
}

/** Candidates no other one beats, by cost; of two with equal cost and bending the one that keeps the earlier sites HP. */
function efficient(candidates: Candidate[]): Candidate[] {
  candidates.sort((a, b) => a.cost - b.cost || a.bending - b.bending);
  const kept: Candidate[] = [];
  for (const candidate of candidates) {
    const last = kept.at(-1);
    if (last === undefined || candidate.bending < last.bending) kept.push(candidate);
    else if (candidate.cost === last.cost && candidate.bending === last.bending && keepsEarlier(candidate, last)) kept[kept.length - 1] = candidate;
  }
  return kept;
}

function keepsEarlier(a: Candidate, b: Candidate): boolean {
  const highA = highSites(a);
  const highB = highSites(b);
  const first = highA.findIndex((high, i) => high !== highB[i]);
  return first >= 0 && highA[first] === true;
}

function highSites({ run, state }: Candidate): boolean[] {
  const high = [...run.fixedHigh];
  run.free.forEach((site, item) => {
    const parent = run.parents[item]![state]!;
    high[site] = (parent & 1) === 1;
    state = parent >> 1;
  });
  return high;
}

function choice(frontier: Frontier, index: number, feasible: boolean): Choice {
  return { index, point: frontier.points[index]!, feasible };
}

/** First index whose element satisfies a condition that, once true, stays true; the length if none does. */
function firstIndex(points: readonly FrontierPoint[], condition: (point: FrontierPoint) => boolean): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (condition(points[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Power of two that brings the total tan^2 to at most 2^52, so that every sum of rounded values is an exact integer. */
function integerScale(items: readonly KnapsackItem[], tan2: readonly (number | null)[]): number {
  let total = 0;
  let floor = 0;
  items.forEach((item, i) => {
    total += tan2[i] ?? 0;
    floor = Math.max(floor, item.floorTan2);
  });
  return total + floor === 0 ? 1 : 2 ** Math.min(1000, 51 - Math.floor(Math.log2(total + floor)));
}

function checkItem(item: KnapsackItem): void {
  if (!Number.isSafeInteger(item.cost) || item.cost < 0) throw new BendscopeError('E-BUG-02', `knapsack ${item.id}: expected an integer cost >= 0, got ${item.cost}`);
  if (item.tan2 !== null && item.tan2 < 0) throw new BendscopeError('E-BUG-02', `knapsack ${item.id}: expected tan^2 >= 0, got ${item.tan2}`);
  if (!(item.floorTan2 >= 0 && Number.isFinite(item.floorTan2))) throw new BendscopeError('E-BUG-02', `knapsack ${item.id}: expected a floor >= 0, got ${item.floorTan2}`);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
