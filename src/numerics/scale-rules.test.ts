/**
 * The MX scale in TransformerEngine's FP32 form (the oracle's) against the integer form a device uses (formats.md 2.4), on
 * every exponent; and the scales of FP8 against float64.
 */
import { describe, expect, it } from 'vitest';
import { bitsOf, F32_MAX, fromBits } from './float-bits';
import { FORMATS, type Minifloat } from './formats';
import { currentScale, elementOf, largest, largestExponent, mxScaleFloor, mxScaleUp } from './scale-rules';

const { E4M3, E5M2, E2M1, E2M3, E3M2 } = FORMATS;

/** c = clamp(e - emax + (mant > T), 0, 0xFE), T the mantissa of the largest element; at e = emax, mant = T + 1 it is 0. */
function integerForm(bits: number, format: Minifloat, up: boolean): number {
  const [e, mantissa] = [bits >>> 23, bits & 0x7fffff];
  const T = bitsOf(largest(format)) & 0x7fffff;
  const emax = largestExponent(format);
  if (up && e === emax && mantissa === T + 1) return 0;
  return Math.min(Math.max(e - emax + Number(up && mantissa > T), 0), 0xfe);
}

describe('MX scales', () => {
  it('T is 0x600000 for E4M3 and E5M2, 0x400000 for E2M1; emax 8, 15, 2, 2, 4', () => {
    expect([E4M3, E5M2, E2M1].map((f) => bitsOf(largest(f)) & 0x7fffff)).toEqual([0x600000, 0x600000, 0x400000]);
    expect([E4M3, E5M2, E2M1, E2M3, E3M2].map(largestExponent)).toEqual([8, 15, 2, 2, 4]);
  });
  it.each([E4M3, E5M2, E2M1, E3M2, E2M3])('$name: both rules equal their integer form in every binade', (format) => {
    const T = bitsOf(largest(format)) & 0x7fffff;
    const mantissas = [0, 1, 2, 0x3fffff, 0x400000, 0x400001, T - 2, T - 1, T, T + 1, T + 2, 0x7ffffe, 0x7fffff, 0x123456, 0x654321];
    for (let e = 0; e < 255; e++) {
      for (const mantissa of mantissas) {
        const bits = (e << 23) | mantissa;
        const where = `bits ${bits.toString(16)}`;
        expect(mxScaleUp(fromBits(bits), format), where).toBe(integerForm(bits, format, true));
        expect(mxScaleFloor(fromBits(bits), format), where).toBe(integerForm(bits, format, false));
      }
    }
  });
  it('Inf: 0xFE rounded up, 0xFF by the floor', () => {
    expect([mxScaleUp(Infinity, E4M3), mxScaleFloor(Infinity, E4M3)]).toEqual([0xfe, 0xff]);
  });
});

describe('current scaling', () => {
  it('maps amax to the largest element within one FP32 rounding; the power of two never exceeds it', () => {
    for (let k = -126; k < 126; k++) {
      for (const fraction of [1, 1.1, 1.75, 1.7500001, 1.9999999]) {
        const amax = Math.fround(fraction * 2 ** k);
        for (const format of [E4M3, E5M2]) {
          const scale = currentScale(amax, format, false, F32_MAX);
          const power = currentScale(amax, format, true, F32_MAX);
          if (scale < F32_MAX && scale >= 2 ** -126) expect(Math.abs(amax * scale / largest(format) - 1)).toBeLessThanOrEqual(2 ** -24);
          expect(power <= scale && power > scale / 2 && Number.isInteger(Math.log2(power))).toBe(true);
        }
      }
    }
  });
});

it('an element is no scale format', () => {
  expect(() => elementOf({ element: 'E8M0', scale: 'mx-up', block: [1, 32] })).toThrow('expected an element format, got E8M0');
});
