/**
 * NVFP4's scales: one E4M3 a block under one FP32 a tensor, in TransformerEngine's order of operations. Each Math.fround
 * is one FP32 rounding; quotients are true divisions, because a reciprocal changes codes wherever data sit on ties.
 * Source: formats.md 2.6, 1.5. The quantizer that uses them: quantize.ts.
 */
import { F32_MAX } from './float-bits';
import { FORMATS } from './formats';
import { decode, encode } from './minifloat';

const { fround } = Math;
const { E2M1, E4M3 } = FORMATS;

/** Largest q * s of a block, 6 * 448: what the tensor amax is mapped to. */
export const NVFP4_RANGE = decode(E2M1, E2M1.maxCode) * decode(E4M3, E4M3.maxCode);
const SIXTH = fround(1 / decode(E2M1, E2M1.maxCode));
const RANGE_INVERSE = fround(1 / NVFP4_RANGE);

/** Tensor amax -> S_enc = min(fl(2688 / amax), FLT_MAX), S_dec = fl(1 / S_enc); S_enc is 1 for amax 0 or Inf. */
export function nvfp4TensorScales(amax: number): { readonly amax: number; readonly encode: number; readonly decode: number } {
  const quotient = Math.min(fround(NVFP4_RANGE / amax), F32_MAX);
  const encodeScale = amax === 0 || quotient === 0 ? 1 : quotient;
  return { amax, encode: encodeScale, decode: fround(1 / encodeScale) };
}

/** Block amax -> E4M3 code of min(fl(amax * fl(S_enc * fl(1/6))), FLT_MAX); no lower clamp, so 0x00 happens. */
export function nvfp4BlockScale(amax: number, encodeScale: number): number {
  return encode(E4M3, Math.min(fround(amax * fround(encodeScale * SIXTH)), F32_MAX));
}

/** Block scale code -> factor before the cast, min(fl(1 / fl(s * S_dec)), FLT_MAX); FLT_MAX where s is 0. */
export function nvfp4Multiplier(scale: number, decodeScale: number): number {
  return Math.min(fround(1 / fround(decode(E4M3, scale) * decodeScale)), F32_MAX);
}

/** Factor after the decode, fl(fl(s * amax) * fl(1/2688)); Inf for amax above 7.6e35. */
export function nvfp4DecodedScale(scale: number, amax: number): number {
  return fround(fround(decode(E4M3, scale) * amax) * RANGE_INVERSE);
}

/** What a GEMM multiplies an element by: s alone; q * s is exact in FP32. */
export function nvfp4OperandScale(scale: number): number {
  return decode(E4M3, scale);
}

/** What a GEMM on q*s pairs is multiplied by once: fl(fl(amaxA * amaxB) / 7225344). */
export function nvfp4Alpha(amaxA: number, amaxB: number): number {
  return fround(fround(amaxA * amaxB) / (NVFP4_RANGE * NVFP4_RANGE));
}
