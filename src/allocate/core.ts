/**
 * The expanding core of one budget (Pisinger 1995): around the plan that whole steps of the relaxation give, decisions are
 * added to a Pareto list, those first whose next step up or down is nearest in slope to the step that no longer fits. The
 * chain of the relaxation is that order: forward from the step are the gains, backward the losses.
 */
import { assert } from '../base/errors';
import { ranksTaken, type Entry, type OptionTable } from './options';
import { addDecision, ParetoList, paretoLists, type Reach } from './pareto';
import { isRelaxedOptimum, relaxedValue, slopeOf, type Relaxation } from './relaxation';

interface Plan {
  readonly weight: number;
  readonly value: number;
}

export interface Found extends Plan {
  /** No plan within the capacity is worth less; `value` where that is proven. */
  readonly bound: number;
  /** Decisions that were added, in this order. */
  readonly added: readonly number[];
  /** Whether the others are known to have no part in a plan as good. */
  readonly isProven: boolean;
}

export class Core {
  readonly #options: OptionTable;
  readonly #relaxation: Relaxation;
  /** Whole steps of the base plan; there is one more. */
  readonly #whole: number;
  readonly #base: Int32Array;
  readonly #start: Plan;
  /** Of the step that no longer fits: what a unit of weight is worth. */
  readonly #slope: number;
  /** Float error of a bound: products of integers below 2^53. */
  readonly #slack: number;

  constructor(options: OptionTable, relaxation: Relaxation, whole: number, base: Int32Array) {
    const { weights, values } = relaxation;
    this.#options = options;
    this.#relaxation = relaxation;
    this.#whole = whole;
    this.#base = base;
    this.#start = { weight: weights[whole]!, value: values[whole]! };
    this.#slope = slopeOf(relaxation, whole);
    this.#slack = 2 ** -48 * (values[0]! + this.#slope * weights.at(-1)!);
  }

