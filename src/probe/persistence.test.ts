/** The estimator of what persists on shifts whose common part is known, and on small cases by hand. */
import { describe, expect, it } from 'vitest';
import { philox4x32 } from '../base/random';
import { jackknifeError, persistentShift, persistentSquared, type Gram } from './persistence';

/** Standard normal numbers addressed by (experiment, draw, element): Box-Muller over Philox. */
function normal(experiment: number, draw: number, element: number): number {
  const [a, b] = philox4x32([element, draw, experiment, 0], [7, 0]);
  return Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32)) * Math.cos((2 * Math.PI * b) / 2 ** 32);
}

const gramOf = (draws: readonly (readonly number[])[]): Gram => draws.flatMap((a) => draws.map((b) => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)));

/** n draws of `width` numbers: a common part of squared length `common`, and noise of squared length about `noise`. */
function drawsOf(experiment: number, n: number, common: number, noise: number): number[][] {
  const width = 40;
  const direction = Array.from({ length: width }, (_, i) => Math.sin(1 + i * i));
  const length = Math.sqrt(direction.reduce((sum, x) => sum + x * x, 0));
  return Array.from({ length: n }, (_, draw) => direction.map((x, i) => (x * Math.sqrt(common)) / length + normal(experiment, draw, i) * Math.sqrt(noise / width)));
}

describe('persistent^2', () => {
  it.each([[8, 0.04, 1], [8, 0, 1], [8, 1, 0.3], [3, 0.25, 1], [2, 0.25, 1]])('%i draws, common %f, noise %f: unbiased within 3 standard errors; the jackknife knows its spread', (n, common, noise) => {
    const grams = Array.from({ length: 400 }, (_, experiment) => gramOf(drawsOf(experiment, n, common, noise)));
    const found = grams.map((gram) => persistentSquared(gram));
    const mean = found.reduce((a, b) => a + b, 0) / found.length;
    const spread = Math.sqrt(found.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (found.length - 1));
    expect(Math.abs(mean - common)).toBeLessThan((3 * spread) / Math.sqrt(found.length));
    // A naive estimate, |mean d|^2, is off by noise / n: the test would see that.
    expect(noise / n).toBeGreaterThan((3 * spread) / Math.sqrt(found.length));
    if (n < 3) return;
    // Where the common part dominates the jackknife is right; where there is only noise, whose pairs are all of the
    // estimate (a degenerate U-statistic), its variance is 2 (n - 1) / (n - 2) times too large, never too small.
    const claimed = Math.sqrt(grams.reduce((sum, gram) => sum + jackknifeError(gram, [1]) ** 2, 0) / grams.length);
    expect(claimed / spread).toBeGreaterThan(0.9);
    expect(claimed / spread).toBeLessThan(1.1 * Math.sqrt((2 * (n - 1)) / (n - 2)));
  });

  it('the jackknife is that of leaving each draw out', () => {
    const draws = drawsOf(3, 5, 0.5, 1);
    const leftOut = draws.map((_, out) => persistentSquared(gramOf(draws.filter((_, i) => i !== out))));
    const mean = leftOut.reduce((a, b) => a + b) / 5;
    expect(jackknifeError(gramOf(draws), [1])).toBeCloseTo(Math.sqrt(0.8 * leftOut.reduce((sum, x) => sum + (x - mean) ** 2, 0)), 12);
  });

  it('knows that references vary too: its claim is the spread of the ratio', () => {
    const n = 8;
    const found = Array.from({ length: 300 }, (_, experiment) => {
      const gram = gramOf(drawsOf(experiment, n, 1, 0.01));
      const references = Array.from({ length: n }, (_, draw) => (1 + 0.2 * normal(experiment, draw, 999)) ** 2);
      return { ratio: persistentSquared(gram) / (references.reduce((a, b) => a + b) / n), claimed: jackknifeError(gram, references) };
    });
    const mean = found.reduce((sum, { ratio }) => sum + ratio, 0) / found.length;
    const spread = Math.sqrt(found.reduce((sum, { ratio }) => sum + (ratio - mean) ** 2, 0) / (found.length - 1));
    const claimed = Math.sqrt(found.reduce((sum, one) => sum + one.claimed ** 2, 0) / found.length);
    expect(claimed / spread).toBeGreaterThan(0.9);
    expect(claimed / spread).toBeLessThan(1.1);
  });

  it('two draws: their inner product', () => {
    expect(persistentSquared(gramOf([[1, 2], [3, -1]]))).toBeCloseTo(1, 12);
    expect(persistentSquared(gramOf([[1, 0], [-1, 0]]))).toBe(-1);
  });
});

describe('persistent shift', () => {
  it('equal draws: all of it stays, without error', () => {
    const found = persistentShift(gramOf(Array.from({ length: 8 }, () => [3, 4])), [100]);
    expect(found.draws).toBe(8);
    expect(found.relative).toBeCloseTo(0.5, 12);
    expect(found.share).toBeCloseTo(1, 12);
    expect(found.standardError).toBeCloseTo(0, 7);
  });

  it('a shift of zero: nothing stays', () => {
    expect(persistentShift(gramOf(Array.from({ length: 8 }, () => [0, 0])), [1, 2, 1, 2, 1, 2, 1, 2])).toEqual({ draws: 8, relative: 0, standardError: 0, share: 0 });
  });

  it('draws that cancel: nothing stays, with the error that such draws leave', () => {
    const found = persistentShift(gramOf([[1, 0], [-1, 0], [0, 1], [0, -1]]), [4]);
    expect([found.relative, found.share]).toEqual([0, 0]);
    expect(found.standardError).toBe(0);
    const uneven = persistentShift(gramOf([[1, 0], [-1, 0], [0, 1], [0, 0]]), [4]);
    expect(uneven.relative).toBe(0);
    expect(uneven.standardError).toBeGreaterThan(0);
  });

  it('relative to the root mean square of the references; its error is that of its square over twice its length', () => {
    const gram = gramOf(drawsOf(0, 8, 1, 0.01));
    const references = [9, 16, 7, 8, 10, 10, 9, 11];
    const found = persistentShift(gram, references);
    expect(found.relative).toBeCloseTo(Math.sqrt(persistentSquared(gram) / 10), 12);
    expect(found.standardError / (jackknifeError(gram, references) / (2 * found.relative))).toBeCloseTo(1, 1);
  });
});
