/**
 * The test vectors of formats.md 8.1 (element casts), 8.2 (tensor and block FP8), 8.3 (MX) and 8.5 (Philox), and the tables of
 * 2.4 and 2.5; numbers in names are the vectors'. NVFP4, the transform and stochastic rounding: vectors-nvfp4.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { philox4x32, type Words2, type Words4 } from '../base/random';
import { encodeE8m0 } from './e8m0';
import { bitsOf, bitsView, F32_MAX, fromBits } from './float-bits';
import { FORMATS, type Minifloat } from './formats';
import { decode, decodeTable, encode, encodeBits } from './minifloat';
import { packRows } from './packing';
import { quantize, type Quantized } from './quantize';
import { currentScale, largest, mxScaleFloor, mxScaleUp } from './scale-rules';
import type { BlockShape, OperandFormat, ScaleRuleName } from './schemes';
import { randomBytes, streamOf } from './stochastic';

const { BF16, E4M3, E5M2, E2M1 } = FORMATS;
const p = (e: number): number => 2 ** e;
const next = (x: number): number => fromBits(bitsOf(x) + 1);
const hex = (x: Float32Array): number[] => Array.from(bitsView(x));

/** One row of values under E4M3 unless said otherwise. */
function row(values: readonly number[], scale: ScaleRuleName, block: BlockShape, amax?: number, element: 'E4M3' | 'E5M2' | 'E2M1' = 'E4M3'): Quantized {
  const format: OperandFormat = { element, scale, block };
  return quantize(Float32Array.from(values), 1, values.length, format, amax === undefined ? {} : { amax: Math.fround(amax) });
}

describe('8.1 element casts', () => {
  const codes = (format: Minifloat, values: number[], saturate = true): number[] => values.map((v) => encode(format, v, saturate));
  it('1, 2: E2M1 ties, off ties, saturation, sign', () => {
    expect(codes(E2M1, [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5])).toEqual([0, 2, 2, 4, 4, 6, 6]);
    expect(codes(E2M1, [0.2500001, 5.0001, 7, -0.25, -0.1, -5])).toEqual([0x1, 0x7, 0x7, 0x8, 0x8, 0xe]);
    expect(Array.from(decodeTable(E2M1).subarray(0, 8))).toEqual([0, 0.5, 1, 1.5, 2, 3, 4, 6]);
  });
  it('3: FP4 (1, -6) is byte 0xF2', () => {
    expect(packRows(codes(E2M1, [1, -6]), 1, 2, E2M1.bits, 1)[0]).toBe(0xf2);
  });
  it('4 to 7: E4M3 top, bottom, ties', () => {
    expect(codes(E4M3, [448, 449, 464, 480, 1e9, -464])).toEqual([0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0xfe]);
    expect(codes(E4M3, [464, next(464)], false)).toEqual([0x7e, 0x7f]);
    expect(codes(E4M3, [p(-10), p(-10) * (1 + p(-20)), 3 * p(-10), 7.5 * p(-9)])).toEqual([0x00, 0x01, 0x02, 0x08]);
    expect(codes(E4M3, [1.0625, 1.1875, 17, 27, -p(-10)])).toEqual([0x38, 0x3a, 0x58, 0x5e, 0x80]);
  });
  it('8, 9: E5M2 top, small, ties', () => {
    expect([encode(E5M2, 61440), encode(E5M2, 61440, false), encode(E5M2, 61439)]).toEqual([0x7b, 0x7c, 0x7b]);
    expect(codes(E5M2, [p(-17), 3 * p(-17), 0.875 * p(-14), 1.125, 1.375])).toEqual([0x00, 0x02, 0x04, 0x3c, 0x3e]);
  });
  it('10: BF16', () => {
    const bits = [0x3f808000, 0x3f818000, 0x3f808001, 0x7f7f8000, 0x7f7f7fff, 0x00008000, bitsOf(0.1)];
    expect(bits.map((b) => encodeBits(BF16, b))).toEqual([0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x7f7f, 0x0000, 0x3dcd]);
    expect(decode(BF16, 0x3dcd)).toBe(0.10009765625);
  });
});

describe('8.2 tensor and block FP8', () => {
  it('11: current scaling, amax 3', () => {
    const q = row([3, 1, -0.01, 1e-5, 6e-6], 'tensor', [1, 1]);
    expect([q.tensor.encode, q.tensor.decode].map(bitsOf)).toEqual([0x43155555, 0x3bdb6db7]);
    expect(Array.from(q.codes)).toEqual([0x7e, 0x71, 0xbc, 0x01, 0x00]);
    expect(hex(q.dequantized)).toEqual([0x40400000, 0x3f76db6e, 0xbc249249, 0x375b6db7, 0]);
  });
  it('12: corner amaxes', () => {
    const bf16Max = largest(BF16);
    expect([bitsOf(currentScale(449, E4M3, false, F32_MAX)), currentScale(449, E4M3, true, F32_MAX)]).toEqual([0x3f7f6e0a, 0.5]);
    const tiny = Math.fround(1e-40);
    expect([currentScale(tiny, E4M3, false, F32_MAX), currentScale(tiny, E4M3, false, bf16Max)]).toEqual([F32_MAX, Math.fround(3.3895314e38)]);
    expect(currentScale(tiny, E4M3, true, F32_MAX)).toBe(Math.fround(1.7014118e38));
    expect([0, Infinity].map((amax) => currentScale(amax, E4M3, false, F32_MAX))).toEqual([1, 1]);
    expect(bitsOf(currentScale(3, E5M2, false, F32_MAX))).toBe(0x46955555);
    // In a tensor the first value counts whatever the input's type is; in a block the second, for BF16 input.
    expect(row([tiny], 'tensor', [1, 1]).multipliers[0]).toBe(F32_MAX);
    expect(row([tiny], 'block-f32', [1, 128]).multipliers[0]).toBe(bf16Max);
  });
  it('13: blocks with power-of-two scales, amax 10', () => {
    const q = row([10, 0.1, -7.3, 3e-5], 'block-pow2', [1, 128]);
    expect([q.multipliers[0], q.scales[0]]).toEqual([32, 127 - 5]);
    expect(Array.from(q.codes)).toEqual([0x7a, 0x45, 0xf7, 0x00]);
    expect(Array.from(q.dequantized)).toEqual([10, 0.1015625, -7.5, 0]);
  });
});

