/** NVFP4 against every golden tensor, the vectors of formats.md 8.4, and by its properties. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitsOf, bitsView, countNonFinite, F32_MAX, fromBits } from './float-bits';
import { caseArray, caseInput, countDifferent, goldenCases } from './golden-formats';
import { nvfp4Alpha, nvfp4DecodedScale, nvfp4GemmOperand, nvfp4TensorScales, packNvfp4, quantizeNvfp4, unpackNvfp4, type Nvfp4Tensor } from './nvfp4';
import type { BlockShape } from './schemes';

const ROW: BlockShape = [1, 16];
const TILE: BlockShape = [16, 16];

describe('goldens, bit for bit', () => {
  expect(goldenCases.map((c) => c.scheme).sort()).toEqual([...Array<string>(14).fill('nvfp4_1d'), ...Array<string>(13).fill('nvfp4_2d')]);
  for (const golden of goldenCases) {
    it(golden.name, () => {
      const [rows, cols] = golden.shape;
      const x = caseInput(golden);
      const given = golden.options.tensorAmax === undefined ? undefined : fromBits(Number(golden.tensor.amaxBits));
      const q = quantizeNvfp4(x, rows, cols, golden.block, given);
      expect(countDifferent(q.codes, caseArray(golden, 'codes'), false), 'codes').toBe(0);
      expect(countDifferent(q.scales, caseArray(golden, 'scale'), false), 'scales').toBe(0);
      expect(countDifferent(bitsView(q.multipliers), caseArray(golden, 'multiplier'), true), 'multipliers').toBe(0);
      expect(countDifferent(bitsView(q.dequantized), caseArray(golden, 'dequantized'), true), 'dequantized').toBe(0);
      expect([bitsOf(q.tensor.amax), bitsOf(q.tensor.encode), bitsOf(q.tensor.decode)]).toEqual(
        [golden.tensor.amaxBits, golden.tensor.encodeBits, golden.tensor.decodeBits].map(Number),
      );
      expect(q.nonFinite).toBe(golden.input === 'nonfinite' ? countNonFinite(x) : 0);
      expect(golden.input !== 'nonfinite' || q.nonFinite > 0).toBe(true);
    });
  }
});

describe('formats.md 8.4 vectors', () => {
  /** One block under a given tensor amax. */
  const block = (values: readonly number[], amax: number): Nvfp4Tensor => quantizeNvfp4(Float32Array.from(values), 1, values.length, ROW, Math.fround(amax));
  const enc = (q: Nvfp4Tensor): number => bitsOf(q.multipliers[0] ?? 0);
  const decoded = (q: Nvfp4Tensor): number[] => Array.from(bitsView(q.dequantized));
  const check = (q: Nvfp4Tensor, scale: number, codes: number[], values?: number[]): void => {
    expect(q.scales[0]).toBe(scale);
    expect(Array.from(q.codes)).toEqual(codes);
    if (values) expect(Array.from(q.dequantized)).toEqual(values.map(Math.fround));
  };

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
    const zero = quantizeNvfp4(Float32Array.of(0, -0), 1, 2, ROW);
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
    const tile = quantizeNvfp4(x, 2, 16, TILE);
    expect([bitsOf(tile.tensor.encode), tile.scales[0]]).toEqual([bitsOf(336), 0x7e]);
    expect([...tile.dequantized.subarray(0, 4), tile.dequantized[16]]).toEqual([0, 0, 0.6666667, 1.3333334, 8].map(Math.fround));
    const row = block([0.3, 0.33, 0.34, 0.1], 8);
    check(row, 0x5a, [7, 7, 7, 3]);
    expect(decoded(row)).toEqual([0x3eb6db6e, 0x3eb6db6e, 0x3eb6db6e, 0x3db6db6e]);
  });
  it('29: a tiny tensor keeps the disagreement of TE', () => {
    const q = quantizeNvfp4(Float32Array.of(1e-36), 1, 1, ROW);
    check(q, 0x66, [7]);
    expect(q.tensor.encode).toBe(F32_MAX);
    expect(q.multipliers[0]).toBe(Math.fround(6.0764711e36));
    expect(Math.abs((q.dequantized[0] ?? 0) / 1.25e-37 - 1)).toBeLessThan(1e-6);
  });
  it('amax of Inf, and one whose decode overflows', () => {
    expect(nvfp4TensorScales(Infinity)).toEqual({ amax: Infinity, encode: 1, decode: 1 });
    const big = quantizeNvfp4(Float32Array.of(1e36, 0), 1, 2, ROW);
    expect(Array.from(big.dequantized)).toEqual([Infinity, NaN]);
  });
});

