/**
 * Whole tensors through the quantizer's kernels, bit for bit: the goldens of every scheme (e2e/golden/formats), the CPU
 * oracle on awkward shapes, cut into the smallest pieces.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { bitsOf, bitsView } from '../numerics/float-bits';
import { caseArray, caseInput, countDifferent, goldenCases, goldenScales, goldenTask } from '../numerics/golden-formats';
import { rht, rhtLength } from '../numerics/hadamard';
import { quantize } from '../numerics/quantize';
import { operandFormat, type OperandFormat } from '../numerics/schemes';
import { randomBytes } from '../numerics/stochastic';
import { quantizeTensor } from './quantize-tensor';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

const wave = (count: number, scale = 1): Float32Array => Float32Array.from({ length: count }, (_, i) => Math.sin(i * i) * scale * 2 ** -(i % 19));
const waveBf16 = (count: number): Float32Array => new Float32Array(bitsView(wave(count, 3)).map((bits) => bits & 0xffff0000).buffer);

describe('goldens', () => {
  // The kernels see every case in quantize-commands.test.ts; here some of each scheme go through the command's path.
  // Not a case of this command: a tensor amax that is given, random bytes of a file, FP32 block scales of BF16 tensors.
  const cases = goldenCases.flatMap((golden) => {
    const task = goldenTask(golden);
    const foreign = golden.options.tensorAmax !== undefined || golden.scheme === 'nvfp4_sr_given' || (golden.scheme.endsWith('fp32scale') && golden.options.inputDtype !== 'fp32');
    return task && !foreign && /(student|outlier|nonfinite|fp32)$/.test(golden.name) ? [[golden.name, golden, task] as const] : [];
  });
  it.each(cases)('%s', async (_name, golden, { format, rows, cols }) => {
    const { philox, rht: transformed = false } = golden.options;
    const q = await quantizeTensor(gpu, caseInput(golden), ...golden.shape, format, { rht: transformed, ...(philox ? { random: philox } : {}) });
    expect([q.codes.length, q.cols]).toEqual([rows * cols, cols]);
    expect(bitsOf(q.amax)).toBe(Number(golden.tensor.amaxBits));
    if (golden.tensor.encodeBits !== undefined) expect([q.encode, q.decode].map(bitsOf)).toEqual([golden.tensor.encodeBits, golden.tensor.decodeBits].map(Number));
    expect(countDifferent(q.codes, caseArray(golden, 'codes'), false), 'codes').toBe(0);
    expect(countDifferent(q.scales, goldenScales(golden), false), 'scales').toBe(0);
    expect(countDifferent(bitsView(q.dequantized), caseArray(golden, 'dequantized'), true), 'dequantized').toBe(0);
  });
});

const FORMATS_OF_ALL: [string, OperandFormat][] = [
  ['nvfp4 1x16', operandFormat('nvfp4', 'x')], ['nvfp4 16x16', operandFormat('nvfp4', 'w')], ['fp8', operandFormat('fp8', 'dy')], ['fp8 pow2', operandFormat('fp8', 'x', { pow2: true })],
  ['fp8 blocks 1x128', operandFormat('fp8-block', 'x')], ['fp8 blocks 128x128', operandFormat('fp8-block', 'w')], ['fp8 blocks, FP32 scales', { element: 'E4M3', scale: 'block-f32', block: [1, 128] }],
  ['mxfp8', operandFormat('mxfp8', 'x')], ['mxfp8 E5M2 floor', operandFormat('mxfp8', 'dy', { floor: true, e5m2Grad: true })], ['mxfp4', operandFormat('mxfp4', 'w')],
];

describe.each(FORMATS_OF_ALL)('the CPU oracle, %s', (_format, format) => {
  it.each<[string, number, number, Float32Array, number | undefined]>([
    ['one element', 1, 1, Float32Array.of(-3), undefined],
    ['one row in many pieces', 1, 1000, wave(1000, 5), 64],
    ['one column in many pieces', 300, 1, wave(300, 1e4), 16],
    ['ragged in both axes, in many pieces', 133, 203, wave(133 * 203, 1e3), 512],
    ['ragged in both axes, whole', 53, 203, wave(53 * 203, 1e3), undefined],
    ['non-finite elements far apart', 40, 130, wave(40 * 130).with(0, NaN).with(5199, -Infinity).with(2600, Infinity), 256],
    ['zeros of both signs', 3, 20, Float32Array.from({ length: 60 }, (_, i) => (i % 3 ? -0 : 0)), undefined],
  ])('%s', async (_what, rows, cols, x, limit) => {
    const expected = quantize(x, rows, cols, format, { inputDtype: 'fp32' });
    const got = await quantizeTensor(gpu, x, rows, cols, format, limit === undefined ? {} : { pieceElements: limit });
    const { amax, encode, decode } = expected.tensor;
    expect([got.amax, got.encode, got.decode].map(bitsOf)).toEqual([amax, encode, decode].map(bitsOf));
    expect(got.nonFinite).toBe(expected.nonFinite);
    expect(countDifferent(got.codes, expected.codes, false), 'codes').toBe(0);
    expect(countDifferent(got.scales, expected.scales, false), 'scales').toBe(0);
    expect(countDifferent(bitsView(got.dequantized), bitsView(expected.dequantized), true), 'dequantized').toBe(0);
  });
});

it.each([[1, 1, 64], [5, 17, 64], [37, 150, 128], [20, 331, undefined]])('transformed and rounded at random, %i x %i in pieces of %s: as if whole', async (rows, cols, limit) => {
  const x = waveBf16(rows * cols);
  const random = { seed: 0xfedcba98, stream: 23, step: 7, draw: 3 };
  const width = rhtLength(cols);
  const format = operandFormat('nvfp4', 'dy');
  const expected = quantize(rht(x, rows, cols), rows, width, format, { randomBytes: randomBytes(rows, width, random) });
  const got = await quantizeTensor(gpu, x, rows, cols, format, { rht: true, random, ...(limit === undefined ? {} : { pieceElements: limit }) });
  expect(got.cols).toBe(width);
  expect(countDifferent(got.codes, expected.codes, false), 'codes').toBe(0);
  expect(countDifferent(got.scales, expected.scales, false), 'scales').toBe(0);
  expect(countDifferent(bitsView(got.dequantized), bitsView(expected.dequantized), true), 'dequantized').toBe(0);
});

it('an empty tensor needs no device work; a shape that does not fit is our fault', async () => {
  const format = operandFormat('nvfp4', 'x');
  const empty = await quantizeTensor(gpu, new Float32Array(0), 0, 16, format);
  expect([empty.codes.length, empty.scales.length, empty.amax, empty.dequantized.length, empty.nonFinite]).toEqual([0, 0, 0, 0, 0]);
  await expect(quantizeTensor(gpu, new Float32Array(5), 2, 3, format)).rejects.toMatchObject({ name: 'E-BUG-03' });
});
