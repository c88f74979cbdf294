/** In which order sites are measured and named. */
import type { Policy, SiteId } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import type { Graph } from '../graph/types';

/** Low sites of a policy, sorted: the same policy has one order. */
export function canonicalSites(policy: Policy): SiteId[] {
  return Object.keys(policy.passes).sort();
}

/** Coarse first: every 8th layer, then the 4th, 2nd and the rest, from the last layer down; so the picture forms early. */
export function coarseOrder(graph: Graph): SiteId[] {
  const all = paintableSites(graph);
  const rank = (layer: number): number => {
    const fromEnd = graph.layers - 1 - layer;
    return fromEnd % 8 === 0 ? 0 : fromEnd % 4 === 0 ? 1 : fromEnd % 2 === 0 ? 2 : 3;
  };
  return all
    .map((site, index) => ({ site, index, rank: rank(site.layer ?? 0) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ site }) => site.id);
}
