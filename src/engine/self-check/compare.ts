/**
 * The two classes of comparison (engine.md 4.3). Exact: every word. Tolerance: direction, length and every element,
 * with limits that a right kernel cannot reach on a device that keeps WGSL's promises (ux.md 7, report 1).
 */
import { bitsOf } from '../../numerics/float-bits';
import { fail } from './check';

/** A BF16 element may be off by one ulp, or by this share of its row's largest (sums that cancel). */
const ROW_SHARE = 2 ** -8;
/** Share of BF16 elements that may differ at all: f32 sums in another order flip few roundings; a wrong tie rule flips more. */
const DIFFERENT_SHARE = 0.05;
/** An FP32 element may be off by this share of the tensor's largest: 2 K 2^-24 of its terms, K about 100. */
const F32_SHARE = 2 ** -16;
const COSINE = 0.99999;
const NORM_RATIO = 1e-3;

const isNaNBits = (bits: number): boolean => (bits & 0x7fffffff) > 0x7f800000;
const hex = (bits: number): string => `0x${bits.toString(16).padStart(8, '0')}`;

/** Fails unless all words agree; `float`: all NaN are one. -> how many were compared. */
export function expectWords(what: string, got: ArrayLike<number>, expected: ArrayLike<number>, float = false, inputs?: ArrayLike<number>): number {
  if (got.length !== expected.length) fail(`${what}: expected ${expected.length} words, got ${got.length}`);
  let different = 0;
  let first = -1;
  let zeros = true;
  for (let i = 0; i < expected.length; i++) {
    const g = got[i] ?? 0;
    const e = expected[i] ?? 0;
    if (g !== 0) zeros = false;
    if (g === e || (float && isNaNBits(g) && isNaNBits(e))) continue;
    if (different === 0) first = i;
    different += 1;
  }
  if (different === 0) return expected.length;
  if (zeros) fail(`${what}: 0 everywhere`);
  const at = inputs ? `input ${hex(inputs[first] ?? 0)}` : `place ${first}`;
  fail(`${what}: ${different} of ${expected.length} differ, first at ${at}: expected ${hex(expected[first] ?? 0)}, got ${hex(got[first] ?? 0)}`);
}

/** Position of a BF16 value among all BF16 values, so that differences are in ulp. */
function bf16Place(x: number): number {
  const bits = bitsOf(x);
  const magnitude = (bits & 0x7fffffff) >>> 16;
  return bits >>> 31 ? -magnitude : magnitude;
}

/** Fails unless `got` is a finite tensor of the direction and length of `expected`. */
function expectDirection(what: string, got: Float64Array, expected: Float64Array): void {
  if (got.length !== expected.length) fail(`${what}: expected ${expected.length} elements, got ${got.length}`);
  let gg = 0;
  let ee = 0;
  let ge = 0;
  let nonFinite = 0;
  got.forEach((g, i) => {
    const e = expected[i] ?? NaN;
    if (!Number.isFinite(g)) nonFinite += 1;
    gg += g * g;
    ee += e * e;
    ge += g * e;
  });
  if (ee === 0) fail(`${what}: not checked, because only zeros arrive`, true);
  if (!Number.isFinite(ee)) fail(`${what}: not checked, because Inf or NaN arrive`, true);
  if (nonFinite > 0) fail(`${what}: ${nonFinite} of ${got.length} elements are Inf or NaN`);
  if (gg === 0) fail(`${what}: 0 everywhere`);
  const cosine = ge / Math.sqrt(gg * ee);
  const ratio = Math.sqrt(gg / ee);
  if (!(cosine > COSINE)) fail(`${what}: expected a cosine above ${COSINE}, got ${cosine.toPrecision(6)}`);
  if (!(Math.abs(ratio - 1) <= NORM_RATIO)) fail(`${what}: expected a length ratio of 1 within ${NORM_RATIO}, got ${ratio.toPrecision(6)}`);
}

/** What a tolerance comparison saw: for the detail lines. */
export interface Seen {
  readonly elements: number;
  readonly different: number;
}

/** BF16 tensors [rows, cols]. -> how many elements, how many not bit-equal. */
export function expectBf16(what: string, got: Float64Array, expected: Float64Array, cols: number): Seen {
  expectDirection(what, got, expected);
  let different = 0;
  let off = 0;
  let worst = 0;
  for (let first = 0; first < got.length; first += cols) {
    const largest = expected.subarray(first, first + cols).reduce((m, x) => Math.max(m, Math.abs(x)), 0);
    for (let i = first; i < first + cols; i++) {
      const [g, e] = [got[i] ?? NaN, expected[i] ?? NaN];
      if (g === e) continue;
      different += 1;
      const ulps = Math.abs(bf16Place(g) - bf16Place(e));
      if (ulps <= 1 || Math.abs(g - e) <= ROW_SHARE * largest) continue;
      off += 1;
      worst = Math.max(worst, ulps);
    }
  }
  if (off > 0) fail(`${what}: ${off} of ${got.length} elements off, the worst by ${worst} BF16 ulp`);
  if (different > DIFFERENT_SHARE * got.length) fail(`${what}: ${different} of ${got.length} elements rounded otherwise, expected at most ${DIFFERENT_SHARE * 100} %`);
  return { elements: got.length, different };
}

/** FP32 tensors. */
export function expectF32(what: string, got: Float64Array, expected: Float64Array): Seen {
  expectDirection(what, got, expected);
  const limit = F32_SHARE * expected.reduce((m, x) => Math.max(m, Math.abs(x)), 0);
  let off = 0;
  let worst = 0;
  got.forEach((g, i) => {
    const difference = Math.abs(g - (expected[i] ?? NaN));
    if (!(difference <= limit)) off += 1;
    worst = Math.max(worst, difference);
  });
  if (off > 0) fail(`${what}: ${off} of ${got.length} elements off, the worst by ${worst.toExponential(2)} where ${limit.toExponential(2)} is allowed`);
  return { elements: got.length, different: 0 };
}

/** Fails unless |got - expected| <= bound at every element; NaN fails. -> the worst share of its bound. */
export function expectWithin(what: string, got: ArrayLike<number>, expected: ArrayLike<number>, bound: ArrayLike<number>): number {
  if (got.length !== expected.length) fail(`${what}: expected ${expected.length} elements, got ${got.length}`);
  let off = 0;
  let worst = 0;
  let zeros = true;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((got[i] ?? NaN) - (expected[i] ?? NaN));
    if (got[i] !== 0) zeros = false;
    if (!(difference <= (bound[i] ?? NaN))) off += 1;
    if (difference > 0) worst = Math.max(worst, difference / (bound[i] ?? NaN));
  }
  if (off > 0 && zeros) fail(`${what}: 0 everywhere`);
  if (off > 0) fail(`${what}: ${off} of ${expected.length} elements beyond the rounding bound, the worst by ${worst.toPrecision(3)} times`);
  return worst;
}
