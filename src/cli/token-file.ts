/** T.json for a model: parsed, every batch of one shape, every id within the vocabulary. */
import { BendscopeError } from '../base/errors';
import { hashTokens } from '../data/hash';
import { checkTokens, parseTokenFile } from '../data/token-batches';
import type { TokenBatches } from '../data/windows';
import type { Graph } from '../graph/types';
import { readText } from './local-files';

export interface Tokens {
  readonly batches: TokenBatches;
  /** B rows of T positions, the same in every batch. */
  readonly sequences: number;
  readonly tokens: number;
  readonly sha256: string;
}

/** Throws E-FILE-09, E-DATA-03 (not token ids, or batches of unequal shape), E-DATA-02 (vocabulary), E-DATA-04 (too long). */
export async function readTokens(path: string, graph: Graph): Promise<Tokens> {
  const batches = parseTokenFile(await readText(path), path);
  const shapes = batches.map((rows) => ({ sequences: rows.length, tokens: (rows[0]?.length ?? 1) - 1 }));
  const first = shapes[0] ?? { sequences: 0, tokens: 0 };
  shapes.forEach(({ sequences, tokens }, k) => {
    if (sequences === first.sequences && tokens === first.tokens) return;
    throw new BendscopeError('E-DATA-03', `${path}: batch ${k}: expected ${first.sequences} rows of ${first.tokens + 1} ids as in batch 0, got ${sequences} of ${tokens + 1}.`, 'Give every batch the same shape.');
  });
  checkTokens(batches, graph);
  return { batches, ...first, sha256: await hashTokens(batches) };
}
