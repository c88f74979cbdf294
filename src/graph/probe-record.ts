/**
 * What a probe found, as plain data: written by src/probe, drawn by the page, stored, exported. Facts, never edited.
 * Units are in the names; angles are degrees. Definitions: method.md 1 and 7.
 */
import type { PolicyOptions, RecipeName, SiteId } from './policy';

/** One run of one policy on one batch, against that batch's own reference gradient. */
export interface BatchMeasure {
  readonly angleDeg: number;
  readonly relativeShift: number;
  readonly lengthRatio: number;
  readonly rotationShare: number;
  readonly lossChange: number;
  /**
   * |out_q - out|^2 / |out|^2 of the pass's own output, its inputs being the reference's; of a `:out` site the rounded
   * tensor's; of a plan the sum over its low sites (method.md 7). null where it was not asked for or does not exist.
   */
  readonly localError: number | null;
}

/** The measure over batches: angle = atan(sqrt(mean tan^2)), relative shift RMS, the others means. */
export interface Measured {
  readonly status: 'measured';
  readonly angleDeg: number;
  /** tan^2 clean = max(0, tan^2 raw - floor^2); wgrad has no floor. */
  readonly cleanAngleDeg: number;
  /** Standard error over batches; null where there is only one. */
  readonly angleSeDeg: number | null;
  readonly belowNoise: boolean;
  readonly relativeShift: number;
  readonly lengthRatio: number;
  readonly rotationShare: number;
  readonly lossChange: number;
  readonly localError: number | null;
  /** "Where the gradient turns": angle restricted to one parameter tensor, and to one layer ("outside" = not in a block). */
  readonly blockAngleDeg: Readonly<Record<string, number>>;
  readonly layerAngleDeg: Readonly<Record<string, number>>;
  readonly perBatch: readonly BatchMeasure[];
  /** What of the shift stays (method.md 1); absent where it was not asked for. */
  readonly persistent?: Persistence;
  readonly elapsedMs: number;
}

/**
 * The part of a shift that does not average out: persistent^2 = max(0, (|sum d|^2 - sum |d|^2) / (n (n - 1))) over n draws.
 * A measure that does not exist says why.
 */
export interface PersistentShift {
  readonly draws: number;
  /** persistent / RMS of |g*| over the draws. */
  readonly relative: number;
  /** Jackknife standard error of `relative` over the draws, shift and reference left out together. */
  readonly standardError: number;
  /** persistent^2 / mean |d|^2: the share of the squared shift that stays, 0..1 up to noise. */
  readonly share: number;
}

export interface Persistence {
  /** Draws are the calibration batches at one set of weights; at least 8. */
  readonly overBatches: PersistentShift | { readonly reason: string };
  /** Draws are repeated stochastic roundings of the first batch; only under `sr`. */
  readonly overDraws: PersistentShift | { readonly reason: string };
}

/** A site that cannot be measured is a result too, with its reason. */
export interface Failed {
  readonly status: 'failed';
  readonly errorName: string;
  readonly reason: string;
}

export type SiteResult = Measured | Failed;

/** What other methods would say of a site from tensors of the reference run and the site's own output alone (method.md 7). Costs no run. */
export interface SiteScores {
  /**
   * First order (ModelOpt): sum over batches and elements of clamp(g * (y_low - y), -1e10, 1e10)^2, g the gradient that
   * arrives at y; of a `:out` site y is the rounded tensor. null for dgrad and wgrad, whose error it cannot see, and
   * where a sum overflows FP32.
   */
  readonly firstOrder: number | null;
  /**
   * SNIP-like, mean over batches. fprop and `:out`: loss divergence |g| |dy| / (sqrt(n) L), n the elements of y. wgrad:
   * weight divergence |d dw| / |g*|. dgrad: (|d dx| / |dx|) |g_below| / |g*|, g_below being the gradient of all parameters
   * that the backward pass reaches through this dx. null where it does not exist (zero or overflow).
   */
  readonly snip: number | null;
}

/** RMS over batches and flipped nodes of tan(angle) of reference runs with one BF16 ulp flipped, as angles. */
export interface NoiseFloor {
  readonly forwardDeg: number;
  readonly backwardDeg: number;
  readonly perRun: readonly { readonly batch: number; readonly node: string; readonly what: 'y' | 'dy'; readonly angleDeg: number }[];
}

export interface Provenance {
  readonly appVersion: string;
  readonly device: string;
  readonly isFallbackAdapter: boolean;
  readonly browser: string;
  /** Identity of weights and configuration (data/hash `modelHash`), and of the token ids, `sha256:<hex>`. */
  readonly modelSha256: string;
  readonly tokensSha256: string;
  readonly modelName: string;
  readonly dataName: string;
  readonly seed: number;
  readonly batches: number;
  readonly sequences: number;
  readonly tokens: number;
  /** ISO 8601, UTC; not part of any hash. */
  readonly startedAt: string;
}

export const PROBE_SCHEMA = 'bendscope-probe/1';

export interface ProbeRecord {
  readonly schema: typeof PROBE_SCHEMA;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly provenance: Provenance;
  readonly referenceLoss: readonly number[];
  readonly floor: NoiseFloor | null;
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
  /** By site: every site of the recipe low except this one (method.md 5); only sites asked for. */
  readonly leaveOneOut?: Readonly<Record<SiteId, SiteResult>>;
  readonly joint: Readonly<Record<string, JointResult>>;
  /** By site; only sites asked for. */
  readonly scores?: Readonly<Record<SiteId, SiteScores>>;
}

/** A whole plan at once. planHash names the policy; predicted uses clean angles and adds the floor once (method.md 5). */
export interface JointResult {
  readonly planHash: string;
  readonly lowSites: number;
  readonly result: SiteResult;
}
