/**
 * The quantizer's kernels where the goldens have no tensor, bit for bit with the CPU oracle: tensors of zeros, of
 * subnormals, with one huge outlier, with a ragged last block of one huge value; tensor scalars at
 * the edges of FP32; the Hadamard transform on goldens and ragged shapes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { philox4x32 } from '../base/random';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { bitsOf, bitsView, fromBits } from '../numerics/float-bits';
import { FORMATS } from '../numerics/formats';
import { caseArray, caseInput, countDifferent, goldenCases } from '../numerics/golden-formats';
import { rht, rhtLength } from '../numerics/hadamard';
import { encodeBits } from '../numerics/minifloat';
import { nvfp4Alpha } from '../numerics/nvfp4';
import { OPERANDS, operandName } from '../numerics/operands-fixture';
import { outValues, quantize } from '../numerics/quantize';
import { elementOf, RULE_ARITHMETIC } from '../numerics/scale-rules';
import { operandFormat, type OperandFormat } from '../numerics/schemes';
import { randomBytes } from '../numerics/stochastic';
import { NamedBuffers } from './named-buffers';
import { amaxDispatch, alphaDispatch, countCommand, hadamardDispatch, tensorScaleDispatch } from './quantize-commands';
import { deviceWords, oracleWords, PLACES, quantizeOnDevice, roundOnDevice, rowWords } from './quantize-readback';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

const FORMATS_OF_ALL = OPERANDS.map((format): [string, OperandFormat] => [operandName(format), format]);
const bf16 = (x: Float32Array): Float32Array => new Float32Array(bitsView(x).map((bits) => (encodeBits(FORMATS.BF16, bits) << 16) >>> 0).buffer);
const wave = (count: number, scale: number): Float32Array => bf16(Float32Array.from({ length: count }, (_, i) => Math.sin(i * i) * scale * 2 ** -(i % 23)));
/** Which tensors decode to finite values in every format; the others saturate FP32 somewhere. */
const TENSORS: [string, number, number, Float32Array, boolean][] = [
  ['all zero, some of it -0', 3, 21, Float32Array.from({ length: 63 }, (_, i) => (i % 3 === 0 ? -0 : 0)), true],
  ['one huge outlier', 20, 70, wave(1400, 1).with(777, 2 ** 60), true],
  ['blocks of subnormals beside ordinary ones', 5, 100, wave(500, 1).map((v, i) => (i % 100 < 48 ? fromBits(0x10000 * (1 + (i % 126))) : v)), true],
  ['a last block of one huge value', 3, 129, wave(387, 1).with(128, 2 ** 100).with(257, -(2 ** 100)), true],
  ['tiny: S_enc clamps', 2, 19, wave(38, 1e-36), true],
  ['subnormal only', 1, 17, wave(17, 1e-39), true],
  ['large: a decode overflows, padding stays zero', 2, 5, bf16(Float32Array.of(1e36, 0, -1, 3e38, 0, 0, 1, 2, -1e37, 5)), false],
  ['one row across three groups', 1, 131, wave(131, 7), true],
  ['one column', 33, 1, wave(33, 1e5), true],
  ['ragged in both axes', 149, 137, wave(149 * 137, 1e3), true],
];

describe.each(FORMATS_OF_ALL)('%s', (_format, format) => {
  it.each(TENSORS)('%s', async (_name, rows, cols, x, finite) => {
    for (const given of [{ bf16: true, transposed: false }, { bf16: true, transposed: true }, { bf16: false, transposed: false }]) {
      // A block scale that overflows is the largest value of the input's own type (formats.md 2.1 step 4).
      const cpu = quantize(x, rows, cols, format, { inputDtype: given.bf16 ? 'bf16' : 'fp32' });
      const expected = oracleWords(cpu);
      expect(expected.record[1]).toBe(0);
      if (finite) expect(cpu.dequantized.every(Number.isFinite)).toBe(true);
      const got = await quantizeOnDevice(gpu, x, { rows, cols, ...given }, format);
      expect([...got.record]).toEqual(expected.record);
      expect(countDifferent(got.scales, expected.scales, false), 'scales').toBe(0);
      expect(countDifferent(got.codes, expected.codes, false), 'codes').toBe(0);
      expect(countDifferent(got.decoded.f32, rowWords(cpu.dequantized, rows, cols), true), 'decoded').toBe(0);
      expect(countDifferent(got.decoded.bf16, rowWords(outValues(cpu), rows, cols, true), false), 'decoded to BF16').toBe(0);
      if (format.scale === 'nvfp4') continue;
      for (const inPlace of given.bf16 && !given.transposed ? [false, true] : [false]) {
        expect(countDifferent(await roundOnDevice(gpu, x, { rows, cols, ...given }, format, inPlace), got.decoded.bf16, false), `rounded${inPlace ? ' in place' : ''}`).toBe(0);
      }
    }
  });
});

