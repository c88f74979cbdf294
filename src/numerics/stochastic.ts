/**
 * Stochastic rounding to E2M1 with 8 random bits an element, TransformerEngine's software rule, and where the bits come
 * from: Philox addressed by tensor, copy, step and draw, so CPU and GPU draw the same ones in any order.
 * Source: formats.md 2.8.
 */
import { philox4x32 } from '../base/random';
import { F32_INF_BITS } from './float-bits';
import { FORMATS } from './formats';

/** What addresses the random bytes of one quantized copy; each a u32. */
export interface RandomKey {
  readonly seed: number;
  /** streamOf the tensor and its copy. */
  readonly stream: number;
  /** Batch of a probe or optimizer step. */
  readonly step: number;
  /** Numbers repeated draws of one batch. */
  readonly draw: number;
}

/** Stream of one quantized copy: tensor number = index of the node in graph order; row copy (dgrad) or col copy (wgrad). */
export function streamOf(tensorNumber: number, copy: 'row' | 'col'): number {
  return 2 * tensorNumber + (copy === 'col' ? 1 : 0);
}

/** Elements one Philox call serves: 16 output bytes. */
const CALL_ELEMENTS = 16;

/**
 * The random byte of every element of a tensor [rows, cols] as handed to the quantizer. With width = 16 ceil(cols / 16)
 * and i = row * width + col: counter (i >> 4, step, draw, 0), key (seed, stream), byte i & 15, little end first.
 */
export function randomBytes(rows: number, cols: number, { seed, stream, step, draw }: RandomKey): Uint8Array {
  const calls = Math.ceil(cols / CALL_ELEMENTS);
  const bytes = new Uint8Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    for (let call = 0; call < calls; call++) {
      const words = philox4x32([(r * calls + call) >>> 0, step, draw, 0], [seed, stream]);
      const first = call * CALL_ELEMENTS;
      for (let j = 0; j < CALL_ELEMENTS && first + j < cols; j++) bytes[r * cols + first + j] = (words[j >> 2] ?? 0) >>> (8 * (j & 3));
    }
  }
  return bytes;
}

/** 1 and 6 in units of 2^-26. */
const ONE = 1 << 26;
const SIX = 6 * ONE;
const SIX_BITS = 0x40c00000;

/**
 * FP32 bits and a random byte -> E2M1 code. t = fl(|x| + byte/256 * step), step 0.5 below 2, 1 below 4, else 2; t is rounded
 * down to the grid and clamped to 6; the sign is kept; NaN becomes +6. In units of 2^-26 values from 0.5 up are exact
 * and smaller ones lose only what cannot matter, except that FP32 lifts t = 0.5 - 2^-26 to 0.5: that is the `+ 1`.
 */
export function encodeE2m1Stochastic(bits: number, byte: number): number {
  const u = bits & 0x7fffffff;
  if (u > F32_INF_BITS) return FORMATS.E2M1.nanCode;
  const field = u >>> 23;
  const significand = (u & 0x7fffff) | 0x800000;
  // |x| = significand * 2^(field - 150): field 124 is 0.125 to 0.25, already in units of 2^-26.
  let fixed = 0;
  if (u >= SIX_BITS) fixed = SIX;
  else if (field > 124) fixed = significand << (field - 124);
  else if (field > 0) fixed = significand >>> Math.min(124 - field, 24);
  const step = fixed >= 4 * ONE ? 2 * ONE : fixed >= 2 * ONE ? ONE : ONE / 2;
  const t = fixed + step / 256 * byte + (fixed < ONE / 2 ? 1 : 0);
  const code = t >= SIX ? 7 : t >= 4 * ONE ? 6 : t >= 2 * ONE ? 2 + (t >>> 26) : t >>> 25;
  return ((bits >>> 31) << 3) | code;
}
