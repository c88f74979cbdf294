/**
 * The metrics against exact constructions in the plane, against the PyTorch reference's `metrics` (bendref/angle.py, unit
 * vectors in float64) on vectors both can make, and the pooling rules against their own definitions.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addSums, angleOfTanSquared, cleanAngle, gradientMetrics, gradientSums, poolAngles, predictAngle, tanSquared } from './angle';

const radians = (deg: number): number => (deg * Math.PI) / 180;

/** A vector of length `length` turned by `deg` from [3, 4] / 5 * `base`. */
function turned(deg: number, length: number, base: number): { g: number[]; r: number[] } {
  const [x, y] = [0.6, 0.8];
  const [c, s] = [Math.cos(radians(deg)), Math.sin(radians(deg))];
  return { g: [length * (c * x - s * y), length * (s * x + c * y)], r: [base * x, base * y] };
}

describe('angle', () => {
  it.each([1e-6, 1e-5, 0.001, 0.0123, 0.5, 1, 24.5, 45, 89.9, 90, 120, 179, 179.9])('is right to 9 digits in the plane at %f degrees', (deg) => {
    // The vectors themselves carry a relative rounding of 2e-16, which is 1e-8 of the smallest angle here.
    const { g, r } = turned(deg, 1, 1);
    expect(Math.abs(gradientMetrics(gradientSums(g, r)).angleDeg / deg - 1)).toBeLessThan(Math.max(1e-9, 3e-14 / deg));
  });

  it('is right to 3 digits at 0.001 and at 1e-6 degrees when the lengths differ too', () => {
    // FP64 sums hold the angle while (angle / relative length change)^2 is well above 1e-16.
    for (const [deg, length] of [[0.001, 0.999], [0.001, 1.001], [0.001, 1.5], [1e-6, 0.999], [1e-6, 1.001]] as const) {
      const { g, r } = turned(deg, length, 1);
      expect(Math.abs(gradientMetrics(gradientSums(g, r)).angleDeg / deg - 1)).toBeLessThan(5e-4);
    }
  });

  it('survives FP32 partial sums at 0.001 degrees', () => {
    const { g, r } = turned(0.001, 1, 1);
    const sums = gradientSums(g, r);
    const f32 = { gg: Math.fround(sums.gg), rr: Math.fround(sums.rr), gr: Math.fround(sums.gr), dd: Math.fround(sums.dd), dr: Math.fround(sums.dr) };
    expect(Math.abs(gradientMetrics(f32).angleDeg / 0.001 - 1)).toBeLessThan(5e-4);
    // What must not be done: the cosine of the same sums is 1 and has lost the angle.
    expect(Math.acos(Math.min(1, f32.gr / Math.sqrt(f32.gg * f32.rr)))).toBe(0);
  });

  // bendref.angle.metrics(r + e * d, r) with r = sin(i), d = cos(3 i), i = 0 .. 999, printed by Python.
  it.each([
    [1e-8, 5.736830237313521e-7, 1.001265763140487e-8, 0.9999999999997184],
    [1e-4, 0.005736830234203525, 0.00010012657630723344, 1.0000000021991178],
    [1, 45.03704452281442, 1.0012657630723358, 1.4150889927313914],
    [50, 88.85729457181701, 50.06328815361679, 50.073246421662176],
  ])('agrees with the PyTorch reference at shift %f', (e, angleDeg, relativeShift, lengthRatio) => {
    const r = Array.from({ length: 1000 }, (_, i) => Math.sin(i));
    const m = gradientMetrics(gradientSums(r.map((x, i) => x + e * Math.cos(3 * i)), r));
    expect(Math.abs(m.angleDeg / angleDeg - 1)).toBeLessThan(1e-6);
    expect(Math.abs(m.relativeShift / relativeShift - 1)).toBeLessThan(1e-6);
    expect(m.lengthRatio).toBeCloseTo(lengthRatio, 12);
    expect(m.rotationShare).toBeCloseTo(0.99999999921039, 7);
  });

  it('has a value where a gradient is zero or unmoved', () => {
    expect(gradientMetrics(gradientSums([3, 4], [3, 4]))).toEqual({ angleDeg: 0, relativeShift: 0, lengthRatio: 1, rotationShare: 0 });
    expect(gradientMetrics(gradientSums([0, 0], [0, 0]))).toEqual({ angleDeg: 0, relativeShift: 0, lengthRatio: 1, rotationShare: 0 });
    expect(gradientMetrics(gradientSums([0, 0], [3, 4]))).toEqual({ angleDeg: 90, relativeShift: 1, lengthRatio: 0, rotationShare: 0 });
  });
});

describe('rotation share', () => {
  it('is 1 for a shift across, 0 along, sin^2 between', () => {
    expect(gradientMetrics(gradientSums([1, 0.1], [1, 0])).rotationShare).toBe(1);
    expect(gradientMetrics(gradientSums([1.5, 0], [1, 0])).rotationShare).toBe(0);
    expect(gradientMetrics(gradientSums([1.03, 0.04], [1, 0])).rotationShare).toBeCloseTo(0.64, 12);
  });
});

it('sums of parts are the sums of the whole', () => {
  const g = [1, 2, 3, 4];
  const r = [1.5, 2.25, -3, 4];
  expect(addSums(gradientSums(g.slice(0, 1), r.slice(0, 1)), gradientSums(g.slice(1), r.slice(1)))).toEqual(gradientSums(g, r));
});

describe('pooling', () => {
  it('is atan of the root mean squared tangent, as bendref.mean_angle', () => {
    expect(poolAngles([21.3962, 20.1, 25.7, 0.3]).angleDeg).toBeCloseTo(19.810954536288143, 12);
  });

  it('has the delta-method error: half the width between mean - se and mean + se of tan^2', () => {
    const angles = [4.9, 5, 5.1, 5.05];
    const t = angles.map(tanSquared);
    const m = t.reduce((a, b) => a + b) / 4;
    const se = Math.sqrt(t.reduce((a, b) => a + (b - m) ** 2, 0) / 3 / 4);
    const numeric = (angleOfTanSquared(m + se * 1e-4) - angleOfTanSquared(m - se * 1e-4)) / 2e-4;
    expect(poolAngles(angles).angleSeDeg / numeric).toBeCloseTo(1, 8);
  });

  it('of equal angles is that angle with no error; one batch has no error', () => {
    expect(poolAngles([7, 7, 7]).angleDeg).toBeCloseTo(7, 12);
    expect(poolAngles([7, 7, 7]).angleSeDeg).toBeCloseTo(0, 12);
    expect(poolAngles([7]).angleSeDeg).toBe(0);
    expect(poolAngles([0, 0])).toEqual({ angleDeg: 0, angleSeDeg: 0 });
  });
});

it('a clean angle and its floor predict the raw angle; under the floor it is 0', () => {
  const angle = fc.double({ min: 0.001, max: 80, noNaN: true });
  fc.assert(fc.property(angle, angle, (a, b) => {
    const [floor, raw] = a < b ? [a, b] : [b, a];
    expect(predictAngle([cleanAngle(raw, floor)], floor)).toBeCloseTo(raw, 6);
    expect(cleanAngle(floor, raw)).toBe(0);
    expect(predictAngle([], floor)).toBeCloseTo(floor, 9);
  }));
});

it('predicts a joint angle in which the floor counts once', () => {
  expect(predictAngle([angleOfTanSquared(0.01), angleOfTanSquared(0.02)], angleOfTanSquared(0.06))).toBeCloseTo(angleOfTanSquared(0.09), 12);
});
