/**
 * How much high precision is needed (method.md 7): the smallest budget of a frontier whose *measured* joint angle meets a
 * target. Predict, measure the plan jointly, correct the prediction by what was measured, repeat, at most four times.
 * The correction: measured tan^2 over predicted tan^2 is taken to be a constant after one measurement, a power of the
 * prediction after two; the power law is fitted to the two measurements that enclose the target, or else to the nearest.
 * It aims a little inside the target, so that a law that is a little off still meets it.
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { bendAtMost, type FrontierLine } from './frontier';

export interface JointAngle {
  readonly angleDeg: number;
  /** Standard error over batches; null where there is only one. */
  readonly angleSeDeg: number | null;
}

export interface HowMuchStep extends JointAngle {
  /** What the prediction was asked for so that the measurement would meet the target. */
  readonly aimedDeg: number;
  /** The point of the frontier that was measured. */
  readonly index: number;
  readonly cost: number;
  readonly predictedDeg: number;
  readonly meets: boolean;
}

export interface HowMuch {
  readonly steps: readonly HowMuchStep[];
  /** The cheapest measured plan that meets the target; null when none did. */
  readonly best: HowMuchStep | null;
  /** Whether that is as good as found: within the tolerance of the target, or the next cheaper plan is known to miss it. */
  readonly isSettled: boolean;
  /**
   * Costs of the budgets that the correction gives if the best plan's angle is one standard error less or more than
   * measured; null without a standard error.
   */
  readonly costRange: readonly [number, number] | null;
}

export const MOST_MEASUREMENTS = 4;
/** Measured angle over target that counts as met: 0.95 to 1. */
export const TOLERANCE = 0.05;
/** Exponents of measured tan^2 over predicted tan^2 that a fit may have. */
const EXPONENTS = [1 / 3, 3] as const;
/**
 * By how much the logarithm of a plan's tan^2 may be off the law (5 % in the angle): two measurements that are no further
 * apart say little about the exponent, which is then nearer to 1.
 */
const SCATTER = 0.1;

/**
 * `measure` runs the joint probe of the plan at a point of the frontier, chosen because the prediction was to be `aimedDeg`;
 * what it throws ends the search.
 */
export async function howMuch(line: FrontierLine, targetDeg: number, measure: (index: number, aimedDeg: number) => Promise<JointAngle>): Promise<HowMuch> {
  const target = tanSquared(targetDeg);
  const steps: HowMuchStep[] = [];
  let aim = target;
  // Points up to `misses` are known to bend too much, those from `meets` on to be good enough.
  let misses = -1;
  let meets = line.points.length;
  while (steps.length < MOST_MEASUREMENTS && misses + 1 < meets) {
    const index = Math.min(meets - 1, Math.max(misses + 1, bendAtMost(line, angleOfTanSquared(aim)).index));
    const { cost, angleDeg: predictedDeg } = line.points[index]!;
    const aimedDeg = angleOfTanSquared(aim);
    const step = { aimedDeg, index, cost, predictedDeg, ...(await measure(index, aimedDeg)) };
    steps.push({ ...step, meets: step.angleDeg <= targetDeg });
    if (step.angleDeg <= targetDeg) meets = index;
    else misses = index;
    if (step.angleDeg <= targetDeg && step.angleDeg >= (1 - TOLERANCE) * targetDeg) break;
    // The last try is the safest: to meet a target counts for more than to come near it.
    const isLast = steps.length === MOST_MEASUREMENTS - 1 && meets === line.points.length;
    aim = corrected(steps, tanSquared((1 - (isLast ? TOLERANCE : TOLERANCE / 2)) * targetDeg));
  }
  const best = steps.filter((step) => step.meets).sort((a, b) => a.index - b.index)[0] ?? null;
  return { steps, best, isSettled: best !== null && (best.angleDeg >= (1 - TOLERANCE) * targetDeg || misses + 1 === best.index), costRange: best && rangeOf(line, best, targetDeg) };
}

/** The predicted tan^2 at which the measured one should be `wanted`. */
function corrected(steps: readonly HowMuchStep[], wanted: number): number {
  const measured = steps.map((step) => ({ predicted: logTan2(step.predictedDeg), measured: logTan2(step.angleDeg) }));
  const goal = Math.log(wanted);
  const byDistance = measured.toSorted((a, b) => Math.abs(a.measured - goal) - Math.abs(b.measured - goal));
  const near = byDistance[0]!;
  const other = byDistance.find((step) => step !== near && step.measured > goal !== near.measured > goal) ?? byDistance[1];
  const run = other === undefined ? 0 : near.predicted - other.predicted;
  const rise = other === undefined ? 0 : near.measured - other.measured;
  const fitted = (rise * run + SCATTER ** 2) / (run ** 2 + SCATTER ** 2);
  const exponent = Math.min(EXPONENTS[1], Math.max(EXPONENTS[0], fitted));
  return Math.exp(near.predicted + (goal - near.measured) / exponent);
}

/** log tan^2, with 1e-9 degrees in the place of 0. */
function logTan2(angleDeg: number): number {
  return Math.log(tanSquared(Math.max(1e-9, angleDeg)));
}

function rangeOf(line: FrontierLine, best: HowMuchStep, targetDeg: number): readonly [number, number] | null {
  if (best.angleSeDeg === null) return null;
  const cost = (measuredDeg: number): number => {
    const ratio = tanSquared(Math.max(1e-9, measuredDeg)) / tanSquared(Math.max(1e-9, best.predictedDeg));
    return bendAtMost(line, angleOfTanSquared(tanSquared(targetDeg) / ratio)).point.cost;
  };
  return [cost(best.angleDeg - best.angleSeDeg), cost(best.angleDeg + best.angleSeDeg)];
}
