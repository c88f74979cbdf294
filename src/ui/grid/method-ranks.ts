/**
 * What other methods would say of a site (ux.md 3.6): its rank among the sites of the recipe by each method's own score, 1 =
 * the method would protect it first. A method that cannot see a pass says so.
 */
import type { SiteId } from '../../graph/policy';
import type { SiteResult, SiteScores } from '../../graph/probe-record';
import type { Shown } from '../../state';

/** Names of the methods, in the order in which they are read. */
const METHODS: Readonly<Record<string, (result: SiteResult | undefined, scores: SiteScores | undefined, isForward: boolean) => number | null>> = {
  'local error': (result) => (result?.status === 'measured' ? result.localError : null),
  'loss change': (result, _scores, isForward) => (result?.status === 'measured' && isForward ? result.lossChange : null),
  'first order': (_result, scores) => scores?.firstOrder ?? null,
  SNIP: (_result, scores) => scores?.snip ?? null,
};

export interface MethodRank {
  readonly method: string;
  /** Null: the method has no score of this site. */
  readonly rank: number | null;
  /** Sites that it has a score of. */
  readonly of: number;
}

type Ranked = ReadonlyMap<string, ReadonlyMap<SiteId, number>>;
const cache = new WeakMap<Shown['sites'], { readonly scores: Shown['scores']; readonly ranked: Ranked }>();

function rankedBy({ sites, scores }: Pick<Shown, 'sites' | 'scores'>): Ranked {
  const known = cache.get(sites);
  if (known?.scores === scores) return known.ranked;
  const ids = [...new Set([...Object.keys(sites), ...Object.keys(scores)])];
  const ranked = new Map(Object.entries(METHODS).map(([method, score]) => {
    const scored = ids.flatMap((id) => {
      const value = score(sites[id], scores[id], !/:(dgrad|wgrad)$/.test(id));
      return value === null ? [] : [{ id, value }];
    });
    scored.sort((a, b) => b.value - a.value);
    return [method, new Map(scored.map(({ id }, i) => [id, i + 1]))] as const;
  }));
  cache.set(sites, { scores, ranked });
  return ranked;
}

/** Of every method that has a score of some site. */
export function methodRanks(shown: Pick<Shown, 'sites' | 'scores'>, id: SiteId): readonly MethodRank[] {
  return [...rankedBy(shown)].flatMap(([method, ranks]) => (ranks.size === 0 ? [] : [{ method, rank: ranks.get(id) ?? null, of: ranks.size }]));
}
