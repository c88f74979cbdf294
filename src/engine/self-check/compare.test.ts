/** The comparisons of the start-up check refuse what they are there to refuse, and accept what a right device may do. */
import { describe, expect, it } from 'vitest';
import { bitsOf, fromBits } from '../../numerics/float-bits';
import { FORMATS } from '../../numerics/formats';
import { decode } from '../../numerics/minifloat';
import { roundBf16 } from '../reference/rounding';
import { expectBf16, expectF32, expectWithin, expectWords } from './compare';
import { bf16Values, randomValues, tieWords } from './inputs';

const COLS = 32;
const right = Float64Array.from(bf16Values(640, 1, 1));
const changed = (change: (x: number, i: number) => number): Float64Array => right.map(change);
const bf16 = (got: Float64Array) => () => expectBf16('y', got, right, COLS);

describe('BF16 tensors', () => {
  it('accepts equal ones and a few roundings to the neighbour', () => {
    expect(bf16(right)()).toEqual({ elements: 640, different: 0 });
    expect(bf16(changed((x, i) => (i % 50 === 0 ? fromBits((bitsOf(x) + 0x10000) >>> 0) : x)))().different).toBe(13);
  });
  it.each([
    ['zeros', changed(() => 0), 'y: 0 everywhere'],
    ['one NaN', changed((x, i) => (i === 5 ? NaN : x)), 'y: 1 of 640 elements are Inf or NaN'],
    ['one Inf', changed((x, i) => (i === 5 ? Infinity : x)), 'y: 1 of 640 elements are Inf or NaN'],
    ['the opposite', changed((x) => -x), 'y: expected a cosine above 0.99999, got -1.00000'],
    ['a length 0.2 % off', changed((x) => x * 1.002), 'y: expected a length ratio of 1 within 0.001, got 1.00200'],
    ['one element lost', changed((x, i) => (i === 7 ? 0 : x)), 'y: '],
    ['one row shifted', changed((x, i) => (i < 32 ? (right[(i + 1) % 32] ?? 0) : x)), 'y: expected a cosine'],
    ['truncation', Float64Array.from(right, (x, i) => (i % 8 === 0 ? roundBf16(x * (1 - 2 ** -8 * 1.2)) : x)), 'y: '],
    ['another shape', right.slice(1), 'y: expected 640 elements, got 639'],
  ])('refuses %s', (_what, got, message) => expect(bf16(got)).toThrow(message));
  it('tells a consequence from a cause', () => {
    const zeros = right.map(() => 0);
    expect(() => expectBf16('y', zeros, zeros, COLS)).toThrow('y: not checked, because only zeros arrive');
    expect(() => expectBf16('y', zeros, changed(() => NaN), COLS)).toThrow('y: not checked, because Inf or NaN arrive');
  });
  it('refuses a small element that is off by more than its row allows', () => {
    const small = changed((x, i) => (i === 40 ? 2 ** -6 : x));
    const largest = Math.max(...small.subarray(32, 64).map(Math.abs));
    const off = small.map((x, i) => (i === 40 ? roundBf16(x + 2 ** -7.5 * largest) : x));
    expect(() => expectBf16('y', off, small, COLS)).toThrow('y: 1 of 640 elements off, the worst by ');
  });
});

describe('FP32 tensors', () => {
  const exact = Float64Array.from(randomValues(500, 3, 1));
  it('accepts FP32 rounding, refuses 2^-14 of the largest', () => {
    expect(expectF32('dw', exact.map((x) => Math.fround(x * (1 + 2 ** -22))), exact).elements).toBe(500);
    expect(() => expectF32('dw', exact.map((x, i) => (i === 9 ? x + 2 ** -13 : x)), exact)).toThrow('dw: 1 of 500 elements off, the worst by 1.22e-4');
    expect(() => expectF32('dw', exact.map(() => 0), exact)).toThrow('dw: 0 everywhere');
  });
});

describe('exact and bounded', () => {
  it('words: counts, names the first, all NaN are one', () => {
    expect(expectWords('codes', [1, 2, 3], [1, 2, 3])).toBe(3);
    expect(expectWords('decode', [0x7fc00001, 5], [0x7fc00000, 5], true)).toBe(2);
    expect(() => expectWords('decode', [0x7fc00001, 5], [0x7fc00000, 5])).toThrow('decode: 1 of 2 differ, first at place 0: expected 0x7fc00000, got 0x7fc00001');
    expect(() => expectWords('codes', [1, 4, 4], [1, 2, 3], false, [9, 10, 11])).toThrow('codes: 2 of 3 differ, first at input 0x0000000a: expected 0x00000002, got 0x00000004');
    expect(() => expectWords('codes', [0, 0], [1, 2])).toThrow('codes: 0 everywhere');
    expect(() => expectWords('codes', [1], [1, 2])).toThrow('codes: expected 2 words, got 1');
  });
  it('bounds: NaN is beyond every bound', () => {
    expect(expectWithin('sums', [1, 2.5], [1, 2], [0, 1])).toBe(0.5);
    expect(() => expectWithin('sums', [1, 2.5], [1, 2], [0, 0.25])).toThrow('sums: 1 of 2 elements beyond the rounding bound, the worst by 2.00 times');
    expect(() => expectWithin('sums', [NaN], [1], [1])).toThrow('sums: 1 of 1 elements');
    expect(() => expectWithin('sums', [0, 0], [1, 2], [0.1, 0.1])).toThrow('sums: 0 everywhere');
  });
});

it('the ties of a format are halfway between neighbours, each with both neighbours in FP32', () => {
  const words = [...tieWords(FORMATS.E2M1)];
  expect(words.length).toBe(8 * 8);
  const f32 = new Float32Array(Uint32Array.from(words).buffer);
  const values = Array.from({ length: 8 }, (_, code) => decode(FORMATS.E2M1, code));
  values.slice(1).forEach((value, i) => expect(f32).toContain((value + (values[i] ?? NaN)) / 2));
  // Beyond the largest value, 6, the format would go on with 8.
  expect(f32).toContain(7);
  expect(f32).toContain(-7);
});