  /** Adds decisions until no state can come to a plan as good as the best one found, or states are used up. */
  expand(capacity: number, stateLimit: number): Found {
    let { weight, value } = this.#start;
    let list = ParetoList.of(weight, value);
    let other = new ParetoList();
    const spare = new ParetoList();
    const walk = new Walk(this.#relaxation, this.#whole, this.#base.length);
    // A plan that the relaxation cannot beat has no equal that weighs less either.
    const isDone = (): boolean => walk.leastLoss() > this.#loss({ weight: capacity, value }) + this.#slack || isRelaxedOptimum(this.#relaxation, this.#whole, capacity, value);
    let states = 0;
    while (!isDone() && states <= stateLimit) {
      const shifts = this.#shifts(walk.next(), this.#loss({ weight: capacity, value }));
      if (shifts.length > 1) {
        addDecision(list, shifts, other, spare);
        [list, other] = [other, list];
      }
      // The best state that fits is the last one, as values descend.
      const fitting = list.countWithin(capacity);
      if (fitting > 0) {
        const [w, v] = [list.weights[fitting - 1]!, list.values[fitting - 1]!];
        if (v < value || (v === value && w < weight)) [weight, value] = [w, v];
      }
      list.keepReaching(capacity, walk.reach(), value + this.#slack);
      states += list.length;
    }
    if (isDone()) return { weight, value, bound: value, added: walk.added, isProven: true };
    const least = list.leastReached(capacity, walk.reach(), value);
    const bound = Math.max(0, least, relaxedValue(this.#relaxation, capacity)) - this.#slack;
    return { weight, value, bound, added: walk.added, isProven: false };
  }

  /** Ranks of the plan of exactly this weight and value that wins the tie; of those the added decisions reach, where that is all one knows. */
  winner(found: Found, stateLimit: number): Int32Array {
    const loss = this.#loss(found);
    const target = { weight: found.weight - this.#start.weight, value: found.value - this.#start.value };
    const bySite = found.isProven ? this.#rebuild(this.#candidates(loss), target, loss, stateLimit) : null;
    const ranks = bySite ?? this.#rebuild(found.added, target, loss, Infinity);
    assert(ranks, 'solver: lists without a limit have no end');
    return ranks;
  }

  /** Adds the decisions in an order, keeping what can still come to `target`, a shift of the base; null past the limit. */
  #rebuild(order: readonly number[], target: Plan, loss: number, stateLimit: number): Int32Array | null {
    const added = order.map((d) => [d, this.#shifts(d, loss)] as const).filter(([, shifts]) => shifts.length > 1);
    const reaches = reachesOf(added.map(([, shifts]) => shifts));
    const decisions = added.map(([, shifts]) => shifts).reverse();
    const worst = target.value + this.#slack;
    const lists = paretoLists(decisions, stateLimit, (list, left) => list.keepReaching(target.weight, reaches[decisions.length - left]!, worst));
    if (lists === null) return null;
    const state = lists.weights.indexOf(target.weight);
    assert(lists.values[state] === target.value, 'solver: the best plan found cannot be rebuilt');
    const found = lists.ranksOf(state).reverse();
    const ranks = ranksTaken(this.#options, this.#base);
    added.forEach(([d], i) => (ranks[d] = found[i]!));
    return ranks;
  }

  /** What a plan is worth less than the relaxation of the base's slope allows for its weight. */
  #loss({ weight, value }: Plan): number {
    return value - this.#start.value + this.#slope * (weight - this.#start.weight);
  }

  /** The options of a decision as shifts of the base, without those that alone lose more than `loss`. */
  #shifts(d: number, loss: number): Entry[] {
    const { starts, ranks, weights, values } = this.#options;
    const from = starts[d]! + this.#base[d]!;
    const shifts: Entry[] = [];
    for (let o = starts[d]!; o < starts[d + 1]!; o++) {
      const [weight, value] = [weights[o]! - weights[from]!, values[o]! - values[from]!];
      if (value + this.#slope * weight <= loss + this.#slack) shifts.push({ rank: ranks[o]!, weight, value });
    }
    return shifts;
  }

  /** The decisions with some shift that loses at most `loss`, the last site first, so that the tie goes to the earliest. */
  #candidates(loss: number): number[] {
    const { starts, weights, values } = this.#options;
    const most = loss + this.#slack;
    const found: number[] = [];
    for (let d = this.#base.length - 1; d >= 0; d--) {
      const from = starts[d]! + this.#base[d]!;
      for (let o = starts[d]!; o < starts[d + 1]!; o++) {
        if (o === from || values[o]! - values[from]! + this.#slope * (weights[o]! - weights[from]!) > most) continue;
        found.push(d);
        break;
      }
    }
    return found;
  }
}

/** Outward along the chain from the step that no longer fits: each decision once, the nearer slope of the two sides first. */
class Walk {
  readonly #relaxation: Relaxation;
  readonly #isAdded: Uint8Array;
  readonly added: number[] = [];
  #slope: number;
  /** The next step of a decision that is not added yet, either way. */
  #forward: number;
  #backward: number;

  constructor(relaxation: Relaxation, whole: number, decisions: number) {
    this.#relaxation = relaxation;
    this.#isAdded = new Uint8Array(decisions);
    this.#slope = slopeOf(relaxation, whole);
    this.#forward = whole;
    this.#backward = whole - 1;
  }

  next(): number {
    const { decisions } = this.#relaxation;
    const { gain, loss } = this.reach();
    const d = decisions[this.#slope - gain <= loss - this.#slope && this.#forward < decisions.length ? this.#forward : this.#backward]!;
    this.#isAdded[d] = 1;
    this.added.push(d);
    while (this.#forward < decisions.length && this.#isAdded[decisions[this.#forward]!] === 1) this.#forward += 1;
    while (this.#backward >= 0 && this.#isAdded[decisions[this.#backward]!] === 1) this.#backward -= 1;
    return d;
  }

  /** Any option of a decision that is not added yet loses at least this, a unit of weight being worth the slope; Infinity at the end. */
  leastLoss(): number {
    const { decisions, least } = this.#relaxation;
    const { gain, loss } = this.reach();
    const lossOf = (slope: number): number => Math.abs(slope - this.#slope) * Math.max(least.weight, least.gain / slope);
    return Math.min(this.#forward < decisions.length ? lossOf(gain) : Infinity, this.#backward >= 0 ? lossOf(loss) : Infinity);
  }

  /** Every later step of the chain is less steep, every earlier one steeper. */
  reach(): Reach {
    return {
      gain: this.#forward < this.#relaxation.decisions.length ? slopeOf(this.#relaxation, this.#forward) : 0,
      loss: this.#backward >= 0 ? slopeOf(this.#relaxation, this.#backward) : Infinity,
    };
  }
}

/** After the first n of some decisions, given as shifts: what the others can gain, and must lose. */
function reachesOf(decisions: readonly (readonly Entry[])[]): Reach[] {
  const reaches: Reach[] = [{ gain: 0, loss: Infinity }];
  for (const shifts of decisions.toReversed()) {
    let { gain, loss } = reaches.at(-1)!;
    for (const { weight, value } of shifts) {
      if (weight > 0) gain = Math.max(gain, -value / weight);
      if (weight < 0) loss = Math.min(loss, value / -weight);
    }
    reaches.push({ gain, loss });
  }
  return reaches.reverse();
}
