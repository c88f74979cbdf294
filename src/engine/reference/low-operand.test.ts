/**
 * Low GEMM operands of the reference: the product against decode-then-multiply under every scheme and switch, ragged shapes
 * included; the transform; where a linear's random bytes come from; the weights of a low op group.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORMATS } from '../../numerics/formats';
import { rht } from '../../numerics/hadamard';
import { decodeTable } from '../../numerics/minifloat';
import { outValues, quantize } from '../../numerics/quantize';
import { operandFormat, type OperandRole } from '../../numerics/schemes';
import { randomBytes, streamOf, type RandomKey } from '../../numerics/stochastic';
import type { PassScheme, PolicyOptions } from '../../graph/policy';
import { linearPass } from './linear';
import { lowProduct, outTensor } from './low-operand';
import { multiply, transpose } from './matrix';
import type { ReferenceCall } from './op';
import { roundBf16 } from './rounding';

const CASES: readonly (readonly [PassScheme, PolicyOptions])[] = [
  ['nvfp4', {}], ['nvfp4', { weights1d: true }], ['fp8', {}], ['fp8', { pow2: true }], ['fp8-block', {}],
  ['mxfp8', {}], ['mxfp8', { floor: true }], ['mxfp8', { e5m2Grad: true }], ['mxfp4', {}], ['mxfp4', { floor: true }],
];

function bf16Values(count: number, seed: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => roundBf16(Math.sin(seed + 1.7 * i) * 2 ** (i % 5)));
}
function decoded(scheme: PassScheme, options: PolicyOptions, values: Float64Array, rows: number, length: number, role: OperandRole, random?: RandomKey): Float64Array {
  const bytes = random ? { randomBytes: randomBytes(rows, length, random) } : {};
  return Float64Array.from(quantize(Float32Array.from(values), rows, length, operandFormat(scheme, role, options), bytes).dequantized);
}
/** Decode factors and alpha carry a few FP32 roundings each; sums are float64. */
function expectProduct(actual: Float64Array, a: Float64Array, b: Float64Array, rows: number, length: number, cols: number): void {
  const expected = multiply(a, transpose(b, cols, length), rows, length, cols);
  const bound = multiply(a.map(Math.abs), transpose(b.map(Math.abs), cols, length), rows, length, cols);
  expect(actual.every((v, i) => Math.abs(v - (expected[i] as number)) <= 8 * 2 ** -24 * (bound[i] as number))).toBe(true);
}

describe('lowProduct', () => {
  it.each(CASES)('%s %j: the product of dequantized operands, ragged shapes', (scheme, options) => {
    const size = fc.integer({ min: 1, max: 20 });
    fc.assert(fc.property(size, fc.integer({ min: 1, max: 140 }), size, fc.nat(1000), (rows, length, cols, seed) => {
      const [a, b] = [bf16Values(rows * length, seed), bf16Values(cols * length, seed + 0.5)];
      const actual = lowProduct(scheme, options, { values: a, rows, role: 'dy' }, { values: b, rows: cols, role: 'w' }, length);
      expectProduct(actual, decoded(scheme, options, a, rows, length, 'dy'), decoded(scheme, options, b, cols, length, 'w'), rows, length, cols);
    }), { numRuns: 12, seed: 1 });
  });

  it('transform: both operands, padded to 16, random bytes of the padded shape', () => {
    const [rows, length, cols] = [3, 37, 5];
    const key: RandomKey = { seed: 9, stream: 4, step: 2, draw: 1 };
    const [x, dy] = [bf16Values(rows * length, 1), bf16Values(cols * length, 2)];
    const actual = lowProduct('nvfp4', {}, { values: x, rows, role: 'x' }, { values: dy, rows: cols, role: 'dy', random: key }, length, true);
    const transformed = (v: Float64Array, r: number): Float64Array => Float64Array.from(rht(Float32Array.from(v), r, length));
    expectProduct(actual, decoded('nvfp4', {}, transformed(x, rows), rows, 48, 'x'), decoded('nvfp4', {}, transformed(dy, cols), cols, 48, 'dy', key), rows, 48, cols);
  });
});

