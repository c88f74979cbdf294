/**
 * A batch as the device wants it: inputs, targets, and the tokens grouped by id for the embedding's gradient; and the
 * mean loss from the row statistics the device returns.
 */
import { BendscopeError } from '../base/errors';
import type { BatchShape } from './values';

/** tokens: B rows of T + 1 ids -> ids, targets [B T], starts [V + 1], order [B T]. */
export function orderTokens(tokens: readonly (readonly number[])[], shape: BatchShape, vocabulary: number): { ids: Uint32Array; targets: Uint32Array; starts: Uint32Array; order: Uint32Array } {
  const { sequences, tokens: length } = shape;
  if (tokens.length !== sequences || tokens.some((row) => row.length !== length + 1)) {
    throw new BendscopeError('E-DATA-03', `batch: expected ${sequences} rows of ${length + 1} ids, got ${tokens.length} rows of ${[...new Set(tokens.map((row) => row.length))].join(' or ') || 'none'}`, 'Give every sequence the same length.');
  }
  const n = sequences * length;
  const ids = new Uint32Array(n);
  const targets = new Uint32Array(n);
  tokens.forEach((row, b) => {
    row.forEach((id, t) => {
      if (!Number.isInteger(id) || id < 0 || id >= vocabulary) {
        throw new BendscopeError('E-DATA-02', `Token ${id} is outside the vocabulary of ${vocabulary}.`, 'Use the tokenizer that belongs to this model.');
      }
      if (t < length) ids[b * length + t] = id;
      if (t > 0) targets[b * length + t - 1] = id;
    });
  });
  const starts = new Uint32Array(vocabulary + 1);
  for (const id of ids) starts[id + 1] = (starts[id + 1] ?? 0) + 1;
  for (let v = 0; v < vocabulary; v++) starts[v + 1] = (starts[v + 1] ?? 0) + (starts[v] ?? 0);
  const next = starts.slice();
  const order = new Uint32Array(n);
  ids.forEach((id, i) => {
    const at = next[id] ?? 0;
    order[at] = i;
    next[id] = at + 1;
  });
  return { ids, targets, starts, order };
}

/** stats [N, 4]: maximum m, sum exp(z - m), target logit, unused -> mean of m + log(sum) - z_target, in FP64. */
export function lossOf(stats: Float32Array, rows: number): number {
  let total = 0;
  for (let i = 0; i < rows; i++) total += (stats[4 * i] ?? NaN) + Math.log(stats[4 * i + 1] ?? NaN) - (stats[4 * i + 2] ?? NaN);
  return total / rows;
}
