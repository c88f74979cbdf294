/**
 * The test vectors of formats.md 8.4: NVFP4, the random Hadamard transform, stochastic rounding. Vector 28 is missing: the
 * adaptive "4 over 6" scale is for a later version (formats.md 2.10). Columns of other projects (14, 18) are not ours.
 */
import { describe, expect, it } from 'vitest';
import { bitsOf, bitsView, F32_MAX } from './float-bits';
import { RHT_GROUP, RHT_SIGN_MASK, rht } from './hadamard';
import { nvfp4TensorScales } from './nvfp4';
import { quantize, type Quantized } from './quantize';
import { operandFormat } from './schemes';
import { encodeE2m1Stochastic } from './stochastic';

const ROW = operandFormat('nvfp4', 'x');
const TILE = operandFormat('nvfp4', 'w');

/** One block, under a given tensor amax. */
function block(values: readonly number[], amax?: number): Quantized {
  return quantize(Float32Array.from(values), 1, values.length, ROW, amax === undefined ? {} : { amax: Math.fround(amax) });
}
const enc = (q: Quantized): number => bitsOf(q.multipliers[0] ?? 0);
const decoded = (q: Quantized): number[] => Array.from(bitsView(q.dequantized));
function check(q: Quantized, scale: number, codes: readonly number[], values?: readonly number[]): void {
  expect(q.scales[0]).toBe(scale);
  expect(Array.from(q.codes)).toEqual(codes);
  if (values) expect(Array.from(q.dequantized)).toEqual(values.map(Math.fround));
}

describe('NVFP4', () => {
  it('14: TE order of operations', () => {
    const q = block([36, 10], 48);
    check(q, 0x7b, [7, 3]);
    expect(enc(q)).toBe(0x3e22e8ba);
    expect(decoded(q)).toEqual([0x4216db6e, 0x4116db6e]);
  });
  it('15, 16: ties of E2M1; amax 1', () => {
    const q = block([6, 5, 4.5, 3, 2.4, 1.2, 0.7, 0.3, -6, -0.2], 6);
    check(q, 0x7e, [7, 6, 6, 5, 4, 2, 1, 1, 0xf, 8], [6, 4, 4, 3, 2, 1, 0.5, 0.5, -6, -0]);
    expect([bitsOf(q.tensor.encode), enc(q)]).toEqual([0x43e00000, bitsOf(1)]);
    const one = block([1, 0.5, 0.25, 0.1], 1);
    check(one, 0x7e, [7, 5, 3, 1]);
    expect([bitsOf(one.tensor.encode), enc(one), decoded(one)[3]]).toEqual([0x45280000, bitsOf(6), 0x3daaaaab]);
  });
  it('17: one outlier in the tensor', () => {
    const q = block([0.01, 0.005, -0.002], 1000);
    check(q, 0x02, [7, 5, 0xb]);
    expect([bitsOf(q.tensor.encode), enc(q)]).toEqual([0x402c0831, 0x442c0831]);
    expect(decoded(q)).toEqual([0x3c0edb6e, 0x3b8edb6e, 0xbb0edb6e]);
  });
  it('18, 19: block scale underflow and its tie', () => {
    const q = block([0.002, -0.001], 1000);
    check(q, 0x00, [7, 0xf], [0, -0]);
    expect(q.multipliers[0]).toBe(F32_MAX);
    check(block([1, 0.5], 458752), 0x00, [7, 7], [0, 0]);
    const above = block([1.01, 0.5], 458752);
    check(above, 0x01, [5, 3], [1, 0.5]);
    expect(above.multipliers[0]).toBe(3);
  });
  it('20, 21: scale rounded down saturates the element, rounded up does not', () => {
    check(block([6.375, 3.1875], 2688), 0x38, [7, 5], [6, 3]);
    const up = block([6.4, 3.2], 2688);
    check(up, 0x39, [7, 5], [6.75, 3.375]);
    expect(enc(up)).toBe(0x3f638e39);
  });
  it('22, 23: zeros; a stale amax', () => {
    const zero = block([0, -0]);
    check(zero, 0, [0, 8], [0, -0]);
    expect(zero.tensor).toEqual({ amax: 0, encode: 1, decode: 1 });
    const zeroBlock = block([0, -0], 5);
    check(zeroBlock, 0, [0, 8], [0, -0]);
    expect(bitsOf(zeroBlock.tensor.encode)).toBe(0x44066666);
    const stale = block([2, 1, 0.25], 1);
    check(stale, 0x7e, [7, 7, 3], [1, 1, 0.25]);
    expect(stale.multipliers[0]).toBe(6);
  });
  it('24: a 2D tile against a 1D row', () => {
    const x = new Float32Array(32);
    x.set([0.3, 0.33, 0.34, 1]);
    x[16] = 8;
    const tile = quantize(x, 2, 16, TILE);
    expect([bitsOf(tile.tensor.encode), tile.scales[0]]).toEqual([bitsOf(336), 0x7e]);
    expect([...tile.dequantized.subarray(0, 4), tile.dequantized[16]]).toEqual([0, 0, 0.6666667, 1.3333334, 8].map(Math.fround));
    const row = block([0.3, 0.33, 0.34, 0.1], 8);
    check(row, 0x5a, [7, 7, 7, 3]);
    expect(decoded(row)).toEqual([0x3eb6db6e, 0x3eb6db6e, 0x3eb6db6e, 0x3db6db6e]);
  });
  it('29: a tiny tensor keeps the disagreement of TE', () => {
    const q = block([1e-36]);
    check(q, 0x66, [7]);
    expect(q.tensor.encode).toBe(F32_MAX);
    expect(q.multipliers[0]).toBe(Math.fround(6.0764711e36));
    expect(Math.abs((q.dequantized[0] ?? 0) / 1.25e-37 - 1)).toBeLessThan(1e-6);
  });
  it('amax of Inf, and one whose decode overflows (2.6)', () => {
    expect(nvfp4TensorScales(Infinity)).toEqual({ amax: Infinity, encode: 1, decode: 1 });
    expect(Array.from(block([1e36, 0]).dequantized)).toEqual([Infinity, NaN]);
  });
});

