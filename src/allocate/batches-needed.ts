/**
 * How little data is enough (method.md 7, 1): the plan that k of K calibration batches would have given, and what it comes
 * to when all K judge it. Angles, floors and joint angles are pooled again over each subset, as if only its batches had been
 * measured. Of more than 20 subsets, 20 are drawn with a seed, so the same results give the same rows.
 */
import { poolAngles, tanSquared } from '../base/angle';
import { below, philox4x32 } from '../base/random';
import { floorOf } from '../graph/noise-floor';
import type { NoiseFloor, SiteResult } from '../graph/probe-record';
import type { SitePart } from '../graph/sites';
import { anglesOf, frameQuestion, poseAngles } from './choices';
import { predict, resultIn } from './cost';
import { planCost } from './costs';
import { joinedEvidence, type MeasuredFormat } from './offers';
import { choicesFor, differences, withFormats, type Plan, type PlanQuestion } from './plan';
import { solveWithin, type Limit } from './within';

export interface BatchesInput {
  /** Its evidence holds every batch of every site (`perBatch`) and of the floor (`perRun`). */
  readonly asked: PlanQuestion;
  /** Whose locks hold. */
  readonly plan: Plan;
  readonly limit: Limit;
  /** The measured joint angle of a plan, to be pooled over subsets; null where none was measured. */
  readonly joint: SiteResult | null;
}

/** Of a figure over the subsets; the median of an even number is the mean of the middle two. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface BatchesRow {
  /** k. */
  readonly batches: number;
  /** Subsets of k batches that were solved: all of them, or 20 drawn with a seed. */
  readonly subsets: number;
  readonly isComplete: boolean;
  /** Predicted by all K batches, of the plan that the subset gives; null where some low site is not measured. */
  readonly predictedDeg: Spread | null;
  /** Of the plan, in the integer costs of the table. */
  readonly cost: Spread;
  /** Cells in which the plan differs from that of all K. */
  readonly cellsChanged: Spread;
  /** The measured joint angle pooled over the subset; null without one. */
  readonly jointDeg: Spread | null;
}

const MOST_SUBSETS = 20;
const SEED = 20240502;

/** One row for k = 1 .. K; empty where some measured site holds no single batches. Throws what planWithin throws. */
export function batchesNeeded({ asked, plan, limit, joint }: BatchesInput): readonly BatchesRow[] {
  const { sites, low, costs } = asked;
  const results = low.flatMap(({ format, evidence }) => sites.flatMap(({ id }) => resultIn(evidence, id, format) ?? []));
  const counts = results.flatMap((result) => (result.status === 'measured' ? [result.perBatch.length] : []));
  const total = Math.min(...counts);
  if (total === 0 || total === Infinity) return [];
  const solve = solverOver(asked, plan, limit);
  const reference = solve(range(total));
  const judge = joinedEvidence(low);
  return range(total).map((index): BatchesRow => {
    const k = index + 1;
    const { subsets, isComplete } = subsetsOf(total, k);
    const plans = subsets.map(solve);
    const predicted = plans.map(({ formats }) => predict(sites, formats, judge).predictedDeg);
    const joints = subsets.map((subset) => (joint?.status === 'measured' && joint.perBatch.length >= total ? pooledAngle(joint, subset) : null));
    return {
      batches: k, subsets: subsets.length, isComplete,
      predictedDeg: spreadOf(predicted),
      cost: spread(plans.map(({ formats }) => planCost(costs, sites, formats))),
      cellsChanged: spread(plans.map(({ formats }) => differences(sites, formats, reference.formats).length)),
      jointDeg: spreadOf(joints),
    };
  });
}

/** What must be pooled again of an offer: its place among all, and the squared tangents of its batches, where it was measured. */
interface PooledOffer {
  readonly index: number;
  readonly pass: SitePart;
  readonly measured: MeasuredFormat | undefined;
  readonly batchTan2: readonly number[] | null;
}

/** The plan that a subset of the batches gives. Costs, groups and locks are read once. */
function solverOver(asked: PlanQuestion, plan: Plan, limit: Limit): (subset: readonly number[]) => Plan {
  const { sites, low } = asked;
  const { choices, groups } = choicesFor(asked, plan);
  const frame = frameQuestion(choices, groups);
  const angles = anglesOf(choices);
  let count = 0;
  const offers = choices.flatMap(({ id, offers: own }, s) => own.flatMap(({ format }): PooledOffer[] => {
    const index = count++;
    if (format === 'bf16') return [];
    const measured = low.find((known) => known.format === format);
    const result = measured && resultIn(measured.evidence, id, format);
    // A lock's format that is not asked about keeps what all batches found of it, and carries the floor of the others.
    return [{ index, pass: sites[s]!.pass, measured: measured ?? low[0], batchTan2: result?.status === 'measured' ? result.perBatch.map(({ angleDeg }) => tanSquared(angleDeg)) : null }];
  }));
  return (subset) => {
    const floors = new Map(low.map((measured) => [measured, floorOver(measured.evidence.floor, subset)]));
    for (const { index, pass, measured, batchTan2 } of offers) {
      const floor = measured && floors.get(measured);
      angles.floorTan2[index] = floor ? tanSquared(floorOf(pass, floor)) : 0;
      if (batchTan2 !== null) angles.tan2[index] = Math.max(0, subset.reduce((sum, batch) => sum + batchTan2[batch]!, 0) / subset.length - angles.floorTan2[index]!);
    }
    return withFormats(plan, solveWithin(poseAngles(frame, angles), limit).formats);
  };
}

function pooledAngle({ perBatch }: Extract<SiteResult, { status: 'measured' }>, subset: readonly number[]): number {
  return poolAngles(subset.map((batch) => perBatch[batch]?.angleDeg ?? NaN)).angleDeg;
}

/** Pooled again over the runs of these batches; as it is where no single runs are known. */
function floorOver(floor: NoiseFloor | null, subset: readonly number[]): NoiseFloor | null {
  if (floor === null) return null;
  const of = (what: 'y' | 'dy', known: number): number => {
    const runs = floor.perRun.filter((run) => run.what === what);
    return runs.length === 0 ? known : poolAngles(runs.filter(({ batch }) => subset.includes(batch)).map(({ angleDeg }) => angleDeg)).angleDeg;
  };
  return { ...floor, forwardDeg: of('y', floor.forwardDeg), backwardDeg: of('dy', floor.backwardDeg) };
}

/** The subsets of k of `total` batches, each ascending: all of them in order, or 20 different ones. */
function subsetsOf(total: number, k: number): { readonly subsets: readonly (readonly number[])[]; readonly isComplete: boolean } {
  if (choose(total, k) <= MOST_SUBSETS) return { subsets: combinations(range(total), k), isComplete: true };
  const drawn = new Map<string, readonly number[]>();
  for (let draw = 0; drawn.size < MOST_SUBSETS; draw++) {
    const left = range(total);
    const subset = range(k).map((i) => left.splice(below(left.length, philox4x32([i, draw, k, total], [SEED, 0])[0]), 1)[0]!).sort((a, b) => a - b);
    drawn.set(subset.join(), subset);
  }
  return { subsets: [...drawn.values()], isComplete: false };
}

function combinations(from: readonly number[], k: number): number[][] {
  if (k === 0) return [[]];
  return from.flatMap((first, i) => combinations(from.slice(i + 1), k - 1).map((rest) => [first, ...rest]));
}

function choose(n: number, k: number): number {
  return range(k).reduce((product, i) => (product * (n - i)) / (i + 1), 1);
}

function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

function spreadOf(values: readonly (number | null)[]): Spread | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length ? null : spread(known);
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}
