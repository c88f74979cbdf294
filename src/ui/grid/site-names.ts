/** How sites are called on the page, for eyes and for screen readers (ux.md 3.7, 6.7). */
import { findSite, groupLabel, PASS_LABELS } from '../../graph/sites';
import type { SiteId } from '../../graph/policy';
import type { Graph } from '../../graph/types';

/** "Layer 11, MLP down projection, forward pass". */
export function siteName(graph: Graph, id: SiteId): string {
  const site = findSite(graph, id);
  if (!site) return id;
  const pass = PASS_LABELS[site.pass].long;
  const place = site.layer === null ? '' : `Layer ${site.layer}, `;
  return `${place}${groupLabel(site.group).long}, ${pass}${site.pass === 'fprop' ? ' pass' : ''}`;
}

/** "L11 down fp", for places with little room. */
export function siteShort(graph: Graph, id: SiteId): string {
  const site = findSite(graph, id);
  if (!site) return id;
  return `${site.layer === null ? '' : `L${site.layer} `}${groupLabel(site.group).short} ${PASS_LABELS[site.pass].short}`;
}
