/**
 * A policy says for every site which format it runs in (method.md 1); a plan is a policy a person edits.
 * Site ids: `<node>:fprop|dgrad|wgrad` (method.md 3). What is not named runs in the reference precision.
 */
export type SiteId = string;
/** Pass schemes this build can measure (method.md 4); further schemes are further names here and one row in SCHEMES. */
export const PASS_SCHEMES = ['nvfp4'] as const;
export type PassScheme = (typeof PASS_SCHEMES)[number];
/** What a plan can hold for a site: high precision (BF16) or a scheme. */
export type SiteFormat = 'bf16' | PassScheme;

export interface PolicyOptions {
  /** 1x16 instead of 16x16 NVFP4 weight blocks. */
  readonly weights1d?: boolean;
}

export interface Policy {
  /** `bf16`: BF16 mixed precision; `fp32`: no rounding anywhere, for parity tests (then passes must be empty). */
  readonly reference: 'bf16' | 'fp32';
  readonly passes: Readonly<Record<SiteId, PassScheme>>;
  readonly options: PolicyOptions;
}

export const REFERENCE_POLICY: Policy = { reference: 'bf16', passes: {}, options: {} };
