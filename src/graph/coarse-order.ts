/** The order in which a probe fills the grid: every 8th layer from the last one, then every 4th, 2nd, the rest. */
import { paintableSites } from './sites';
import type { RecipeName, SiteId } from './policy';
import type { Graph } from './types';

export function coarseOrder(graph: Graph, recipe: RecipeName): SiteId[] {
  const rank = (layer: number): number => {
    const fromEnd = graph.layers - 1 - layer;
    return fromEnd % 8 === 0 ? 0 : fromEnd % 4 === 0 ? 1 : fromEnd % 2 === 0 ? 2 : 3;
  };
  return paintableSites(graph, recipe)
    .map((site, index) => ({ id: site.id, index, rank: site.layer === null ? 0 : rank(site.layer) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ id }) => id);
}
