/**
 * From a run's tensor sums to what method.md 1 defines: angle, relative shift, length ratio, rotation share, loss change,
 * and the same angle restricted to one tensor or one layer. A gradient that is not finite, or a reference that is zero,
 * yields a reason and never an angle.
 */
import { cleanAngle, gradientMetrics, poolAngles } from '../base/angle';
import { BendscopeError, toPlainError } from '../base/errors';
import type { Graph } from '../graph/types';
import type { BatchMeasure, Failed, Measured, SiteScores } from '../graph/probe-record';
import type { TensorSums } from '../engine/comparison';
import type { RunResult } from '../engine/run';
import { batchScores } from './scores';

/** One run against one batch's reference. */
export interface RunMeasure extends BatchMeasure {
  readonly tensorAngleDeg: Readonly<Record<string, number>>;
  readonly layerAngleDeg: Readonly<Record<string, number>>;
  /** |g*|^2 */
  readonly referenceSquared: number;
  /** Of the site whose local error the run has taken. */
  readonly scores: SiteScores | null;
}

/** The key of parameters outside the transformer blocks in layerAngleDeg. */
export const OUTSIDE = 'outside';

function total(sums: Iterable<TensorSums>): TensorSums {
  let gg = 0;
  let rr = 0;
  let dd = 0;
  let dr = 0;
  let nonFinite = 0;
  for (const s of sums) {
    gg += s.gg;
    rr += s.rr;
    dd += s.dd;
    dr += s.dr;
    nonFinite += s.nonFinite;
  }
  return { gg, rr, dd, dr, nonFinite };
}

/** Throws E-RUN-02 for a void run: Inf or NaN operands, gradient or loss, or a gradient that is zero everywhere. */
export function assertFinite(run: RunResult, what: string): void {
  const sums = total(run.sums.values());
  const where = [...run.sums].find(([, s]) => s.nonFinite > 0)?.[0];
  const fault = run.nonFiniteOperands > 0
    ? `${run.nonFiniteOperands} Inf or NaN elements in quantized operands`
    : sums.nonFinite > 0
      ? `${sums.nonFinite} Inf or NaN elements in the gradient, the first in ${where ?? 'no tensor'}`
      : !Number.isFinite(run.loss)
        ? `a loss of ${run.loss}`
        : !Number.isFinite(sums.gg) || !Number.isFinite(sums.dd)
          ? 'a gradient too large for FP32 sums'
          : sums.gg === 0
            ? 'a gradient that is zero everywhere'
            : null;
  if (fault !== null) throw new BendscopeError('E-RUN-02', `${what}: expected a finite gradient, got ${fault}`, 'The angle of this run does not exist. Look at the tensor named, at the weights for NaN and Inf, or leave the site in BF16.');
}

/** A fault of this one site -> its result. A lost device, a cancelled run and our own faults are not the site's: thrown on. */
export function failed(thrown: unknown): Failed {
  const { name, message } = toPlainError(thrown);
  if (name !== 'E-RUN-02') throw thrown;
  return { status: 'failed', errorName: name, reason: message };
}

export function measureRun(graph: Graph, run: RunResult, reference: RunResult, what: string): RunMeasure {
  assertFinite(run, what);
  const whole = total(run.sums.values());
  const metrics = gradientMetrics({ ...whole, gr: 0 });
  const layers = layerOfParam(graph);
  const byLayer = new Map<string, TensorSums[]>();
  const tensorAngleDeg: Record<string, number> = {};
  for (const { name } of graph.params) {
    const sums = run.sums.get(name);
    if (!sums || sums.rr === 0) continue;
    tensorAngleDeg[name] = gradientMetrics({ ...sums, gr: 0 }).angleDeg;
    const layer = layers.get(name) ?? OUTSIDE;
    byLayer.set(layer, [...(byLayer.get(layer) ?? []), sums]);
  }
  const layerAngleDeg: Record<string, number> = {};
  for (const [layer, list] of byLayer) layerAngleDeg[layer] = gradientMetrics({ ...total(list), gr: 0 }).angleDeg;
  return {
    angleDeg: metrics.angleDeg,
    relativeShift: metrics.relativeShift,
    lengthRatio: metrics.lengthRatio,
    rotationShare: metrics.rotationShare,
    lossChange: run.loss - reference.loss,
    localError: run.localError,
    tensorAngleDeg,
    layerAngleDeg,
    referenceSquared: whole.rr,
    scores: run.output ? batchScores(graph, run.output, reference) : null,
  };
}

/** Parameter name -> the layer whose nodes use it, as a string; OUTSIDE for tables, final norm and head. */
export function layerOfParam(graph: Graph): Map<string, string> {
  const out = new Map<string, string>();
  for (const node of graph.nodes) for (const name of Object.values(node.params)) out.set(name, node.layer === null ? OUTSIDE : `${node.layer}`);
  return out;
}

/**
 * Batches -> the reported measure (method.md 1): angle atan(sqrt(mean tan^2)) with its standard error, relative shift
 * RMS, the others means; the clean angle is formed once, after the mean. floorDeg: the pooled floor that applies, 0 for
 * wgrad sites. A local error that one batch does not have is none.
 */
export function pool(runs: readonly RunMeasure[], floorDeg: number, elapsedMs: number): Measured {
  const mean = (of: (r: RunMeasure) => number): number => runs.reduce((sum, r) => sum + of(r), 0) / runs.length;
  const angle = poolAngles(runs.map((r) => r.angleDeg));
  const pooled = (of: (r: RunMeasure) => Readonly<Record<string, number>>): Record<string, number> => {
    // A tensor whose reference gradient vanishes in one batch has no angle there: pooled over the others.
    const keys = new Set(runs.flatMap((r) => Object.keys(of(r))));
    return Object.fromEntries([...keys].map((key) => [key, poolAngles(runs.map((r) => of(r)[key]).filter((a) => a !== undefined)).angleDeg]));
  };
  return {
    status: 'measured',
    angleDeg: angle.angleDeg,
    cleanAngleDeg: cleanAngle(angle.angleDeg, floorDeg),
    angleSeDeg: runs.length > 1 ? angle.angleSeDeg : null,
    belowNoise: angle.angleDeg < 2 * floorDeg,
    relativeShift: Math.sqrt(mean((r) => r.relativeShift ** 2)),
    lengthRatio: mean((r) => r.lengthRatio),
    rotationShare: mean((r) => r.rotationShare),
    lossChange: mean((r) => r.lossChange),
    localError: runs.every((r) => r.localError !== null) ? mean((r) => r.localError ?? 0) : null,
    blockAngleDeg: pooled((r) => r.tensorAngleDeg),
    layerAngleDeg: pooled((r) => r.layerAngleDeg),
    perBatch: runs.map(({ angleDeg, relativeShift, lengthRatio, rotationShare, lossChange, localError }) => ({ angleDeg, relativeShift, lengthRatio, rotationShare, lossChange, localError })),
    elapsedMs,
  };
}
