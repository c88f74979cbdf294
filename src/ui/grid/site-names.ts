/** How sites are called on the page, for eyes and for screen readers (ux.md 3.7, 6.7). */
import { findSite, groupLabel, PASS_LABELS } from '../../graph/sites';
import type { SiteId } from '../../graph/policy';
import type { Graph } from '../../graph/types';

/** "Layer 11, MLP down projection, forward pass"; "Layer 3, MLP activation output". */
export function siteName(graph: Graph, id: SiteId): string {
  const site = findSite(graph, id);
  if (!site) return id;
  const op = `${site.layer === null ? '' : `Layer ${site.layer}, `}${groupLabel(site.group).long}`;
  const part = PASS_LABELS[site.pass].long;
  return site.pass === 'out' ? `${op} ${part}` : `${op}, ${part}${site.pass === 'fprop' ? ' pass' : ''}`;
}

/** "L11 down fp", "L3 act out", for places with little room. */
export function siteShort(graph: Graph, id: SiteId): string {
  const site = findSite(graph, id);
  if (!site) return id;
  return `${site.layer === null ? '' : `L${site.layer} `}${groupLabel(site.group).short} ${PASS_LABELS[site.pass].short}`;
}