describe('passes of a linear', () => {
  const [tokens, inCols, cols] = [21, 6, 10];
  const [x, dy, weight] = [bf16Values(tokens * inCols, 1), bf16Values(tokens * cols, 2), bf16Values(inCols * cols, 3)];
  const base: ReferenceCall = {
    attrs: { inCols, cols, weightTransposed: false, heads: 0, eps: 0 }, sequences: 1, tokens, inputs: [x], params: { weight }, rounding: 'bf16',
  };
  const low = { dgrad: 'nvfp4', wgrad: 'nvfp4' } as const;

  it('stochastic rounding: dy only, stream 2 * node + copy, byte by place', () => {
    const options: PolicyOptions = { sr: true, seed: 7 };
    const call: ReferenceCall = { ...base, low, options, tensorNumber: 11, draw: { step: 4, draw: 2 } };
    const key = (copy: 'row' | 'col'): RandomKey => ({ seed: 7, stream: streamOf(11, copy), step: 4, draw: 2 });
    const row = decoded('nvfp4', {}, dy, tokens, cols, 'dy', key('row'));
    expectProduct(linearPass(call, 'dgrad', dy), row, decoded('nvfp4', {}, weight, inCols, cols, 'w'), tokens, cols, inCols);
    const column = decoded('nvfp4', {}, transpose(dy, tokens, cols), cols, tokens, 'dy', key('col'));
    expectProduct(linearPass(call, 'wgrad', dy), decoded('nvfp4', {}, transpose(x, tokens, inCols), inCols, tokens, 'x'), column, inCols, tokens, cols);
    // The same numbers again; others for another node, step, draw or seed.
    for (const pass of ['dgrad', 'wgrad'] as const) {
      const once = linearPass(call, pass, dy);
      expect(linearPass(call, pass, dy)).toEqual(once);
      for (const other of [{ tensorNumber: 12 }, { draw: { step: 5, draw: 2 } }, { draw: { step: 4, draw: 3 } }, { options: { sr: true, seed: 8 } }]) {
        expect(linearPass({ ...call, ...other }, pass, dy)).not.toEqual(once);
      }
    }
  });

  it('switches belong to schemes: rht and sr change nothing in MXFP4, rht only wgrad in NVFP4', () => {
    const mx = { dgrad: 'mxfp4', wgrad: 'mxfp4' } as const;
    const all: PolicyOptions = { rht: true, sr: true, weights1d: true };
    for (const pass of ['dgrad', 'wgrad'] as const) expect(linearPass({ ...base, low: mx, options: all }, pass, dy)).toEqual(linearPass({ ...base, low: mx }, pass, dy));
    const rotated: ReferenceCall = { ...base, low, options: { rht: true } };
    expect(linearPass(rotated, 'dgrad', dy)).toEqual(linearPass({ ...base, low }, 'dgrad', dy));
    expect(linearPass(rotated, 'wgrad', dy)).not.toEqual(linearPass({ ...base, low }, 'wgrad', dy));
  });

  it.each<PolicyOptions>([{}, { pow2: true }, { out: 'block' }, { out: 'mx' }])('low op group, %j: E4M3 weights in fprop and dgrad along each contraction, none in wgrad', (options) => {
    const call: ReferenceCall = { ...base, lowGroup: true, options };
    const quantized = (w: Float64Array, rows: number, length: number): Float64Array => Float64Array.from(outValues(quantize(Float32Array.from(w), rows, length, operandFormat('fp8-out', 'w', options))));
    const turned = transpose(weight, inCols, cols);
    expect(linearPass(call, 'fprop')).toEqual(multiply(x, transpose(quantized(turned, cols, inCols), cols, inCols), tokens, inCols, cols));
    expect(linearPass(call, 'dgrad', dy)).toEqual(multiply(dy, transpose(quantized(weight, inCols, cols), inCols, cols), tokens, cols, inCols));
    expect(linearPass(call, 'wgrad', dy)).toEqual(linearPass(base, 'wgrad', dy));
    // A low pass quantizes the BF16 weight itself, never the E4M3 one.
    const both: ReferenceCall = { ...call, low: { fprop: 'mxfp4', dgrad: 'mxfp4' } };
    for (const pass of ['fprop', 'dgrad'] as const) expect(linearPass(both, pass, dy)).toEqual(linearPass({ ...both, lowGroup: false }, pass, dy));
  });
});

it.each([['x', 'E4M3'], ['w', 'E4M3'], ['dy', 'E5M2']] as const)('a low op group holds %s as %s, and BF16 keeps it under power-of-two scales', (role, element) => {
  const values = bf16Values(3 * 130, 4);
  const format = operandFormat('fp8-out', role, { pow2: true });
  const { encode } = quantize(Float32Array.from(values), 3, 130, format).tensor;
  const table = new Set(decodeTable(FORMATS[element]));
  expect(outTensor(values, 3, 130, role, { pow2: true }).every((v) => table.has(v * encode))).toBe(true);
});
