/** --sites: which sites a probe measures, as patterns over site ids: `*` any characters, `?` one, several by commas. */
import { BendscopeError } from '../base/errors';
import { coarseOrder } from '../graph/coarse-order';
import type { SiteId } from '../graph/policy';
import { findSite, parseSiteId } from '../graph/sites';
import type { Graph } from '../graph/types';

/**
 * The sites that match any pattern, in the order they are measured. Throws E-PLAN-02 for a pattern that matches none,
 * E-PLAN-05 for one that names a site of the head, which stays BF16 in every recipe.
 */
export function chooseSites(graph: Graph, patterns: string): SiteId[] {
  const all = coarseOrder(graph);
  const wanted = new Set<SiteId>();
  for (const pattern of patterns.split(',').map((part) => part.trim())) {
    const expression = new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')}$`);
    const matched = all.filter((id) => expression.test(id));
    if (matched.length === 0) {
      if (findSite(graph, pattern)) throw new BendscopeError('E-PLAN-05', `--sites: expected passes of block linears, got ${pattern}, which stays BF16 in every recipe`, `Take it out; ${all[0] ?? 'none'} is one that can be low.`);
      if (!/[*?]/.test(pattern)) parseSiteId(graph, pattern, '--sites');
      throw new BendscopeError('E-PLAN-02', `--sites: expected a pattern that matches a site of ${graph.model}, got "${pattern}"`, `Sites are <node>:fprop|dgrad|wgrad, for example ${all[0] ?? 'none'}; h.0.*:fprop matches four.`);
    }
    for (const id of matched) wanted.add(id);
  }
  return all.filter((id) => wanted.has(id));
}