describe('properties', () => {
  const value = fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(-1e6), max: Math.fround(1e6) }), fc.constantFrom(0, -0, 1e-30, 6, -448));
  const matrix = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 70 })).chain(([rows, cols]) =>
    fc.array(value, { minLength: rows * cols, maxLength: rows * cols }).map((values) => ({ rows, cols, x: Float32Array.from(values) })),
  );

  it('sign symmetry: -x has the same scales and codes of the other sign', () => {
    fc.assert(fc.property(matrix, fc.constantFrom(ROW, TILE), ({ rows, cols, x }, shape) => {
      const a = quantizeNvfp4(x, rows, cols, shape);
      const b = quantizeNvfp4(x.map((v) => -v), rows, cols, shape);
      expect(b.scales).toEqual(a.scales);
      expect(b.codes).toEqual(a.codes.map((c) => c ^ 8));
    }), { numRuns: 30 });
  });

  it('monotone in a block, and 16x16 tiles are the same numbers transposed', () => {
    fc.assert(fc.property(matrix, ({ rows, cols, x }) => {
      const a = quantizeNvfp4(x, rows, cols, TILE);
      const transposed = Float32Array.from({ length: x.length }, (_, i) => x[(i % rows) * cols + Math.floor(i / rows)] ?? 0);
      const b = quantizeNvfp4(transposed, cols, rows, TILE);
      for (let r = 0; r < rows; r++) {
        for (let c = 0; c < cols; c++) {
          expect(Object.is(a.dequantized[r * cols + c], b.dequantized[c * rows + r])).toBe(true);
          const left = c % 16 === 0 ? null : r * cols + c - 1;
          if (left === null) continue;
          const order = Math.sign((x[left] ?? 0) - (x[left + 1] ?? 0));
          expect(order * ((a.dequantized[left] ?? 0) - (a.dequantized[left + 1] ?? 0))).toBeGreaterThanOrEqual(0);
        }
      }
    }), { numRuns: 20 });
  });

  it('idempotent where no element and no scale saturates', () => {
    // Under the same tensor amax a decoded block whose amax is 6 * s decodes to itself: E2M1 keeps its own values.
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 15, maxLength: 15 }), fc.integer({ min: 8, max: 0x7e }), (codes, scale) => {
      const unit = nvfp4DecodedScale(scale, 2688);
      const values = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
      const x = Float32Array.from([7, ...codes], (code) => (code & 8 ? -1 : 1) * (values[code & 7] ?? 0) * unit);
      const q = quantizeNvfp4(x, 1, 16, ROW, 2688);
      expect(q.scales[0]).toBe(scale);
      expect(Array.from(bitsView(q.dequantized))).toEqual(Array.from(bitsView(x)));
    }));
  });

  it('packed words hold the same codes; q * s times alpha is the decoded product', () => {
    fc.assert(fc.property(matrix, fc.constantFrom(ROW, TILE), ({ rows, cols, x }, shape) => {
      const q = quantizeNvfp4(x, rows, cols, shape);
      const back = unpackNvfp4(packNvfp4(q), rows, cols, shape);
      expect(back.codes).toEqual(q.codes);
      expect(back.scales).toEqual(q.scales);
      const operand = nvfp4GemmOperand(q);
      const tensor = q.tensor.amax / 2688;
      for (let i = 0; i < operand.length; i++) {
        const decoded = q.dequantized[i] ?? 0;
        expect(Math.abs((operand[i] ?? 0) * tensor - decoded)).toBeLessThanOrEqual(4 * 2 ** -24 * Math.abs(decoded) + 2 ** -140);
      }
    }), { numRuns: 30 });
  });

  it('alpha is fl(fl(amaxA * amaxB) / 7225344)', () => {
    expect(nvfp4Alpha(2688, 2688)).toBe(1);
    expect(nvfp4Alpha(0, 5)).toBe(0);
    expect(nvfp4Alpha(Math.fround(3.1), Math.fround(0.7))).toBe(Math.fround(Math.fround(Math.fround(3.1) * Math.fround(0.7)) / 7225344));
  });
});
