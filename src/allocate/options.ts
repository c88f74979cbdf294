/**
 * What every decision of a question may take, in flat arrays: thousands of decisions are read for every budget of a drag.
 * Weight and value are cost and bend, or the other way round; both are integers and both are to be small.
 */

/** An option by what it weighs and what it is worth. */
export interface Entry {
  readonly rank: number;
  readonly weight: number;
  readonly value: number;
}

/** The options of decision d are those from starts[d] to starts[d + 1], weights ascending and values descending. */
export interface OptionTable {
  readonly starts: Int32Array;
  /** The place among the decision's formats; the lower one wins a tie. */
  readonly ranks: Int32Array;
  readonly weights: Float64Array;
  readonly values: Float64Array;
}

/** Costs and bends of the formats of all decisions, the same way in flat arrays, by rank. */
export interface OfferTable {
  readonly starts: Int32Array;
  readonly costs: Float64Array;
  readonly bends: Float64Array;
}

/**
 * The allowed offers by cost, without those that another one beats, or equals with a lower rank; null when some decision is
 * left with nothing.
 */
export function efficientOptions({ starts, costs, bends }: OfferTable, isAllowed: (offer: number) => boolean): OptionTable | null {
  const decisions = starts.length - 1;
  const found = { starts: new Int32Array(decisions + 1), ranks: new Int32Array(costs.length), weights: new Float64Array(costs.length), values: new Float64Array(costs.length) };
  const sorted: number[] = [];
  let count = 0;
  for (let d = 0; d < decisions; d++) {
    const first = starts[d]!;
    sorted.length = 0;
    // Few formats: each is inserted where it belongs by cost, bend and rank.
    for (let o = first; o < starts[d + 1]!; o++) {
      if (!isAllowed(o)) continue;
      let place = sorted.length;
      while (place > 0) {
        const before = sorted[place - 1]!;
        if (costs[before]! < costs[o]! || (costs[before]! === costs[o]! && bends[before]! <= bends[o]!)) break;
        sorted[place--] = before;
      }
      sorted[place] = o;
    }
    let least = Infinity;
    for (const o of sorted) {
      if (bends[o]! >= least) continue;
      found.ranks[count] = o - first;
      found.weights[count] = costs[o]!;
      found.values[count++] = least = bends[o]!;
    }
    if (least === Infinity) return null;
    found.starts[d + 1] = count;
  }
  return { starts: found.starts, ranks: found.ranks.subarray(0, count), weights: found.weights.subarray(0, count), values: found.values.subarray(0, count) };
}

/** The same options with weight and value swapped. */
export function mirroredOptions({ starts, ranks, weights, values }: OptionTable): OptionTable {
  const mirrored = { starts, ranks: new Int32Array(ranks.length), weights: new Float64Array(ranks.length), values: new Float64Array(ranks.length) };
  for (let d = 0; d + 1 < starts.length; d++) {
    const [first, last] = [starts[d]!, starts[d + 1]! - 1];
    for (let o = first; o <= last; o++) {
      const from = first + last - o;
      mirrored.ranks[o] = ranks[from]!;
      mirrored.weights[o] = values[from]!;
      mirrored.values[o] = weights[from]!;
    }
  }
  return mirrored;
}

/** The options of one decision. */
export function entriesOf({ starts, ranks, weights, values }: OptionTable, decision: number): Entry[] {
  const entries: Entry[] = [];
  for (let o = starts[decision]!; o < starts[decision + 1]!; o++) entries.push({ rank: ranks[o]!, weight: weights[o]!, value: values[o]! });
  return entries;
}

/** Every decision at its lightest: the sum of weights; or at its best, the sum of values. */
export function leastWeight({ starts, weights }: OptionTable): number {
  let sum = 0;
  for (let d = 0; d + 1 < starts.length; d++) sum += weights[starts[d]!]!;
  return sum;
}
export function leastValue({ starts, values }: OptionTable): number {
  let sum = 0;
  for (let d = 0; d + 1 < starts.length; d++) sum += values[starts[d + 1]! - 1]!;
  return sum;
}

/** The rank every decision takes, from the place of its option among its own. */
export function ranksTaken({ starts, ranks }: OptionTable, taken: Int32Array): Int32Array {
  return taken.map((option, d) => ranks[starts[d]! + option]!);
}
