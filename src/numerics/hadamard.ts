/**
 * The random Hadamard transform of both wgrad operands: groups of 16 along the last axis (the tokens), y = v diag(sgn)
 * H16 / 4. Order: signs; four butterfly stages of FP32 additions, strides 1, 2, 4, 8; times 0.25; a zero is +0.
 * A ragged axis is padded with zeros and keeps the padded length: exact in the GEMM, both operands alike. formats.md 2.9.
 */
import { assert, BendscopeError } from '../base/errors';
import { bitsView } from './float-bits';
import { FORMATS } from './formats';
import { decodeBits, encodeBits } from './minifloat';

export const RHT_GROUP = 16;
/** Bit i: element i of a group changes its sign. */
export const RHT_SIGN_MASK = 0xd7e8;

/** Length of a transformed axis. */
export function rhtLength(cols: number): number {
  return Math.ceil(cols / RHT_GROUP) * RHT_GROUP;
}

/** BF16-valued x [rows, cols] -> the transform before its rounding to BF16, FP32 [rows, 16 ceil(cols / 16)]. Throws E-BUG-03. */
export function rhtUnrounded(x: Float32Array, rows: number, cols: number): Float32Array {
  if (x.length !== rows * cols || x.length === 0) {
    throw new BendscopeError('E-BUG-03', `rht: expected ${rows}x${cols} elements, got ${x.length}`, 'Pass a non-empty matrix with its shape.');
  }
  assert(bitsView(x).every((bits) => (bits & 0xffff) === 0), 'rht: expected BF16 values, got more precise ones');
  const width = rhtLength(cols);
  const out = new Float32Array(rows * width);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const value = x[r * cols + c] ?? 0;
      out[r * width + c] = (RHT_SIGN_MASK >>> (c % RHT_GROUP)) & 1 ? -value : value;
    }
    for (let first = r * width; first < (r + 1) * width; first += RHT_GROUP) butterflies(out.subarray(first, first + RHT_GROUP));
  }
  return out;
}

/** One group times H16 / 4 in place; storing into the array is the FP32 rounding of each addition. */
function butterflies(group: Float32Array): void {
  for (let stride = 1; stride < RHT_GROUP; stride *= 2) {
    for (let i = 0; i < RHT_GROUP; i++) {
      if (i & stride) continue;
      const a = group[i] ?? 0;
      const b = group[i + stride] ?? 0;
      group[i] = a + b;
      group[i + stride] = a - b;
    }
  }
  for (let i = 0; i < RHT_GROUP; i++) {
    const y = Math.fround((group[i] ?? 0) * 0.25);
    group[i] = y === 0 ? 0 : y;
  }
}

/** BF16-valued x [rows, cols] -> the transform rounded to BF16, FP32 [rows, 16 ceil(cols / 16)]: what is quantized. */
export function rht(x: Float32Array, rows: number, cols: number): Float32Array {
  const y = rhtUnrounded(x, rows, cols);
  const bits = bitsView(y);
  for (let i = 0; i < bits.length; i++) bits[i] = decodeBits(FORMATS.BF16, encodeBits(FORMATS.BF16, bits[i] ?? 0));
  return y;
}
