/**
 * A policy says for every site which format it runs in (method.md 1); a plan is a policy a person edits.
 * Site ids: `<node>:fprop|dgrad|wgrad` and `<node>:out` (method.md 3). What is not named runs in the reference precision.
 */
import { SCHEMES, type SchemeName, type SchemeOfKind } from '../numerics/schemes';

export type SiteId = string;
/** What a probe sweeps, a row of SCHEMES each: the passes of the block linears in one scheme, or the op groups. */
export type RecipeName = SchemeName;
export const RECIPE_NAMES = Object.keys(SCHEMES) as readonly RecipeName[];
/** Schemes a GEMM pass can run in (method.md 4), in the order of SCHEMES. */
export type PassScheme = SchemeOfKind<'pass'>;
export const PASS_SCHEMES: readonly [PassScheme, ...PassScheme[]] = RECIPE_NAMES.filter((name): name is PassScheme => SCHEMES[name].kind === 'pass') as [PassScheme, ...PassScheme[]];
/** The one scheme of op groups: E4M3 output kept packed, E5M2 arriving gradient, E4M3 GEMM weights (method.md 4). */
export const OUT_SCHEME: SchemeOfKind<'out'> = 'fp8-out';
/** What a plan can hold for a site: high precision (BF16) or a scheme. */
export type SiteFormat = 'bf16' | RecipeName;

/** Granularities of an op group's stored output. */
export const OUT_SCALINGS = ['tensor', 'block', 'mx'] as const;
export type OutScaling = (typeof OUT_SCALINGS)[number];

/** Switches; each is off (or its first value) by default, so that a probe is deterministic. Which scheme reads which: recipes.ts. */
export interface PolicyOptions {
  /** nvfp4: 1x16 instead of 16x16 weight blocks. */
  readonly weights1d?: boolean;
  /** nvfp4: random Hadamard transform of both wgrad operands along the tokens. */
  readonly rht?: boolean;
  /** nvfp4: stochastic rounding of dy, in dgrad and wgrad. */
  readonly sr?: boolean;
  /** Key of the random numbers of `sr`, an unsigned 32-bit integer; 0 by default. */
  readonly seed?: number;
  /** fp8, fp8-out per tensor: scales rounded down to powers of two. */
  readonly pow2?: boolean;
  /** mxfp8, mxfp4: the OCP rule floor(log2 amax) - emax instead of TransformerEngine's round-up. */
  readonly floor?: boolean;
  /** mxfp8: E5M2 instead of E4M3 for dy. */
  readonly e5m2Grad?: boolean;
  /** fp8-out: one scale a tensor, 1x128 blocks (weights 128x128), or MXFP8 1x32 blocks. */
  readonly out?: OutScaling;
}

export interface Policy {
  /** `bf16`: BF16 mixed precision; `fp32`: no rounding anywhere, for parity tests (then nothing may be low). */
  readonly reference: 'bf16' | 'fp32';
  readonly passes: Readonly<Record<SiteId, PassScheme>>;
  /** Node ids of the op groups whose `:out` is low, in graph order. */
  readonly outs?: readonly string[];
  readonly options: PolicyOptions;
}

export const REFERENCE_POLICY: Policy = { reference: 'bf16', passes: {}, options: {} };

/** What addresses the random numbers of one run: batch of a probe or optimizer step, and repeated draws of one batch. */
export interface RandomDraw {
  readonly step: number;
  readonly draw: number;
}
export const FIRST_DRAW: RandomDraw = { step: 0, draw: 0 };
