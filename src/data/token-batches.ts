/**
 * Token ids that come from outside: the command line's T.json, and any ids that are about to reach a model.
 */
import { BendscopeError } from '../base/errors';
import type { TokenBatches } from './windows';

/**
 * Text of T.json -> batches. `{"tokens": [[T+1 ids], ...]}` is one batch, `{"batches": [[[...]]]}` several. Ids are not
 * checked against a model here (checkTokens does). Throws E-DATA-03 for another shape.
 */
export function parseTokenFile(json: string, file = 'tokens.json'): TokenBatches {
  const wrong = (what: string): BendscopeError =>
    new BendscopeError('E-DATA-03', `${file}: ${what}.`, 'Write {"tokens": [[ids], ...]} for one batch, or {"batches": [[[ids], ...], ...]} for several.');
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw wrong(`expected JSON, got ${error instanceof Error ? error.message : String(error)}`);
  }
  const { tokens, batches } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as { tokens?: unknown; batches?: unknown };
  if ((tokens === undefined) === (batches === undefined)) throw wrong(`expected either tokens or batches, got ${tokens === undefined ? 'neither' : 'both'}`);
  const list = tokens === undefined ? batches : [tokens];
  if (!Array.isArray(list) || list.length === 0) throw wrong('expected at least one batch, got none');
  list.forEach((rows: unknown, k) => {
    if (!Array.isArray(rows) || rows.length === 0) throw wrong(`batch ${k}: expected rows of ids, got none`);
    rows.forEach((row: unknown, b) => {
      if (!Array.isArray(row) || row.length < 2) throw wrong(`batch ${k} row ${b}: expected at least 2 ids (an input and its target), got ${Array.isArray(row) ? row.length : typeof row}`);
      const first: unknown = rows[0];
      if (Array.isArray(first) && row.length !== first.length) throw wrong(`batch ${k} row ${b}: expected ${first.length} ids as in row 0, got ${row.length}`);
      const odd: unknown = row.find((id: unknown) => typeof id !== 'number');
      if (odd !== undefined) throw wrong(`batch ${k} row ${b}: expected numbers, got ${JSON.stringify(odd)}`);
    });
  });
  return list as TokenBatches;
}

/** Throws E-DATA-02 for an id outside the vocabulary, E-DATA-04 for rows longer than the model's position table. */
export function checkTokens(batches: TokenBatches, model: { readonly vocabulary: number; readonly maxTokens: number }): void {
  for (const rows of batches) {
    for (const row of rows) {
      if (row.length - 1 > model.maxTokens) {
        throw new BendscopeError('E-DATA-04', `tokens: expected at most ${model.maxTokens} positions (the model's limit), got ${row.length - 1}.`, 'Use shorter windows.');
      }
      for (const id of row) {
        if (!Number.isSafeInteger(id) || id < 0 || id >= model.vocabulary) {
          throw new BendscopeError('E-DATA-02', `Token ${id} is outside the vocabulary of ${model.vocabulary}.`, 'Do the tokenizer and the model belong together?');
        }
      }
    }
  }
}
