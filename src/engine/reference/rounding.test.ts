/** The reference's BF16 rounding against the integer codec of src/numerics, and what its ops refuse. */
import { describe, expect, it } from 'vitest';
import { FORMATS } from '../../numerics/formats';
import { decode, encode } from '../../numerics/minifloat';
import { REFERENCE_OPS } from './index';
import type { ReferenceCall } from './op';
import { roundBf16, rounded, roundInPlace } from './rounding';

describe('roundBf16', () => {
  it('keeps all 65,536 BF16 values and rounds every midpoint and its neighbours as the codec does', () => {
    const f32 = new Float32Array(1);
    const bits = new Uint32Array(f32.buffer);
    let different = 0;
    for (let code = 0; code < 0x10000; code++) {
      for (const low of [0, 0x7fff, 0x8000, 0x8001]) {
        bits[0] = ((code << 16) | low) >>> 0;
        const x = f32[0] ?? 0;
        if (!Object.is(roundBf16(x), decode(FORMATS.BF16, encode(FORMATS.BF16, x)))) different += 1;
      }
    }
    expect(different).toBe(0);
  });

  it('rounds to FP32 first, as the PyTorch reference does', () => {
    // Just above the midpoint of 1 and 1 + 2^-7 in float64, on it in FP32: the tie goes to even.
    expect(roundBf16(1 + 2 ** -8 + 2 ** -40)).toBe(1);
    expect(roundBf16(1 + 2 ** -8 + 2 ** -23)).toBe(1 + 2 ** -7);
  });

  it('copies or works in place as its callers say', () => {
    const x = Float64Array.of(1.001, 2);
    expect(rounded(x, 'none')).toBe(x);
    expect(Array.from(rounded(x, 'bf16'))).toEqual([1, 2]);
    expect(x[0]).toBe(1.001);
    expect(roundInPlace(x, 'bf16')).toBe(x);
    expect(x[0]).toBe(1);
  });
});

it('refuses a low pass where nothing is rounded', () => {
  const attrs = { inCols: 2, cols: 2, weightTransposed: false, heads: 0, eps: 0 };
  const call: ReferenceCall = {
    attrs, sequences: 1, tokens: 1, inputs: [Float64Array.of(1, 2)], params: { weight: Float64Array.of(1, 2, 3, 4) }, rounding: 'none', low: { fprop: 'nvfp4' },
  };
  expect(() => REFERENCE_OPS.linear.fprop(call)).toThrow('reference: fprop in nvfp4 needs the bf16 policy');
});

it('names a missing or misshapen tensor', () => {
  const attrs = { inCols: 2, cols: 2, weightTransposed: false, heads: 0, eps: 0 };
  const call: ReferenceCall = { attrs, sequences: 1, tokens: 1, inputs: [Float64Array.of(1)], params: {}, rounding: 'none' };
  expect(() => REFERENCE_OPS.gelu.fprop(call)).toThrow('reference: expected 2 elements at port 0, got 1');
  expect(() => REFERENCE_OPS.embed.fprop(call)).toThrow('reference: expected 1 ids, got none');
  expect(() => REFERENCE_OPS.layernorm.fprop({ ...call, inputs: [Float64Array.of(1, 2)] })).toThrow('reference: expected a parameter in role weight');
});
