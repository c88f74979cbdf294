/** Element codecs against the NumPy goldens (all BF16 inputs, every tie and code +-1 ulp) and by their properties. Vectors: vectors.test.ts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeE8m0, E8M0_ROUNDINGS, encodeE8m0, reciprocalE8m0 } from './e8m0';
import { bitsOf, bitsView, countNonFinite } from './float-bits';
import { FORMATS, type Minifloat } from './formats';
import { countDifferent, elementArray, hasElementArray } from './golden-formats';
import { decodeBits, decodeTable, encode, encodeAll, encodeBits } from './minifloat';

const { BF16, E4M3, E5M2, E2M1, E2M3, E3M2 } = FORMATS;
const SMALL: readonly Minifloat[] = [E4M3, E5M2, E2M1, E2M3, E3M2];
const allBf16 = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => (i << 16) >>> 0);

describe('element codecs equal the goldens', () => {
  for (const format of SMALL) {
    it(`${format.name}: ties, codes, edges, all 65,536 BF16 values, decode table`, () => {
      const inputs: [string, Uint32Array, string][] = [
        ['ties and codes', elementArray(format.name, 'input'), 'codes'],
        ['all BF16', allBf16(65536), 'allBf16'],
      ];
      for (const [what, input, array] of inputs) {
        const codes = Array.from(input, (bits) => encodeBits(format, bits));
        expect(countDifferent(codes, elementArray(format.name, array), false), what).toBe(0);
        const nonSaturating = array === 'codes' ? 'codesNonSaturating' : 'allBf16NonSaturating';
        if (hasElementArray(format.name, nonSaturating)) {
          const loose = Array.from(input, (bits) => encodeBits(format, bits, false));
          expect(countDifferent(loose, elementArray(format.name, nonSaturating), false), `${what}, not saturating`).toBe(0);
        }
      }
      expect(countDifferent(bitsView(decodeTable(format)), elementArray(format.name, 'decode'), true)).toBe(0);
    });
  }

  it('BF16: midpoints in every binade, overflow, subnormals, NaN; every code survives a round trip', () => {
    const input = elementArray('BF16', 'input');
    expect(countDifferent(Array.from(input, (bits) => encodeBits(BF16, bits)), elementArray('BF16', 'codes'), false)).toBe(0);
    const codes = Array.from({ length: 65536 }, (_, code) => code);
    const decoded = codes.map((code) => decodeBits(BF16, code));
    expect(countDifferent(decoded, allBf16(65536), true)).toBe(0);
    const isNaNCode = (code: number): boolean => (code & 0x7fff) > 0x7f80;
    expect(countDifferent(decoded.map((bits) => encodeBits(BF16, bits)), codes.map((c) => (isNaNCode(c) ? 0x7fc0 : c)), false)).toBe(0);
  });

  it('E8M0: up, down, nearest on its inputs and on every BF16 value >= 0; decode and reciprocal', () => {
    for (const rounding of E8M0_ROUNDINGS) {
      const array = rounding[0]?.toUpperCase() + rounding.slice(1);
      const codes = Array.from(elementArray('E8M0', 'input'), (bits) => encodeE8m0(bits, rounding));
      expect(countDifferent(codes, elementArray('E8M0', rounding), false), rounding).toBe(0);
      const all = Array.from(allBf16(32768), (bits) => encodeE8m0(bits, rounding));
      expect(countDifferent(all, elementArray('E8M0', `allBf16${array}`), false), `${rounding}, all BF16`).toBe(0);
    }
    const codes = Array.from({ length: 256 }, (_, code) => code);
    expect(countDifferent(codes.map((c) => bitsOf(decodeE8m0(c))), elementArray('E8M0', 'decode'), true)).toBe(0);
    expect(countDifferent(codes.map((c) => bitsOf(reciprocalE8m0(c))), elementArray('E8M0', 'reciprocal'), true)).toBe(0);
  });
});

it('NaN becomes 0x7F, 0x7FC0, and the largest value where there is none', () => {
  expect([E4M3, E5M2, BF16, E2M1, E2M3, E3M2].map((f) => encodeBits(f, 0xffc00001))).toEqual([0x7f, 0x7f, 0x7fc0, 0x7, 0x1f, 0x1f]);
});

describe('properties', () => {
  const anyBits = fc.integer({ min: 0, max: 0xffffffff });
  const finiteBits = fc.integer({ min: 0, max: 0x7f800000 });
  for (const format of [...SMALL, BF16]) {
    it(`${format.name}: idempotent, monotone, symmetric in sign, nearest`, () => {
      fc.assert(
        fc.property(anyBits, (bits) => {
          const code = encodeBits(format, bits);
          expect(encodeBits(format, decodeBits(format, code))).toBe(code);
        }),
      );
      fc.assert(
        fc.property(finiteBits, finiteBits, (a, b) => {
          const [low, high] = a < b ? [a, b] : [b, a];
          expect(encodeBits(format, low)).toBeLessThanOrEqual(encodeBits(format, high));
          expect(encodeBits(format, (low | 0x80000000) >>> 0)).toBe(encodeBits(format, low) | (1 << (format.bits - 1)));
        }),
      );
      // No finite value of the format lies nearer; float64 holds the differences exactly enough for formats this narrow.
      const values = Array.from(decodeTable(format).subarray(0, format.maxCode + 1));
      const candidates = format.bits > 8 ? null : values;
      fc.assert(
        fc.property(fc.double({ min: 0, max: 1.03 * (values.at(-1) ?? 0), noNaN: true }), (double) => {
          const x = Math.fround(double);
          const code = encode(format, x, true);
          const error = Math.abs(x - (values[code] ?? 0));
          for (const value of candidates ?? [values[code - 1], values[code + 1]]) {
            if (value !== undefined) expect(error).toBeLessThanOrEqual(Math.abs(x - value));
          }
        }),
      );
    });
  }

  it('arrays and non-finite counts agree with single values', () => {
    const x = Float32Array.of(1, -6, Number.NaN, Infinity, -Infinity, 0.1, 3e38);
    expect(Array.from(encodeAll(E2M1, x))).toEqual(Array.from(x, (v) => encode(E2M1, v)));
    expect(encodeAll(BF16, x)).toBeInstanceOf(Uint16Array);
    expect(countNonFinite(x)).toBe(3);
  });
});
