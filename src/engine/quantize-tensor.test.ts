/**
 * Whole tensors through the quantizer's kernels, bit for bit: the PyTorch reference's goldens (e2e/golden/formats), the CPU
 * oracle on awkward shapes, and cut into the smallest pieces.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../gpu/gpu';
import { openNodeDevice } from '../gpu/node-device';
import { bitsOf, bitsView } from '../numerics/float-bits';
import { caseArray, caseInput, countDifferent, goldenCases } from '../numerics/golden-formats';
import { quantizeNvfp4 } from '../numerics/nvfp4';
import type { BlockShape } from '../numerics/schemes';
import { quantizeTensor } from './quantize-tensor';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeDevice();
});
afterAll(() => {
  expect(gpu.liveBuffers).toBe(0);
  gpu.device.destroy();
});

const operand = (block: BlockShape) => ({ element: 'E2M1', blockScale: 'E4M3', block }) as const;
const wave = (count: number, scale = 1): Float32Array => Float32Array.from({ length: count }, (_, i) => Math.sin(i * i) * scale * 2 ** -(i % 19));

describe('goldens', () => {
  // A tensor amax that is given, not measured, is no case of this command.
  const measured = goldenCases.filter((golden) => golden.options.tensorAmax === undefined);
  it.each(measured.map((golden) => [golden.name, golden] as const))('%s', async (_name, golden) => {
    const [rows, cols] = golden.shape;
    const q = await quantizeTensor(gpu, caseInput(golden), rows, cols, operand(golden.block as BlockShape));
    expect(bitsOf(q.amax)).toBe(Number(golden.tensor.amaxBits));
    expect(countDifferent(q.codes, caseArray(golden, 'codes'), false), 'codes').toBe(0);
    expect(countDifferent(q.scales, caseArray(golden, 'scale'), false), 'scales').toBe(0);
    expect(countDifferent(bitsView(q.dequantized), caseArray(golden, 'dequantized'), true), 'dequantized').toBe(0);
  });
});

describe('the CPU oracle', () => {
  it.each<[string, number, number, Float32Array, number | undefined]>([
    ['one element', 1, 1, Float32Array.of(-3), undefined],
    ['one row in many pieces', 1, 1000, wave(1000, 5), 64],
    ['one column in many pieces', 100, 1, wave(100, 1e4), 16],
    ['ragged in both axes, in many pieces', 53, 203, wave(53 * 203, 1e3), 512],
    ['ragged in both axes, whole', 53, 203, wave(53 * 203, 1e3), undefined],
    ['non-finite elements far apart', 40, 130, wave(40 * 130).with(0, NaN).with(5199, -Infinity).with(2600, Infinity), 256],
    ['zeros of both signs', 3, 20, Float32Array.from({ length: 60 }, (_, i) => (i % 3 ? -0 : 0)), undefined],
  ])('%s', async (_what, rows, cols, x, limit) => {
    for (const block of [[1, 16], [16, 16]] as const) {
      const expected = quantizeNvfp4(x, rows, cols, block);
      const got = await quantizeTensor(gpu, x, rows, cols, operand(block), limit);
      expect([bitsOf(got.amax), got.nonFinite]).toEqual([bitsOf(expected.tensor.amax), expected.nonFinite]);
      expect(countDifferent(got.codes, expected.codes, false), 'codes').toBe(0);
      expect(countDifferent(got.scales, expected.scales, false), 'scales').toBe(0);
      expect(countDifferent(bitsView(got.dequantized), bitsView(expected.dequantized), true), 'dequantized').toBe(0);
    }
  });
});

it('an empty tensor needs no device work; a shape that does not fit is our fault', async () => {
  const empty = await quantizeTensor(gpu, new Float32Array(0), 0, 16, operand([1, 16]));
  expect([empty.codes.length, empty.scales.length, empty.amax, empty.dequantized.length, empty.nonFinite]).toEqual([0, 0, 0, 0, 0]);
  await expect(quantizeTensor(gpu, new Float32Array(5), 2, 3, operand([1, 16]))).rejects.toMatchObject({ name: 'E-BUG-03' });
});
