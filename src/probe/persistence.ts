/**
 * What of a shift stays (method.md 1, "What persists"): from n draws d_1..d_n of a shift, by their inner products alone,
 * so that no draw has to leave the device. The squared length of the common part is estimated without bias: the inner
 * products of different draws, whose independent parts cancel in the mean.
 */
import { assert } from '../base/errors';
import { FEWEST_BATCHES } from '../graph/ledger';
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

/** Inner products <d_i, d_j> of n draws, [n, n]. */
export type Gram = ArrayLike<number>;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Row sums <d_i, sum d> and squares |d_i|^2 of the draws. */
function rowsAndSquares(gram: Gram, fewest: number): { readonly rows: number[]; readonly squares: number[] } {
  const n = Math.sqrt(gram.length);
  assert(Number.isInteger(n) && n >= fewest, `persistence: expected the inner products of ${fewest} draws or more, got ${gram.length}`);
  const row = (i: number): number[] => Array.from({ length: n }, (_, j) => gram[i * n + j] ?? NaN);
  const indices = Array.from({ length: n }, (_, i) => i);
  return { rows: indices.map((i) => sum(row(i))), squares: indices.map((i) => gram[i * n + i] ?? NaN) };
}

/**
 * (|sum d|^2 - sum |d|^2) / (n (n - 1)) of n >= 2 draws: unbiased for the squared length of what they share, and so
 * negative about half the time where they share nothing.
 */
export function persistentSquared(gram: Gram): number {
  const { rows, squares } = rowsAndSquares(gram, 2);
  return (sum(rows) - sum(squares)) / (rows.length * (rows.length - 1));
}

/**
 * persistent^2 / mean |g*|^2 with each of n >= 3 draws left out in turn, of shift and reference alike: a ratio's error
 * is that of both. One reference for all draws has no part in it.
 */
function leftOutRatios(gram: Gram, referenceSquares: readonly number[]): number[] {
  const { rows, squares } = rowsAndSquares(gram, 3);
  const n = rows.length;
  const pairs = sum(rows) - sum(squares);
  const references = sum(referenceSquares);
  return rows.map((row, i) => {
    // Without draw i the pairs with it are gone, on both sides of the diagonal.
    const squared = (pairs - 2 * (row - (squares[i] ?? NaN))) / ((n - 1) * (n - 2));
    return squared / (referenceSquares.length === n ? (references - (referenceSquares[i] ?? NaN)) / (n - 1) : references / referenceSquares.length);
  });
}

/** Jackknife error of persistent^2 / mean |g*|^2 over n >= 3 draws; references: |g*|^2 of every draw, or one for all. */
export function jackknifeError(gram: Gram, referenceSquares: readonly number[]): number {
  const leftOut = leftOutRatios(gram, referenceSquares);
  const n = leftOut.length;
  const mean = sum(leftOut) / n;
  return Math.sqrt(((n - 1) / n) * sum(leftOut.map((value) => (value - mean) ** 2)));
}

/**
 * The record of n >= 3 draws. referenceSquares: |g*|^2 of each draw's batch; one value where all draws share a batch.
 * The error of the length is that of its square carried through the root: how much longer the shift is when its square
 * is one error larger. se / (2 length) where the shift is clear, sqrt(se) where it is zero, where a derivative is none.
 */
export function persistentShift(gram: Gram, referenceSquares: readonly number[]): PersistentShift {
  const { squares } = rowsAndSquares(gram, 3);
  assert(referenceSquares.length === squares.length || referenceSquares.length === 1, 'persistentShift: expected one reference, or one a draw');
  const scale = sum(referenceSquares) / referenceSquares.length;
  assert(scale > 0, 'persistentShift: expected references that are not zero');
  const squared = Math.max(0, persistentSquared(gram)) / scale;
  const relative = Math.sqrt(squared);
  const meanSquared = sum(squares) / squares.length / scale;
  return {
    draws: squares.length,
    relative,
    standardError: Math.sqrt(squared + jackknifeError(gram, referenceSquares)) - relative,
    share: meanSquared > 0 ? squared / meanSquared : 0,
  };
}
