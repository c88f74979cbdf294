/**
 * Every scheme on every golden tensor, on the CPU, bit for bit: codes, block scales, factors, tensor scalars, decoded
 * values; the Hadamard transform and the random bytes too. All 179 cases of the index are counted.
 */
import { describe, expect, it } from 'vitest';
import { philox4x32, type Words2, type Words4 } from '../base/random';
import { bitsOf, bitsView, countNonFinite } from './float-bits';
import { caseArray, caseInput, countDifferent, elementArray, goldenBytes, goldenCases, goldenPhilox, goldenScales, goldenTask } from './golden-formats';
import { rht, rhtUnrounded } from './hadamard';
import { quantize } from './quantize';
import { SCALE_RULES } from './schemes';
import { encodeE2m1Stochastic, randomBytes } from './stochastic';

it('holds 179 cases of 20 schemes, each compared below', () => {
  const counts: Record<string, number> = {};
  for (const { scheme } of goldenCases) counts[scheme] = (counts[scheme] ?? 0) + 1;
  expect(counts).toEqual({
    fp8_tensor_e4m3: 12, fp8_tensor_e4m3_pow2: 11, fp8_tensor_e5m2: 11, fp8_tensor_e5m2_pow2: 11,
    fp8_block_1x128_pow2: 9, fp8_block_1x128_fp32scale: 9, fp8_block_128x128_pow2: 10, fp8_block_128x128_fp32scale: 9,
    mxfp8_rceil: 12, mxfp8_floor: 11, mxfp8_e5m2_rceil: 4, mxfp4_rceil: 11, mxfp4_floor: 11,
    nvfp4_1d: 14, nvfp4_2d: 13, nvfp4_rht: 6, nvfp4_sr_given: 6, nvfp4_sr_philox: 6, nvfp4_rht_sr_philox: 6, rht: 7,
  });
  const tasks = goldenCases.map(goldenTask);
  expect(tasks.filter((task) => task === null)).toHaveLength(7);
  // Every rule that scales has a golden.
  const rules = Object.keys(SCALE_RULES).filter((name) => name !== 'none').sort();
  expect([...new Set(tasks.flatMap((task) => task?.format.scale ?? []))].sort()).toEqual(rules);
});

describe('quantized tensors', () => {
  it.each(goldenCases.filter(({ scheme }) => scheme !== 'rht').map((golden) => [golden.name, golden] as const))('%s', (_name, golden) => {
    const task = goldenTask(golden);
    if (!task) throw new Error(golden.name);
    const { x, rows, cols, format, options } = task;
    const q = quantize(x, rows, cols, format, options);
    expect(countDifferent(q.codes, caseArray(golden, 'codes'), false), 'codes').toBe(0);
    expect(countDifferent(q.scales, goldenScales(golden), false), 'scales').toBe(0);
    expect(countDifferent(bitsView(q.multipliers), caseArray(golden, 'multiplier'), true), 'factors').toBe(0);
    expect(countDifferent(bitsView(q.dequantized), caseArray(golden, 'dequantized'), true), 'decoded').toBe(0);
    const { amaxBits, encodeBits, decodeBits } = golden.tensor;
    expect(bitsOf(q.tensor.amax)).toBe(Number(amaxBits));
    if (encodeBits !== undefined) expect([q.tensor.encode, q.tensor.decode].map(bitsOf)).toEqual([encodeBits, decodeBits].map(Number));
    else if (SCALE_RULES[format.scale].perTensor) {
      expect([q.tensor.encode, q.tensor.decode].map(bitsOf)).toEqual([caseArray(golden, 'multiplier')[0], caseArray(golden, 'scale')[0]]);
    } else expect([q.tensor.encode, q.tensor.decode]).toEqual([1, 1]);
    expect(q.nonFinite).toBe(golden.input === 'nonfinite' ? countNonFinite(x) : 0);
    expect(golden.input !== 'nonfinite' || q.nonFinite > 0).toBe(true);
    if (golden.options.philox) expect(countDifferent(randomBytes(rows, cols, golden.options.philox), caseArray(golden, 'random'), false), 'random bytes').toBe(0);
  });
});

describe('random Hadamard transform', () => {
  it.each(goldenCases.filter(({ scheme }) => scheme === 'rht').map((golden) => [golden.name, golden] as const))('%s', (_name, golden) => {
    const [rows, cols] = golden.shape;
    const x = caseInput(golden);
    expect(countDifferent(bitsView(rhtUnrounded(x, rows, cols)), caseArray(golden, 'fp32'), true)).toBe(0);
    expect(countDifferent(bitsView(rht(x, rows, cols)), caseArray(golden, 'bf16'), true)).toBe(0);
  });
});

describe('random numbers', () => {
  it('Philox: the known answers of Random123', () => {
    const words = (hex: readonly string[]): number[] => hex.map((w) => parseInt(w, 16));
    expect(goldenPhilox).toHaveLength(3);
    for (const { counter, key, output } of goldenPhilox) {
      expect(philox4x32(words(counter) as unknown as Words4, words(key) as unknown as Words2)).toEqual(words(output));
    }
  });
  it('random bytes of four shapes and keys, to the largest u32', () => {
    expect(goldenBytes).toHaveLength(4);
    for (const { shape: [rows, cols], bytes, ...key } of goldenBytes) expect(randomBytes(rows, cols, key)).toEqual(bytes);
  });
  it('stochastic E2M1: every random byte on grid points, ties, 1/256 steps, saturation, NaN', () => {
    const input = elementArray('E2M1 stochastic', 'input');
    const codes = Array.from({ length: 256 * input.length }, (_, i) => encodeE2m1Stochastic(input[i >> 8] ?? 0, i & 255));
    expect(countDifferent(codes, elementArray('E2M1 stochastic', 'codes'), false)).toBe(0);
  });
});
