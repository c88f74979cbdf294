/**
 * The power-of-two block scale E8M0: code c stands for 2^(c - 127), 0xFF for NaN; no sign and no zero.
 * Source: formats.md 1.1 and 2.4 (TransformerEngine's `float_to_e8m0` is "up").
 */
import { F32_INF_BITS, F32_NAN_BITS, fromBits } from './float-bits';
import { FORMATS } from './formats';

export const E8M0_ROUNDINGS = ['up', 'down', 'nearest'] as const;
export type E8m0Rounding = (typeof E8M0_ROUNDINGS)[number];

const { maxCode, nanCode } = FORMATS.E8M0;

/**
 * FP32 bits of a value >= 0 -> code.
 * up: smallest power of two >= x; zero 0x00, Inf 0xFE, NaN 0xFF. down: largest power of two <= x; Inf and NaN 0xFF.
 * nearest: ties up; zero, NaN and what is nearest to 2^128 give 0xFF.
 */
export function encodeE8m0(bits: number, rounding: E8m0Rounding): number {
  const field = bits >>> 23;
  const mantissa = bits & 0x7fffff;
  if (rounding === 'down') return Math.min(field, nanCode);
  if (rounding === 'up') {
    if (bits > F32_INF_BITS) return nanCode;
    if (bits === F32_INF_BITS) return maxCode;
    // 2^-127 is the FP32 subnormal 0x400000: what does not exceed it is code 0.
    const above = field === 0 ? mantissa > 0x400000 : mantissa > 0;
    return above && field < maxCode ? field + 1 : field;
  }
  if (bits === 0 || field >= nanCode) return nanCode;
  return field === 0 ? Number(mantissa >= 0x600000) : (bits + 0x400000) >>> 23;
}

/** Code -> FP32 value 2^(c - 127), exact; code 0 is the FP32 subnormal 2^-127. */
export function decodeE8m0(code: number): number {
  return fromBits(code === nanCode ? F32_NAN_BITS : code === 0 ? 0x00400000 : code << 23 >>> 0);
}

/** Code -> 2^(127 - c), the factor before the cast; for 0xFE the FP32 subnormal 2^-127. */
export function reciprocalE8m0(code: number): number {
  return code === nanCode ? fromBits(F32_NAN_BITS) : decodeE8m0(maxCode - code);
}
