/**
 * How a target's limits change a plan: always to the higher precision. Higher means more bits an element; formats of equal
 * width (per-tensor FP8 and MXFP8) are not ordered, so between them a site goes to BF16. Nothing is rounded to a format
 * that the plan itself does not use, because nobody measured it. Source: formats.md 6, ux.md 4.2.
 */
import { PASS_SCHEMES, type PassScheme } from '../../graph/policy';
import { PASSES, type Pass } from '../../graph/types';
import { FORMATS } from '../../numerics/formats';
import { operandFormat } from '../../numerics/schemes';

export type PassFormat = 'bf16' | PassScheme;
export type PassFormats = Readonly<Record<Pass, PassFormat>>;

/** Bits of an element of x: BF16 16, FP8 8, FP4 4. */
export function elementBits(format: PassFormat): number {
  return FORMATS[operandFormat(format === 'bf16' ? null : format, 'x').element].bits;
}

/** The lowest of `available` that is as high as every one of `formats`; BF16 is always available. */
function roundUp(formats: readonly PassFormat[], available: ReadonlySet<PassFormat>): PassFormat {
  const fits = (candidate: PassFormat): boolean => formats.every((format) => format === candidate || elementBits(candidate) > elementBits(format));
  const candidates = PASS_SCHEMES.filter((scheme) => available.has(scheme) && fits(scheme));
  return candidates.reduce<PassFormat>((best, scheme) => (elementBits(scheme) < elementBits(best) ? scheme : best), 'bf16');
}

/** What of a layer a target can set apart. */
export type Scope = 'gemm' | 'module' | 'forward';

export interface ScopeRule {
  /** Why passes are rounded though the library has their formats, after its name; null: they are not. */
  readonly reason: string | null;
  /** Each pass as the target runs it. */
  round(formats: PassFormats, available: ReadonlySet<PassFormat>): PassFormats;
}

const each = (format: (pass: Pass) => PassFormat): PassFormats => ({ fprop: format('fprop'), dgrad: format('dgrad'), wgrad: format('wgrad') });

export const SCOPES: Readonly<Record<Scope, ScopeRule>> = {
  gemm: { reason: null, round: (formats, available) => each((pass) => roundUp([formats[pass]], available)) },
  module: {
    reason: 'holds one format a layer, so a layer runs in the highest of its three passes',
    round: (formats, available) => {
      const format = roundUp(PASSES.map((pass) => formats[pass]), available);
      return each(() => format);
    },
  },
  forward: {
    reason: 'sets the forward pass only, so the backward passes run in BF16',
    round: (formats, available) => each((pass) => (pass === 'fprop' ? roundUp([formats.fprop], available) : 'bf16')),
  },
};
