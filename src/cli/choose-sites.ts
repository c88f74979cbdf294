/** Which sites a probe measures or a lock holds, as patterns over site ids: `*` any characters, `?` one, several by commas. */
import { BendscopeError } from '../base/errors';
import { coarseOrder } from '../graph/coarse-order';
import type { RecipeName, SiteId } from '../graph/policy';
import { findSite, parseSiteId } from '../graph/sites';
import type { Graph } from '../graph/types';

/**
 * The recipe's sites that match any pattern, in the order they are measured. Throws E-PLAN-02 for a pattern that matches
 * none, E-PLAN-05 for one that names a site the recipe leaves alone: the head's passes, or a site of the other kind.
 * `where` opens the messages.
 */
export function chooseSites(graph: Graph, recipe: RecipeName, patterns: string, where = '--sites'): SiteId[] {
  const all = coarseOrder(graph, recipe);
  const example = all[0] ?? 'none';
  const wanted = new Set<SiteId>();
  for (const pattern of patterns.split(',').map((part) => part.trim())) {
    const expression = new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')}$`);
    const matched = all.filter((id) => expression.test(id));
    if (matched.length === 0) {
      if (findSite(graph, pattern)) throw new BendscopeError('E-PLAN-05', `${where}: expected sites that ${recipe} can lower, got ${pattern}, which stays BF16 in it`, `Take it out; ${example} is one that can be low.`);
      if (!/[*?]/.test(pattern)) parseSiteId(graph, pattern, where);
      throw new BendscopeError('E-PLAN-02', `${where}: expected a pattern that matches a site of ${graph.model} under ${recipe}, got "${pattern}"`, `Its sites are like ${example}; h.0.*${example.slice(example.lastIndexOf(':'))} matches those of the first layer.`);
    }
    for (const id of matched) wanted.add(id);
  }
  return all.filter((id) => wanted.has(id));
}