describe('8.3 MX', () => {
  const ROW: BlockShape = [1, 32];
  it('M1: E8M0 of a value, rounded up', () => {
    const values = [1, next(1), 0.75, p(-127), 1.5 * p(-127), 3e38, Infinity, NaN, 0];
    expect(values.map((v) => encodeE8m0(bitsOf(v), 'up'))).toEqual([0x7f, 0x80, 0x7f, 0x00, 0x01, 0xfe, 0xfe, 0xff, 0x00]);
  });
  const block = [500, 100, 1, -0.3, 0.01, ...Array<number>(27).fill(0)];
  it('M2, M3: a block, floor and up', () => {
    const floor = row(block, 'mx-floor', ROW);
    expect([floor.scales[0], ...floor.codes.subarray(0, 5)]).toEqual([127, 0x7e, 0x6c, 0x38, 0xaa, 0x05]);
    expect(Array.from(floor.dequantized.subarray(0, 5))).toEqual([448, 96, 1, -0.3125, 0.009765625]);
    const up = row(block, 'mx-up', ROW);
    expect([up.scales[0], ...up.codes.subarray(0, 5)]).toEqual([128, 0x78, 0x64, 0x30, 0xa2, 0x03]);
    expect(Array.from(up.dequantized.subarray(0, 5))).toEqual([512, 96, 1, -0.3125, 0.01171875]);
  });
  it('M4, M5: single values; amax 448 and the next float', () => {
    const one = (x: number): number[] => {
      const q = row([x], 'mx-up', ROW);
      return [q.scales[0] ?? NaN, q.codes[0] ?? NaN, q.dequantized[0] ?? NaN];
    };
    expect(one(1 / 3)).toEqual([0x75, 0x7b, 0.34375]);
    expect(one(0.1)).toEqual([0x73, 0x7d, 0.1015625]);
    expect([mxScaleUp(448, E4M3), mxScaleUp(next(448), E4M3)]).toEqual([127, 128]);
    expect([mxScaleFloor(448, E4M3), mxScaleFloor(next(448), E4M3)]).toEqual([127, 127]);
  });
  it('table of 2.4: E8M0 codes of E4M3 blocks (no recipe rounds by CEIL or EVEN)', () => {
    const amaxes = [1, 300, 448, 449, 496, 512, 896, 3.4e38, 1e-38].map(Math.fround);
    expect(amaxes.map((amax) => mxScaleUp(amax, E4M3))).toEqual([119, 127, 127, 128, 128, 128, 128, 247, 0]);
    expect(amaxes.map((amax) => mxScaleFloor(amax, E4M3))).toEqual([119, 127, 127, 127, 127, 128, 128, 246, 0]);
  });
  it('table of 2.5: MXFP4 codes and the decoded amax', () => {
    const table: readonly (readonly [number, number, number, number, number])[] = [
      [7, 127, 6, 128, 8], [6.5, 127, 6, 128, 6], [6, 127, 6, 127, 6], [5, 127, 4, 127, 4], [3.01, 126, 3, 127, 3], [3, 126, 3, 126, 3],
    ];
    for (const [amax, floorCode, floorValue, upCode, upValue] of table) {
      const floor = row([amax], 'mx-floor', ROW, undefined, 'E2M1');
      const up = row([amax], 'mx-up', ROW, undefined, 'E2M1');
      expect([floor.scales[0], floor.dequantized[0], up.scales[0], up.dequantized[0]], `amax ${amax}`).toEqual([floorCode, floorValue, upCode, upValue]);
    }
  });
});

describe('8.5 Philox4x32-10', () => {
  it.each<[string, Words4, Words2, Words4]>([
    ['P1', [0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
    ['P2', [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]],
    ['P3', [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]],
    ['P4', [0, 3, 0, 0], [1, 15], [0x373829f6, 0x5a292d3a, 0x3ea62476, 0xe6e22bc4]],
  ])('%s', (_name, counter, key, output) => {
    expect(philox4x32(counter, key)).toEqual(output);
  });
  it('P4: element (0, 5) of a [1, 16] tensor, tensor 7, col copy, seed 1, step 3', () => {
    const bytes = randomBytes(1, 16, { seed: 1, stream: streamOf(7, 'col'), step: 3, draw: 0 });
    expect(Array.from(bytes.subarray(0, 8))).toEqual([0xf6, 0x29, 0x38, 0x37, 0x3a, 0x2d, 0x29, 0x5a]);
    expect([streamOf(7, 'row'), bytes[5]]).toEqual([14, 0x2d]);
  });
});
