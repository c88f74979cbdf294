/**
 * What a probe found, as plain data: written by src/probe, drawn by the page, stored, exported. Facts, never edited.
 * Units are in the names; angles are degrees. Definitions: method.md 1 and 7.
 */
import type { PolicyOptions, PassScheme, SiteId } from './policy';

/** One run of one policy on one batch, against that batch's own reference gradient. */
export interface BatchMeasure {
  readonly angleDeg: number;
  readonly relativeShift: number;
  readonly lengthRatio: number;
  readonly rotationShare: number;
  readonly lossChange: number;
  /** |out_q - out|^2 / |out|^2 of the pass's own output, its inputs being the reference's; null for a joint policy. */
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
  readonly elapsedMs: number;
}

/** A site that cannot be measured is a result too, with its reason. */
export interface Failed {
  readonly status: 'failed';
  readonly errorName: string;
  readonly reason: string;
}

export type SiteResult = Measured | Failed;

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
  readonly recipe: PassScheme;
  readonly options: PolicyOptions;
  readonly provenance: Provenance;
  readonly referenceLoss: readonly number[];
  readonly floor: NoiseFloor | null;
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
  readonly joint: Readonly<Record<string, JointResult>>;
}

/** A whole plan at once. planHash names the policy; predicted uses clean angles and adds the floor once (method.md 5). */
export interface JointResult {
  readonly planHash: string;
  readonly lowSites: number;
  readonly result: SiteResult;
}