describe('random Hadamard transform', () => {
  const SIGNS = Array.from({ length: RHT_GROUP }, (_, i) => ((RHT_SIGN_MASK >> i) & 1 ? -1 : 1));
  const transformed = (x: readonly number[]): number[] => Array.from(rht(Float32Array.from(x), 1, RHT_GROUP));
  const unit = (at: number): number[] => SIGNS.map((_, i) => (i === at ? 16 : 0));

  it('25: it can hurt a single block', () => {
    const x = [16, ...Array<number>(15).fill(0.5)];
    const meanSquare = (y: ArrayLike<number>): number => x.reduce((sum, v, i) => sum + (v - (y[i] ?? NaN)) ** 2, 0) / RHT_GROUP;
    expect(meanSquare(block(x).dequantized)).toBeCloseTo(0.2344, 4);
    // The inverse, H16 / 4 then the signs, in float64 and from its definition: entries (-1)^popcount(i & j).
    const y = block(transformed(x)).dequantized;
    const odd = (n: number): boolean => n.toString(2).replaceAll('0', '').length % 2 === 1;
    const inverse = SIGNS.map((sign, j) => (sign / 4) * y.reduce((sum, v, i) => sum + (odd(i & j) ? -v : v), 0));
    expect(meanSquare(inverse)).toBeCloseTo(0.251, 4);
  });
  it('26: exact cases', () => {
    expect(SIGNS).toEqual([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1]);
    expect(transformed(unit(0))).toEqual(Array(16).fill(4));
    expect(transformed(unit(3))).toEqual([0, 1, 2, 3].flatMap(() => [-4, 4, 4, -4]));
    expect(transformed(Array<number>(16).fill(1))).toEqual([-1, 0, 1, 0, 1, 0, -1, 0, 1, 2, 1, 0, 1, 0, 1, -2]);
    expect(transformed(SIGNS)).toEqual([4, ...Array<number>(15).fill(0)]);
  });
});

describe('stochastic rounding', () => {
  const code = (x: number, byte: number): number => encodeE2m1Stochastic(bitsOf(x), byte);
  it.each([[2.4, 4, 154], [5, 6, 128], [1.75, 3, 128], [0.1, 0, 205], [1.9, 3, 52], [3.9, 5, 26], [4.5, 6, 192]])('27: %f rounds up from code %i iff the byte is at least %i', (x, below, threshold) => {
    for (let byte = 0; byte < 256; byte++) {
      expect(code(x, byte)).toBe(below + Number(byte >= threshold));
      expect(code(-x, byte)).toBe(8 + below + Number(byte >= threshold));
    }
  });
  it('27: 6, 7 and 0 always stay', () => {
    for (let byte = 0; byte < 256; byte++) expect([6, 7, 0, -0].map((x) => code(x, byte))).toEqual([7, 7, 0, 8]);
  });
});
