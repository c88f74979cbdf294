/**
 * The statistics of stochastic rounding: unbiased to what its 8 bits allow, and random bytes that do not correlate between
 * tensors, copies, steps, draws and seeds. The rule's codes: golden-formats.test.ts; Philox vectors: vectors.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { bitsOf } from './float-bits';
import { FORMATS } from './formats';
import { countDifferent } from './golden-formats';
import { decode } from './minifloat';
import { quantize } from './quantize';
import { operandFormat } from './schemes';
import { encodeE2m1Stochastic, randomBytes, streamOf, type RandomKey } from './stochastic';

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const KEY: RandomKey = { seed: 1, stream: streamOf(7, 'row'), step: 3, draw: 0 };
const rounded = (x: number, byte: number): number => decode(FORMATS.E2M1, encodeE2m1Stochastic(bitsOf(x), byte));

/** Mean and variance of the rule over its 256 equally likely bytes. */
function moments(x: number): { mean: number; variance: number } {
  const values = BYTES.map((byte) => rounded(x, byte));
  const mean = values.reduce((a, b) => a + b) / 256;
  return { mean, variance: values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 256 };
}

describe('the 8-bit rule', () => {
  it('is biased toward zero by at most 1/256 of a step, on average 1/512', () => {
    let [sum, count] = [0, 0];
    for (let i = 1; i < 6000; i++) {
      const x = Math.fround(i / 1000);
      const step = x < 2 ? 0.5 : x < 4 ? 1 : 2;
      const bias = (moments(x).mean - x) / step;
      expect(bias).toBeLessThanOrEqual(2 ** -20);
      expect(bias).toBeGreaterThanOrEqual(-1 / 256);
      sum += bias;
      count += 1;
    }
    expect(-sum / count).toBeCloseTo(1 / 512, 4);
  });

  const NAMED: readonly (readonly [string, (i: number) => number])[] = [
    ['values all over the grid', (i) => 0.4 * i + 0.013],
    ['small values', (i) => 0.5 * 2 ** -i],
    ['near grid points', (i) => [0.5, 1, 1.5, 2, 3, 4, 5.99, 0.25][i % 8] ?? 0],
    ['of either sign', (i) => (i % 2 ? -1 : 1) * (0.3 + 0.35 * i)],
    ['an irregular lot', (i) => 6 * Math.sin(i + 1)],
  ];
  it.each(NAMED)('10,000 draws of a tensor, %s: every mean within 4 standard errors', (_name, of) => {
    const DRAWS = 10_000;
    const x = Float32Array.from({ length: 16 }, (_, i) => of(i));
    const sums = new Float64Array(16);
    for (let draw = 0; draw < DRAWS; draw++) {
      const bytes = randomBytes(1, 16, { ...KEY, draw });
      x.forEach((v, i) => {
        sums[i] = (sums[i] ?? 0) + rounded(v, bytes[i] ?? 0);
      });
    }
    x.forEach((v, i) => {
      const { mean, variance } = moments(v);
      expect(Math.abs((sums[i] ?? 0) / DRAWS - mean), `${v}`).toBeLessThanOrEqual(4 * Math.sqrt(variance / DRAWS));
    });
  });

  it.each([['normal', 1], ['heavy tail', 3]] as const)('10,000 elements of a %s tensor through the quantizer: mean within 4 standard errors', (_name, power) => {
    const [rows, cols] = [100, 100];
    const uniform = randomBytes(rows, 8 * cols, { ...KEY, seed: 99 });
    const x = Float32Array.from({ length: rows * cols }, (_, i) => (uniform.subarray(8 * i, 8 * i + 8).reduce((a, b) => a + b, 0) / 256 - 3.984) ** power);
    const format = operandFormat('nvfp4', 'dy');
    const q = quantize(x, rows, cols, format, { randomBytes: randomBytes(rows, cols, KEY) });
    let [difference, variance] = [0, 0];
    for (let i = 0; i < x.length; i++) {
      const block = Math.floor(i / cols) * Math.ceil(cols / 16) + Math.floor((i % cols) / 16);
      const expected = moments(Math.fround((x[i] ?? 0) * (q.multipliers[block] ?? 0)));
      difference += decode(FORMATS.E2M1, q.codes[i] ?? 0) - expected.mean;
      variance += expected.variance;
    }
    expect(Math.abs(difference)).toBeLessThanOrEqual(4 * Math.sqrt(variance));
    expect(variance).toBeGreaterThan(100);
  });
});

describe('random bytes', () => {
  const [ROWS, COLS] = [1000, 1000];
  const SAMPLES = ROWS * COLS;
  const base = randomBytes(ROWS, COLS, KEY);

  function correlation(a: Uint8Array, b: Uint8Array): number {
    let [sa, sb, saa, sbb, sab] = [0, 0, 0, 0, 0];
    for (let i = 0; i < a.length; i++) {
      const x = (a[i] ?? 0) - 127.5;
      const y = (b[i] ?? 0) - 127.5;
      sa += x;
      sb += y;
      saa += x * x;
      sbb += y * y;
      sab += x * y;
    }
    const n = a.length;
    return (sab - (sa * sb) / n) / Math.sqrt((saa - (sa * sa) / n) * (sbb - (sb * sb) / n));
  }

  it.each<[string, RandomKey]>([
    ['the next tensor', { ...KEY, stream: streamOf(8, 'row') }],
    ['a far tensor', { ...KEY, stream: streamOf(61, 'row') }],
    ['the other copy', { ...KEY, stream: streamOf(7, 'col') }],
    ['the next step', { ...KEY, step: KEY.step + 1 }],
    ['the next draw', { ...KEY, draw: 1 }],
    ['another seed', { ...KEY, seed: 2 }],
    ['step and draw exchanged', { ...KEY, step: 0, draw: KEY.step }],
    ['seed and stream exchanged', { ...KEY, seed: KEY.stream, stream: KEY.seed }],
  ])('1e6 of them do not correlate with %s', (_name, key) => {
    expect(Math.abs(correlation(base, randomBytes(ROWS, COLS, key)))).toBeLessThan(4 / Math.sqrt(SAMPLES));
  });

  it.each([1, 4, 16, COLS])('nor with themselves %i elements on', (lag) => {
    expect(Math.abs(correlation(base.subarray(lag), base.subarray(0, SAMPLES - lag)))).toBeLessThan(4 / Math.sqrt(SAMPLES - lag));
  });

  it('are uniform: chi-square of 256 bins within 4 standard deviations', () => {
    const counts = new Float64Array(256);
    for (const byte of base) counts[byte] = (counts[byte] ?? 0) + 1;
    const chiSquare = counts.reduce((sum, n) => sum + (n - SAMPLES / 256) ** 2 / (SAMPLES / 256), 0);
    expect(Math.abs(chiSquare - 255)).toBeLessThan(4 * Math.sqrt(2 * 255));
  });

  it('are the same for the same key, and depend on place and not on order or height', () => {
    expect(countDifferent(randomBytes(ROWS, COLS, KEY), base, false)).toBe(0);
    expect(randomBytes(3, COLS, KEY)).toEqual(base.subarray(0, 3 * COLS));
    // A row starts a block of 16: 40 columns take three calls a row.
    const narrow = randomBytes(4, 40, KEY);
    const wide = randomBytes(4, 48, KEY);
    for (let r = 0; r < 4; r++) expect(narrow.subarray(40 * r, 40 * r + 40)).toEqual(wide.subarray(48 * r, 48 * r + 40));
  });
});
