/** Rounding of float64 values to BF16 by way of FP32, as `x.float().bfloat16()` in the PyTorch reference (method.md 2). */
import type { Rounding } from './op';

const f32 = new Float32Array(1);
const bits = new Uint32Array(f32.buffer);

/** x -> nearest FP32 -> nearest BF16, ties to even; overflow gives Inf, NaN stays NaN (formats.md 1.3). */
export function roundBf16(x: number): number {
  f32[0] = x;
  const u = bits[0] ?? 0;
  if ((u & 0x7fffffff) > 0x7f800000) return NaN;
  bits[0] = (u + 0x7fff + ((u >>> 16) & 1)) & 0xffff0000;
  return f32[0];
}

/** Rounds every element in place under `bf16`; returns the same array. */
export function roundInPlace(x: Float64Array, rounding: Rounding): Float64Array {
  if (rounding === 'bf16') for (let i = 0; i < x.length; i++) x[i] = roundBf16(x[i] ?? 0);
  return x;
}

/** A rounded copy under `bf16`, the array itself under `none`. */
export function rounded(x: Float64Array, rounding: Rounding): Float64Array {
  return rounding === 'bf16' ? roundInPlace(x.slice(), rounding) : x;
}
