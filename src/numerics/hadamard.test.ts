/** The transform against its definition in float64 and by what makes it exact in a GEMM. Goldens: golden-formats.test.ts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitsView } from './float-bits';
import { RHT_GROUP, RHT_SIGN_MASK, rht, rhtLength, rhtUnrounded } from './hadamard';

/** Few significant bits, so sums are exact in FP32 and inner products in float64. */
const integers = fc.integer({ min: 1, max: 50 }).chain((cols) => fc.tuple(
  fc.array(fc.integer({ min: -8, max: 8 }), { minLength: cols, maxLength: cols }),
  fc.array(fc.integer({ min: -8, max: 8 }), { minLength: cols, maxLength: cols }),
));
const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => Array.from(a).reduce((sum, v, i) => sum + v * (b[i] ?? 0), 0);

describe('rht', () => {
  it('is v diag(sgn) H16 / 4, entries (-1)^popcount(i & j), of every group, zero padded', () => {
    fc.assert(fc.property(integers, ([x]) => {
      const y = rhtUnrounded(Float32Array.from(x), 1, x.length);
      expect(y.length).toBe(rhtLength(x.length));
      for (let j = 0; j < y.length; j++) {
        const first = j - (j % RHT_GROUP);
        let sum = 0;
        for (let i = 0; i < RHT_GROUP; i++) {
          const ones = (i & j & (RHT_GROUP - 1)).toString(2).replaceAll('0', '').length + ((RHT_SIGN_MASK >> i) & 1);
          sum += (ones % 2 ? -1 : 1) * (x[first + i] ?? 0);
        }
        expect(y[j]).toBe(sum === 0 ? 0 : sum / 4);
      }
    }), { seed: 1 });
  });

  it('keeps inner products over a ragged axis: both wgrad operands are transformed alike', () => {
    fc.assert(fc.property(integers, ([a, b]) => {
      const transformed = (x: readonly number[]): Float32Array => rhtUnrounded(Float32Array.from(x), 1, x.length);
      expect(dot(transformed(a), transformed(b))).toBe(dot(a, b));
    }), { seed: 1 });
  });

  it('transforms every row on its own; zeros are +0; the result is BF16', () => {
    const x = Float32Array.from({ length: 3 * 21 }, (_, i) => (i < 21 ? -0 : (i % 7) - 3));
    const y = rht(x, 3, 21);
    for (let r = 0; r < 3; r++) expect(y.subarray(32 * r, 32 * r + 32)).toEqual(rht(x.slice(21 * r, 21 * r + 21), 1, 21));
    expect(bitsView(y).every((bits) => bits !== 0x80000000 && (bits & 0xffff) === 0)).toBe(true);
  });

  it('refuses values that are not BF16, and a shape that does not fit', () => {
    expect(() => rht(Float32Array.of(0.1), 1, 1)).toThrow('rht: expected BF16 values');
    expect(() => rht(Float32Array.of(1), 1, 2)).toThrow('rht: expected 1x2 elements, got 1');
  });
});