it('stochastic rounding of 100,000 elements of a ragged tensor, as the CPU', async () => {
  const [rows, cols] = [407, 251];
  const x = bf16(Float32Array.from({ length: rows * cols }, (_, i) => ((philox4x32([i, 0, 0, 0], [9, 9])[0] / 2 ** 31) - 1) * 2 ** -(i % 11)));
  const random = { seed: 0x80000001, stream: 5, step: 0xffffffff, draw: 7 };
  const cpu = quantize(x, rows, cols, operandFormat('nvfp4', 'dy'), { randomBytes: randomBytes(rows, cols, random) });
  for (const transposed of [false, true]) {
    const got = await quantizeOnDevice(gpu, x, { rows, cols, bf16: true, transposed }, cpu.format, { random });
    expect(countDifferent(got.codes, oracleWords(cpu).codes, false)).toBe(0);
  }
});

describe('scalars', () => {
  const AMAXES = [0, 1, 0x400000, 0x800000, bitsOf(1e-36), bitsOf(7.9e-36), bitsOf(1), bitsOf(3.1), bitsOf(48), bitsOf(448), bitsOf(2688), bitsOf(458752), bitsOf(7.6e35), 0x7f7fffff, 0x7f800000];

  it.each(FORMATS_OF_ALL)('%s: tensor scales and alpha at the edges of FP32', async (_name, format) => {
    if (format.scale === 'none') throw new Error('no rule');
    const scales = (amax: number) => RULE_ARITHMETIC[format.scale === 'none' ? 'tensor' : format.scale].tensor(fromBits(amax), elementOf(format));
    for (const [i, amax] of AMAXES.entries()) {
      const other = AMAXES[(3 * i + 4) % AMAXES.length] ?? 0;
      const buffers = new NamedBuffers(gpu, { a: Uint32Array.of(amax, 3, 0, 0, 0, 0, 0, 0), b: Uint32Array.of(other, 4, 0, 0, 0, 0, 0, 0), 'low:alpha': Uint32Array.of(0, 30, 0, 0) });
      const [a, b] = [{ resource: 'a' }, { resource: 'b' }];
      await buffers.run([tensorScaleDispatch(format, a), tensorScaleDispatch(format, b), alphaDispatch(format, a, b)]);
      const [record, alpha] = [await buffers.read('a', 5), await buffers.read('low:alpha', 2)];
      await buffers.run([countCommand(a)]);
      const count = (await buffers.read('low:alpha', 2))[1];
      buffers.dispose();
      const [ours, theirs] = [scales(amax), scales(other)];
      expect([...record]).toEqual([amax, 3, ...[ours.encode, ours.decode, Math.fround(ours.encode * Math.fround(1 / 6))].map(bitsOf)]);
      const product = format.scale === 'nvfp4' ? nvfp4Alpha(fromBits(amax), fromBits(other)) : Math.fround(ours.decode * theirs.decode);
      expect([alpha[0], alpha[1], count]).toEqual([bitsOf(product), 37, 40]);
    }
  });

  it('amax and the non-finite count do not depend on how many invocations share the words', async () => {
    const x = Float32Array.from({ length: 1004 }, (_, i) => Math.fround(Math.sin(i) * 10));
    x.set([NaN, Infinity, -Infinity], 500);
    for (const [values, largest, count] of [[x, 0x7f800000, 3], [x.map((v) => (Number.isFinite(v) ? v : 0)), bitsOf(Math.max(...x.filter(Number.isFinite).map(Math.abs))), 0]] as const) {
      for (const step of [1, 7, 64, 1004]) {
        const buffers = new NamedBuffers(gpu, { x: values, record: 32 });
        await buffers.run([{ ...amaxDispatch({ resource: 'x' }, 'f32', values.length, PLACES.record), params: [values.length, step], invocations: step }]);
        expect([...await buffers.read('record', 2)]).toEqual([largest, count]);
        buffers.dispose();
      }
    }
  });
});

describe('the Hadamard transform', () => {
  async function transformed(x: Float32Array, rows: number, cols: number): Promise<Uint32Array> {
    const width = rhtLength(cols);
    // [rows, cols] with the tokens last is stored [tokens, rows].
    const buffers = new NamedBuffers(gpu, { x: deviceWords(x, { rows, cols, bf16: true, transposed: true }), y: new Uint32Array((rows * width) / 2).fill(0xdeadbeef) });
    try {
      await buffers.run([hadamardDispatch({ resource: 'x' }, cols, rows, { resource: 'y' })]);
      return await buffers.read('y', (rows * width) / 2);
    } finally {
      buffers.dispose();
    }
  }

  it.each(goldenCases.filter(({ scheme }) => scheme === 'rht').map((golden) => [golden.name, golden] as const))('%s', async (_name, golden) => {
    const [rows, cols] = golden.shape;
    const values = new Float32Array(caseArray(golden, 'bf16').map((code) => (golden.arrays['bf16']?.dtype === 'u16' ? (code << 16) >>> 0 : code)).buffer);
    expect(countDifferent(await transformed(caseInput(golden), rows, cols), rowWords(values, rows, rhtLength(cols), true), false)).toBe(0);
  });

  it.each([[1, 1], [3, 15], [5, 16], [2, 17], [33, 129]])('[%i, %i] of all magnitudes, Inf and NaN among them', async (rows, cols) => {
    const x = bf16(Float32Array.from({ length: rows * cols }, (_, i) => fromBits(philox4x32([i, 1, 0, 0], [4, 2])[0])));
    expect(countDifferent(await transformed(x, rows, cols), rowWords(rht(x, rows, cols), rows, rhtLength(cols), true), false)).toBe(0);
  });
});
