/**
 * Pareto lists (Nemhauser & Ullmann 1969): after each decision the list holds every (weight, value) that no other set of
 * options beats, by weight ascending and value descending, both to be small. The frontier and the solver of a single budget
 * share this one step. Decisions are added from the last to the first, so that on an exact tie the lower rank of the earlier
 * decision wins (choices.ts, winsTie).
 */

import type { Entry } from './options';

/** Growing arrays of one list. `parents` rebuild a set: entries.length * (state in the list before) + (index of the entry). */
export class ParetoList {
  weights = new Float64Array(16);
  values = new Float64Array(16);
  parents = new Int32Array(16);
  length = 0;

  /** The list of no decision at all, or of decisions that are settled. */
  static of(weight: number, value: number): ParetoList {
    const list = new ParetoList();
    list.weights[0] = weight;
    list.values[0] = value;
    list.length = 1;
    return list;
  }

  reserve(length: number): void {
    if (this.weights.length >= length) return;
    this.weights = new Float64Array(2 * length);
    this.values = new Float64Array(2 * length);
    this.parents = new Int32Array(2 * length);
  }

  /** How many states weigh at most this. */
  countWithin(weight: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.weights[middle]! > weight) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Keeps the states that can come to at most `worst` within a capacity: lighter ones may gain, heavier ones must lose. */
  keepReaching(capacity: number, reach: Reach, worst: number): void {
    const { weights, values, parents } = this;
    let kept = 0;
    for (let i = 0; i < this.length; i++) {
      if (reached(weights[i]!, values[i]!, capacity, reach) > worst) continue;
      weights[kept] = weights[i]!;
      values[kept] = values[i]!;
      parents[kept++] = parents[i]!;
    }
    this.length = kept;
  }

  /** The least that any state can come to, or `known` where that is less. */
  leastReached(capacity: number, reach: Reach, known: number): number {
    let least = known;
    for (let i = 0; i < this.length; i++) least = Math.min(least, reached(this.weights[i]!, this.values[i]!, capacity, reach));
    return least;
  }
}

/** What decisions that are still to be added can gain at most, and must lose at least, a unit of weight. */
export interface Reach {
  readonly gain: number;
  readonly loss: number;
}

/** A lower bound on what a state can come to within a capacity. */
function reached(weight: number, value: number, capacity: number, { gain, loss }: Reach): number {
  return weight <= capacity ? value - gain * (capacity - weight) : value + loss * (weight - capacity);
}

/**
 * Every state of `from` with every entry of one decision (two or more; weights ascending, values descending) -> the
 * efficient ones, in `to`; `spare` is overwritten. `from` shifted by one entry after the other is merged into what there is.
 */
export function addDecision(from: ParetoList, entries: readonly Entry[], to: ParetoList, spare: ParetoList): void {
  // So that the last merge writes to `to`.
  let [target, other] = entries.length % 2 === 0 ? [to, spare] : [spare, to];
  for (let e = 1; e < entries.length; e++) {
    if (e === 1) mergeShifted(from, entries[0]!, from, entries, e, target);
    else mergeShifted(other, null, from, entries, e, target);
    [target, other] = [other, target];
  }
}

/** The efficient ones of `from` shifted by entry e and of `old`, which is a merged list, or `from` to be shifted by `first` -> `to`. */
function mergeShifted(old: ParetoList, first: Entry | null, from: ParetoList, entries: readonly Entry[], e: number, to: ParetoList): void {
  const count = entries.length;
  const { rank, weight: newWeight, value: newValue } = entries[e]!;
  const oldWeight = first?.weight ?? 0;
  const oldValue = first?.value ?? 0;
  const [oldLength, fromLength] = [old.length, from.length];
  to.reserve(oldLength + fromLength);
  const { weights: oldWeights, values: oldValues, parents: oldParents } = old;
  const { weights: fromWeights, values: fromValues } = from;
  const { weights, values, parents } = to;
  let o = 0;
  let f = 0;
  let kept = 0;
  let best = Infinity;
  while (f < fromLength) {
    const weight = fromWeights[f]! + newWeight;
    const value = fromValues[f]! + newValue;
    // What is lighter in the old list comes first; at equal weight what is worth less, at equal value the lower rank.
    while (o < oldLength) {
      const w = oldWeights[o]! + oldWeight;
      if (w > weight) break;
      const v = oldValues[o]! + oldValue;
      if (w === weight && (v > value || (v === value && rank < (first ?? entries[oldParents[o]! % count]!).rank))) break;
      if (v < best) {
        weights[kept] = w;
        values[kept] = best = v;
        parents[kept++] = first === null ? oldParents[o]! : count * o;
      }
      o++;
    }
    if (value < best) {
      weights[kept] = weight;
      values[kept] = best = value;
      parents[kept++] = count * f + e;
    }
    f++;
  }
  // The shifted list ends with the heaviest weight and least value of all: nothing of the old one is left to take.
  to.length = kept;
}

export interface ParetoLists {
  readonly weights: Float64Array;
  readonly values: Float64Array;
  /** The rank every decision takes in a state of the final list. */
  ranksOf(state: number): Int32Array;
  /** States of all lists together: what was paid of a limit. */
  readonly states: number;
}

/**
 * Every efficient set of options, one option a decision; null once the lists hold, or are bound to hold, more than `limit` states together.
 * `prune` may drop states that it knows to lead nowhere, after decision `d` was added.
 */
export function paretoLists(decisions: readonly (readonly Entry[])[], limit: number, prune?: (list: ParetoList, d: number) => void): ParetoLists | null {
  const parents = new Map<number, Int32Array>();
  let weight = 0;
  let value = 0;
  for (const [only, ...others] of decisions) {
    if (others.length > 0) continue;
    weight += only!.weight;
    value += only!.value;
  }
  let list = ParetoList.of(weight, value);
  let other = new ParetoList();
  const spare = new ParetoList();
  let states = 0;
  for (let d = decisions.length - 1; d >= 0; d--) {
    const entries = decisions[d]!;
    if (entries.length === 1) continue;
    addDecision(list, entries, other, spare);
    prune?.(other, d);
    [list, other] = [other, list];
    states += list.length;
    // Lists hardly ever get shorter by themselves, so that a hopeless one is known early.
    if (states + (prune ? 0 : list.length * d) > limit) return null;
    parents.set(d, list.parents.slice(0, list.length));
  }
  return {
    weights: list.weights.slice(0, list.length),
    values: list.values.slice(0, list.length),
    states,
    ranksOf(state) {
      return Int32Array.from(decisions, (entries, d) => {
        const parent = parents.get(d)?.[state];
        if (parent === undefined) return entries[0]!.rank;
        state = Math.floor(parent / entries.length);
        return entries[parent % entries.length]!.rank;
      });
    },
  };
}
