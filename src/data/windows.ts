/**
 * Token stream -> batches of windows (method.md 4): seeded random starts in the first 90 %; the last 10 % is held out.
 * The start of window (batch k, row b) is addressed, not drawn in turn, so more batches never change the first ones.
 */
import { BendscopeError } from '../base/errors';
import { below, philox4x32 } from '../base/random';

/** [batch][row][T+1 ids]: inputs are all but the last id, targets all but the first. */
export type TokenBatches = readonly (readonly (readonly number[])[])[];

export interface WindowSpec {
  readonly batches: number;
  /** B, rows a batch. */
  readonly sequences: number;
  /** T, positions a row. */
  readonly tokens: number;
  readonly seed: number;
}

/** Second key word: keeps these draws apart from other uses of the seed. ASCII "WIND". */
const STREAM = 0x57494e44;

/** Number of ids in the training part: the first 90 %. */
export function trainingLength(count: number): number {
  return Math.floor(count * 0.9);
}

/**
 * Windows for a probe. Windows may overlap, but the training part must be as long as all of them together, or the
 * standard error over batches would mean nothing. Throws E-DATA-01 when it is not.
 */
export function drawWindows(ids: ArrayLike<number> & { slice(begin: number, end: number): ArrayLike<number> }, spec: WindowSpec): number[][][] {
  const { batches, sequences, tokens, seed } = spec;
  for (const [name, value] of Object.entries({ batches, sequences, tokens })) {
    if (!Number.isSafeInteger(value) || value < 1) throw new BendscopeError('E-DATA-04', `${name}: expected a whole number from 1, got ${value}.`, 'Change it in the data settings.');
  }
  const length = tokens + 1;
  const windows = batches * sequences;
  const training = trainingLength(ids.length);
  if (training < windows * length) {
    const needed = Math.ceil((windows * length) / 0.9);
    throw new BendscopeError('E-DATA-01', `Only ${ids.length} tokens: at least ${needed} are needed for ${windows} windows.`, 'Use a longer text, or fewer or shorter windows.');
  }
  return Array.from({ length: batches }, (_, k) =>
    Array.from({ length: sequences }, (__, b) => {
      const [word] = philox4x32([b, k, 0, 0], [seed >>> 0, STREAM]);
      const start = below(training - length + 1, word);
      return Array.from(ids.slice(start, start + length));
    }),
  );
}
