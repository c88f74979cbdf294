/**
 * The convex relaxation of one level's question: a decision may be split between formats. Its optimum is a chain of steps,
 * each from one option of a decision to the next on the lower convex hull of (weight, value), steepest first: a lower bound
 * for every budget, and wherever a step ends a plan that is optimal for what it weighs (Sinha & Zoltners 1979).
 * Slopes are compared exactly: where floats cannot tell, as integers.
 */
import { leastWeight, mirroredOptions, type OptionTable } from './options';

/** The chain of stops: weight and value after 0, 1, 2, ... steps from everything at its lightest. */
export interface Relaxation {
  /**
   * By step, steepest first, on equal slopes by decision; each decision's own steps in order: the decision, and the places
   * of its options before and after among its own.
   */
  readonly decisions: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** By stop, one more than there are steps. */
  readonly weights: Float64Array;
  readonly values: Float64Array;
  /** The smallest differences between two options of one decision; Infinity where no decision has two. */
  readonly least: Rise;
}

/** What a step adds in weight and takes off the value, both > 0. */
export interface Rise {
  readonly weight: number;
  readonly gain: number;
}

interface Step extends Rise {
  readonly decision: number;
  readonly from: number;
  readonly to: number;
  /** gain / weight, rounded. */
  readonly slope: number;
}

/** Sign of a.gain / a.weight - b.gain / b.weight, exact for integers. */
function compareSlopes(a: Rise, b: Rise): number {
  const [left, right] = [a.gain * b.weight, b.gain * a.weight];
  const difference = left - right;
  if (Math.abs(difference) > 2 ** -50 * (left + right)) return difference;
  return Number(BigInt(a.gain) * BigInt(b.weight) - BigInt(b.gain) * BigInt(a.weight));
}

/** The same of steps, quicker: from their rounded slopes wherever these tell. */
function compareSteps(a: Step, b: Step): number {
  const difference = a.slope - b.slope;
  return Math.abs(difference) > 2 ** -50 * (a.slope + b.slope) ? difference : compareSlopes(a, b);
}

/** Adds the steps along one decision's lower hull; options on a straight line are stops too. */
function pushHull({ starts, weights, values }: OptionTable, decision: number, steps: Step[]): void {
  const first = starts[decision]!;
  const bottom = steps.length;
  const between = (from: number, to: number): Step => {
    const [weight, gain] = [weights[first + to]! - weights[first + from]!, values[first + from]! - values[first + to]!];
    return { decision, from, to, weight, gain, slope: gain / weight };
  };
  for (let to = 1; to < starts[decision + 1]! - first; to++) {
    let step = between(to - 1, to);
    while (steps.length > bottom && compareSteps(steps.at(-1)!, step) < 0) step = between(steps.pop()!.from, to);
    steps.push(step);
  }
}

export function relax(options: OptionTable): Relaxation {
  const steps: Step[] = [];
  const least = { weight: Infinity, gain: Infinity };
  for (let d = 0; d + 1 < options.starts.length; d++) pushHull(options, d, steps);
  // A stable sort: steps of equal slopes stay in the order of decisions, and of the hull.
  steps.sort((a, b) => compareSteps(b, a));
  const count = steps.length;
  const chain = { decisions: new Int32Array(count), from: new Int32Array(count), to: new Int32Array(count), weights: new Float64Array(count + 1), values: new Float64Array(count + 1) };
  chain.weights[0] = leastWeight(options);
  const { starts, weights, values } = options;
  for (let d = 0; d + 1 < starts.length; d++) {
    chain.values[0]! += values[starts[d]!]!;
    for (let o = starts[d]! + 1; o < starts[d + 1]!; o++) {
      least.weight = Math.min(least.weight, weights[o]! - weights[o - 1]!);
      least.gain = Math.min(least.gain, values[o - 1]! - values[o]!);
    }
  }
  steps.forEach(({ decision, from, to, weight, gain }, i) => {
    chain.decisions[i] = decision;
    chain.from[i] = from;
    chain.to[i] = to;
    chain.weights[i + 1] = chain.weights[i]! + weight;
    chain.values[i + 1] = chain.values[i]! - gain;
  });
  return { ...chain, least };
}

export interface RelaxedQuestion {
  readonly options: OptionTable;
  readonly relaxation: Relaxation;
}

/** The same question with weight and value swapped: options and chain the other way round. */
export function mirrored({ options, relaxation: { decisions, from, to, weights, values, least } }: RelaxedQuestion): RelaxedQuestion {
  const { starts } = options;
  const count = decisions.length;
  const turned = (places: Int32Array): Int32Array => places.map((_, i) => {
    const step = count - 1 - i;
    const d = decisions[step]!;
    return starts[d + 1]! - starts[d]! - 1 - places[step]!;
  });
  return {
    options: mirroredOptions(options),
    relaxation: {
      decisions: decisions.toReversed(), from: turned(to), to: turned(from), weights: values.toReversed(), values: weights.toReversed(),
      least: { weight: least.gain, gain: least.weight },
    },
  };
}

/** What step i adds in weight and takes off the value. */
function riseOf({ weights, values }: Relaxation, i: number): Rise {
  return { weight: weights[i + 1]! - weights[i]!, gain: values[i]! - values[i + 1]! };
}

/** Gain a unit of weight of step i. */
export function slopeOf(relaxation: Relaxation, i: number): number {
  const { weight, gain } = riseOf(relaxation, i);
  return gain / weight;
}

/** The number of whole steps that fit into a weight; -1 when not even the lightest does. */
export function stepsWithin({ weights }: Relaxation, weight: number): number {
  let low = 0;
  let high = weights.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weights[middle]! > weight) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

/** No set of options within `weight` is worth less than this; Infinity when none fits. */
export function relaxedValue(relaxation: Relaxation, weight: number): number {
  const { weights, values } = relaxation;
  const count = stepsWithin(relaxation, weight);
  if (count < 0) return Infinity;
  if (count + 1 === weights.length) return values[count]!;
  const step = riseOf(relaxation, count);
  return values[count]! - Math.min(1, (weight - weights[count]!) / step.weight) * step.gain;
}

/** Whether a value is what the relaxation comes to within a weight that `count` whole steps fit into, exactly. */
export function isRelaxedOptimum(relaxation: Relaxation, count: number, weight: number, value: number): boolean {
  const { weights, values } = relaxation;
  if (count + 1 === weights.length) return value === values[count];
  return compareSlopes({ gain: values[count]! - value, weight: weight - weights[count]! }, riseOf(relaxation, count)) >= 0;
}

/** The place of every decision's option among its own after the first `count` steps. */
export function optionsAfter({ starts }: OptionTable, { decisions, to }: Relaxation, count: number): Int32Array {
  const taken = new Int32Array(starts.length - 1);
  for (let i = 0; i < count; i++) taken[decisions[i]!] = to[i]!;
  return taken;
}
