/**
 * What of a shift stays (method.md 1, "What persists"): from n draws d_1..d_n of a shift, by their inner products alone,
 * so that no draw has to leave the device. The squared length of the common part is estimated without bias: the inner
 * products of different draws, whose independent parts cancel in the mean.
 */
import { assert } from '../base/errors';
import type { PolicyOptions, RecipeName } from '../graph/policy';
import type { PersistentShift } from '../graph/probe-record';
import { RECIPES } from '../graph/recipes';
import type { SitePart } from '../graph/sites';

/** Why batches cannot be draws here, or null: too few of them, or no room. room: how many have both reference run and shift. */
export function whyNotOverBatches(batches: number, room: number): string | null {
  if (batches < FEWEST_BATCHES) return `needs at least ${FEWEST_BATCHES} batches; this run has ${batches}`;
  if (room < batches) return `needs ${batches} reference runs and ${batches} shifts on the device at once, and they do not fit; use shorter windows or a smaller model`;
  return null;
}

/** Why there is nothing to draw at a site, or null: only dy, which dgrad and wgrad read, is rounded at random. */
export function whyNotOverDraws(pass: SitePart, recipe: RecipeName, options: PolicyOptions): string | null {
  if (!RECIPES[recipe].switches.includes('sr')) return `${RECIPES[recipe].label} rounds nothing at random`;
  if (!options.sr) return 'stochastic rounding (sr) is off';
  return pass === 'dgrad' || pass === 'wgrad' ? null : 'only the gradients that dgrad and wgrad read are rounded at random';
}

/** Inner products <d_i, d_j> of n draws, row by row. */
export type Gram = readonly (readonly number[])[];

/** Draws of the first batch under stochastic rounding, and the fewest batches that count as draws. */
export const STOCHASTIC_DRAWS = 8;
export const FEWEST_BATCHES = 8;

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
const at = (gram: Gram, i: number, j: number): number => gram[i]?.[j] ?? NaN;

/**
 * (|sum d|^2 - sum |d|^2) / (n (n - 1)) of n >= 2 draws: unbiased for the squared length of what they share, and so
 * negative about half the time where they share nothing.
 */
export function persistentSquared(gram: Gram): number {
  const n = gram.length;
  assert(n >= 2, `persistentSquared: expected 2 draws or more, got ${n}`);
  return (sum(gram.flat()) - sum(gram.map((_, i) => at(gram, i, i)))) / (n * (n - 1));
}

/** Jackknife error of persistentSquared over n >= 3 draws. */
export function jackknifeError(gram: Gram): number {
  const n = gram.length;
  assert(n >= 3, `jackknifeError: expected 3 draws or more, got ${n}`);
  const leftOut = gram.map((_, out) => persistentSquared(gram.filter((_, i) => i !== out).map((row) => row.filter((_, j) => j !== out))));
  const mean = sum(leftOut) / n;
  return Math.sqrt(((n - 1) / n) * sum(leftOut.map((value) => (value - mean) ** 2)));
}

/**
 * The record of n >= 3 draws. referenceSquares: |g*|^2 of each draw's batch; one value where all draws share a batch.
 * The error of the length is that of its square carried through the root: how much longer the shift is when its square
 * is one error larger. se / (2 length) where the shift is clear, sqrt(se) where it is zero, where a derivative is none.
 */
export function persistentShift(gram: Gram, referenceSquares: readonly number[]): PersistentShift {
  const scale = sum(referenceSquares) / referenceSquares.length;
  assert(scale > 0, 'persistentShift: expected references that are not zero');
  const squared = Math.max(0, persistentSquared(gram)) / scale;
  const relative = Math.sqrt(squared);
  const meanSquared = sum(gram.map((_, i) => at(gram, i, i))) / gram.length / scale;
  return {
    draws: gram.length,
    relative,
    standardError: Math.sqrt(squared + jackknifeError(gram) / scale) - relative,
    share: meanSquared > 0 ? squared / meanSquared : 0,
  };
}
