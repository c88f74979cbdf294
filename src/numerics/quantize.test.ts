/**
 * quantize under every form an operand can have, by its properties: sign, order, ragged edges, transposed tiles, data already
 * quantized, packing, and what GEMMs and readers make of it. Exact results: golden-formats.test.ts, vectors*.test.ts.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitsView, fromBits } from './float-bits';
import { FORMATS } from './formats';
import { decode } from './minifloat';
import { nvfp4DecodedScale } from './nvfp4';
import { gemmAlpha, gemmOperand, outValues, packQuantized, quantize, unpackQuantized, type Quantized } from './quantize';
import { BF16_OPERAND, operandFormat, packedSize, SCALE_RULES } from './schemes';
import { OPERANDS } from './operands-fixture';

const value = fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(-1e6), max: Math.fround(1e6) }), fc.constantFrom(0, -0, 1e-30, 6, -448));
const matrix = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 140 })).chain(([rows, cols]) =>
  fc.array(value, { minLength: rows * cols, maxLength: rows * cols, size: 'max' }).map((values) => ({ rows, cols, x: Float32Array.from(values) })),
);
const operand = fc.constantFrom(...OPERANDS);
const RUNS = { numRuns: 8 * OPERANDS.length, seed: 1 };
const bitsArray = (x: Float32Array): number[] => Array.from(bitsView(x));

function transposed(x: Float32Array, rows: number, cols: number): Float32Array {
  return Float32Array.from({ length: x.length }, (_, i) => x[(i % rows) * cols + Math.floor(i / rows)] ?? 0);
}

describe('every operand form', () => {
  it('-x has the same scales, and codes of the other sign', () => {
    fc.assert(fc.property(matrix, operand, ({ rows, cols, x }, format) => {
      const a = quantize(x, rows, cols, format);
      const b = quantize(x.map((v) => -v), rows, cols, format);
      expect(b.scales).toEqual(a.scales);
      expect(b.codes).toEqual(a.codes.map((c) => c ^ (1 << (FORMATS[format.element].bits - 1))));
    }), RUNS);
  });

  it('keeps the order of elements that share a scale', () => {
    fc.assert(fc.property(matrix, operand, ({ rows, cols, x }, format) => {
      const q = quantize(x, rows, cols, format);
      let turned = 0;
      for (let i = 1; i < x.length; i++) {
        const [left, right] = [(i - 1) % cols, i % cols];
        if (right === 0 || Math.floor(left / format.block[1]) !== Math.floor(right / format.block[1])) continue;
        const order = Math.sign((x[i - 1] ?? 0) - (x[i] ?? 0));
        if (order * ((q.dequantized[i - 1] ?? 0) - (q.dequantized[i] ?? 0)) < 0) turned += 1;
      }
      expect(turned).toBe(0);
    }), RUNS);
  });

  it('a ragged edge is the same as padding with zeros', () => {
    fc.assert(fc.property(matrix, operand, ({ rows, cols, x }, format) => {
      const blocks = SCALE_RULES[format.scale].stored !== null;
      const [high, wide] = [Math.ceil(rows / format.block[0]) * format.block[0], Math.ceil(cols / format.block[1]) * format.block[1]];
      const [R, C] = blocks ? [high, wide] : [rows + 1, cols + 3];
      const padded = new Float32Array(R * C);
      for (let r = 0; r < rows; r++) padded.set(x.subarray(r * cols, (r + 1) * cols), r * C);
      const a = quantize(x, rows, cols, format);
      const b = quantize(padded, R, C, format);
      expect([b.scales, b.multipliers, b.tensor]).toEqual([a.scales, a.multipliers, a.tensor]);
      expect(a.codes.map((_, i) => b.codes[Math.floor(i / cols) * C + (i % cols)] ?? 255)).toEqual(a.codes);
    }), RUNS);
  });

  it('square tiles and whole tensors are the same numbers transposed', () => {
    const symmetric = OPERANDS.filter(({ block }) => block[0] === block[1]);
    expect(symmetric.map(({ block }) => block[0]).sort((a, b) => a - b)).toEqual([1, 1, 1, 1, 16, 128]);
    fc.assert(fc.property(matrix, fc.constantFrom(...symmetric), ({ rows, cols, x }, format) => {
      const a = quantize(x, rows, cols, format);
      const b = quantize(transposed(x, rows, cols), cols, rows, format);
      expect(bitsArray(transposed(b.dequantized, cols, rows))).toEqual(bitsArray(a.dequantized));
    }), RUNS);
  });

  it('packed words hold the same codes and scales; padding is 0', () => {
    fc.assert(fc.property(matrix, operand, ({ rows, cols, x }, format) => {
      const q = quantize(x, rows, cols, format);
      const packed = packQuantized(q);
      const size = packedSize(format, rows, cols);
      expect([packed.codes.length, packed.scales.length]).toEqual([size.codeWords, size.scaleWords]);
      expect(unpackQuantized(packed, rows, cols, format)).toEqual({ codes: q.codes, scales: q.scales });
      const ones = (words: Uint32Array): number => words.reduce((sum, w) => sum + w.toString(2).replaceAll('0', '').length, 0);
      expect(ones(packed.codes)).toBe(ones(Uint32Array.from(q.codes)));
      expect(ones(packed.scales)).toBe(ones(Uint32Array.from(q.scales)));
    }), RUNS);
  });

  it('readers of an op group see BF16(decoded); a GEMM operand times its share of alpha is the decoded value', () => {
    fc.assert(fc.property(matrix, operand, ({ rows, cols, x }, format) => {
      const q = quantize(x, rows, cols, format);
      const share = format.scale === 'nvfp4' ? q.tensor.amax / 2688 : q.tensor.decode;
      const [values, gemm] = [outValues(q), gemmOperand(q)];
      // FP32 roundings of the factor: none for block scales, one for a tensor scale, four in NVFP4's chain.
      const roundings = format.scale === 'nvfp4' ? 4 : format.scale === 'tensor' ? 1 : 0;
      const wrong = { notBf16: 0, notNearest: 0, operand: 0 };
      for (let i = 0; i < x.length; i++) {
        const decoded = q.dequantized[i] ?? 0;
        if (((bitsView(values)[i] ?? 0) & 0xffff) !== 0) wrong.notBf16 += 1;
        if (Math.abs((values[i] ?? 0) - decoded) > Math.abs(decoded) * 2 ** -8 + 2 ** -134) wrong.notNearest += 1;
        if (Math.abs((gemm[i] ?? 0) * share - decoded) > roundings * 2 ** -24 * Math.abs(decoded) + (roundings && 2 ** -140)) wrong.operand += 1;
      }
      expect(wrong).toEqual({ notBf16: 0, notNearest: 0, operand: 0 });
    }), RUNS);
  });
});

describe('data that is already quantized', () => {
  const exact = OPERANDS.filter(({ scale }) => ['tensor-pow2', 'block-pow2', 'mx-up', 'mx-floor'].includes(scale));
  it('keeps its values under power-of-two scales', () => {
    fc.assert(fc.property(matrix, fc.constantFrom(...exact), ({ rows, cols, x }, format) => {
      const once = quantize(x, rows, cols, format).dequantized;
      expect(bitsArray(quantize(once, rows, cols, format).dequantized)).toEqual(bitsArray(once));
    }), RUNS);
  });
  it('keeps its codes under an FP32 tensor scale, whose values move by an ulp', () => {
    fc.assert(fc.property(matrix, fc.constantFrom(...OPERANDS.filter(({ scale }) => scale === 'tensor')), ({ rows, cols, x }, format) => {
      const once = quantize(x, rows, cols, format);
      expect(quantize(once.dequantized, rows, cols, format).codes).toEqual(once.codes);
    }), RUNS);
  });
  it('keeps its values in NVFP4 where no element and no scale saturates', () => {
    // Under the same tensor amax a decoded block whose amax is 6 * s decodes to itself: E2M1 keeps its own values.
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 15, maxLength: 15 }), fc.integer({ min: 8, max: 0x7e }), (codes, scale) => {
      const unit = nvfp4DecodedScale(scale, 2688);
      const x = Float32Array.from([7, ...codes], (code) => decode(FORMATS.E2M1, code) * unit);
      const q = quantize(x, 1, 16, operandFormat('nvfp4', 'x'), { amax: 2688 });
      expect(q.scales[0]).toBe(scale);
      expect(bitsArray(q.dequantized)).toEqual(bitsArray(x));
    }), { seed: 1 });
  });
});

describe('alpha', () => {
  const of = (scheme: 'nvfp4' | 'fp8' | 'mxfp8', amax: number): Quantized => quantize(Float32Array.of(1), 1, 1, operandFormat(scheme, 'x'), { amax: Math.fround(amax) });
  it('is fl(fl(amaxA * amaxB) / 7225344) of NVFP4, fl(inv_A * inv_B) of tensor scales, 1 of blocks', () => {
    expect([gemmAlpha(of('nvfp4', 2688), of('nvfp4', 2688)), gemmAlpha(of('nvfp4', 0), of('nvfp4', 5))]).toEqual([1, 0]);
    expect(gemmAlpha(of('nvfp4', 3.1), of('nvfp4', 0.7))).toBe(Math.fround(Math.fround(Math.fround(3.1) * Math.fround(0.7)) / 7225344));
    // Vector 11 and its square.
    const inverse = fromBits(0x3bdb6db7);
    expect([gemmAlpha(of('fp8', 3), of('fp8', 448)), gemmAlpha(of('fp8', 3), of('fp8', 3))]).toEqual([inverse, Math.fround(inverse * inverse)]);
    expect([gemmAlpha(of('mxfp8', 3), of('mxfp8', 5)), gemmAlpha(of('fp8', 3), of('mxfp8', 5))]).toEqual([1, inverse]);
    expect(() => gemmAlpha(of('nvfp4', 1), of('fp8', 1))).toThrow('expected operands of one family, got nvfp4 and tensor');
  });
});

it('refuses a shape that does not fit, BF16, and random bytes of another element', () => {
  const one = Float32Array.of(1);
  expect(() => quantize(one, 1, 2, operandFormat('fp8', 'x'))).toThrow('quantize: expected 1x2 elements, got 1');
  expect(() => quantize(new Float32Array(), 0, 4, operandFormat('fp8', 'x'))).toThrow('quantize: expected 0x4 elements, got 0');
  expect(() => quantize(one, 1, 1, BF16_OPERAND)).toThrow('expected a scheme with a scale, got BF16 without one');
  expect(() => quantize(one, 1, 1, operandFormat('mxfp8', 'x'), { randomBytes: new Uint8Array(1) })).toThrow('expected 1 random bytes for E2M1, got 1 for E4M3');
});
