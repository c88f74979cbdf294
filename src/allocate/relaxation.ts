/**
 * The convex relaxation of one level's question: a decision may be split between formats. Its optimum is a chain of steps,
 * each from one option of a decision to the next on the lower convex hull of (weight, value), steepest first: a lower bound
 * for every budget, and wherever a step ends a plan that is optimal for what it weighs (Sinha & Zoltners 1979).
 * Slopes are compared exactly: where floats cannot tell, as integers.
 */
import type { Entry } from './pareto';

export interface Step {
  readonly decision: number;
  /** Indices into the decision's entries. */
  readonly from: number;
  readonly to: number;
  /** What the step adds in weight and takes off the value, both > 0. */
  readonly weight: number;
  readonly gain: number;
}

/** Sign of a.gain / a.weight - b.gain / b.weight, exact for integers. */
export function compareSlopes(a: Pick<Step, 'weight' | 'gain'>, b: Pick<Step, 'weight' | 'gain'>): number {
  const [left, right] = [a.gain * b.weight, b.gain * a.weight];
  const difference = left - right;
  if (Math.abs(difference) > 2 ** -50 * (left + right)) return difference;
  return Number(BigInt(a.gain) * BigInt(b.weight) - BigInt(b.gain) * BigInt(a.weight));
}

/** The steps along one decision's lower hull; options on a straight line are stops too. */
function hullSteps(entries: readonly Entry[], decision: number): Step[] {
  const steps: Step[] = [];
  for (let to = 1; to < entries.length; to++) {
    let from = to - 1;
    let step = stepBetween(entries, decision, from, to);
    while (steps.length > 0 && compareSlopes(steps.at(-1)!, step) < 0) {
      from = steps.pop()!.from;
      step = stepBetween(entries, decision, from, to);
    }
    steps.push(step);
  }
  return steps;
}

function stepBetween(entries: readonly Entry[], decision: number, from: number, to: number): Step {
  const [a, b] = [entries[from]!, entries[to]!];
  return { decision, from, to, weight: b.weight - a.weight, gain: a.value - b.value };
}

/** The chain of stops: weight and value after 0, 1, 2, ... steps from everything at its lightest. */
export interface Relaxation {
  /** Steepest first, on equal slopes by decision; each decision's own steps in order. */
  readonly steps: readonly Step[];
  readonly weights: Float64Array;
  readonly values: Float64Array;
}

export function relax(decisions: readonly (readonly Entry[])[]): Relaxation {
  const steps = decisions.flatMap((entries, decision) => hullSteps(entries, decision)).sort((a, b) => compareSlopes(b, a) || a.decision - b.decision || a.from - b.from);
  const weights = new Float64Array(steps.length + 1);
  const values = new Float64Array(steps.length + 1);
  for (const [lightest] of decisions) {
    weights[0]! += lightest!.weight;
    values[0]! += lightest!.value;
  }
  steps.forEach((step, i) => {
    weights[i + 1] = weights[i]! + step.weight;
    values[i + 1] = values[i]! - step.gain;
  });
  return { steps, weights, values };
}

export interface RelaxedQuestion {
  readonly entries: readonly (readonly Entry[])[];
  readonly relaxation: Relaxation;
}

/** The same question with weight and value swapped: entries and chain the other way round. */
export function mirrored(entries: readonly (readonly Entry[])[], relaxation: Relaxation): RelaxedQuestion {
  const turn = ({ decision, from, to, weight, gain }: Step): Step => {
    const last = entries[decision]!.length - 1;
    return { decision, from: last - to, to: last - from, weight: gain, gain: weight };
  };
  return {
    entries: entries.map((own) => own.map(({ rank, weight, value }) => ({ rank, weight: value, value: weight })).reverse()),
    relaxation: { steps: relaxation.steps.map(turn).reverse(), weights: relaxation.values.toReversed(), values: relaxation.weights.toReversed() },
  };
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
  const count = stepsWithin(relaxation, weight);
  if (count < 0) return Infinity;
  const step = relaxation.steps[count];
  const part = step === undefined ? 0 : Math.min(1, (weight - relaxation.weights[count]!) / step.weight);
  return relaxation.values[count]! - part * (step?.gain ?? 0);
}

/** Whether a value is what the relaxation comes to within a weight, exactly. */
export function isRelaxedOptimum(relaxation: Relaxation, weight: number, value: number): boolean {
  const count = stepsWithin(relaxation, weight);
  const [startWeight, startValue, step] = [relaxation.weights[count]!, relaxation.values[count]!, relaxation.steps[count]];
  return step === undefined ? value === startValue : compareSlopes({ gain: startValue - value, weight: weight - startWeight }, step) >= 0;
}

/** Index of every decision's entry after the first `count` steps. */
export function entriesAfter(decisions: readonly (readonly Entry[])[], { steps }: Relaxation, count: number): Int32Array {
  const taken = new Int32Array(decisions.length);
  for (let i = 0; i < count; i++) taken[steps[i]!.decision] = steps[i]!.to;
  return taken;
}
