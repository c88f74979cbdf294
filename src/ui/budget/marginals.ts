/**
 * How much each row and each layer bends by its low cells alone (ux.md 3.4), of every part in one pass over the sites: a
 * drag asks for all of them at each move.
 */
import { cleanTan2Column, formatOf, type CostedSite, type Evidence, type Formats, type Marginal } from '../../allocate/cost';
import { angleOfTanSquared } from '../../base/angle';
import type { SiteId } from '../../graph/policy';

/** Row and layer of a site, by index; a wide cell is in no layer. */
export interface SitePlace {
  readonly row: number;
  readonly column: number | null;
}

export interface Marginals {
  readonly rows: readonly Marginal[];
  readonly columns: readonly Marginal[];
}

/** The same figures as allocate/cost marginal of each part. */
export function marginals(sites: readonly CostedSite[], formats: Formats, evidence: Evidence, places: ReadonlyMap<SiteId, SitePlace>, rowCount: number, columnCount: number): Marginals {
  const rows = new Float64Array(rowCount);
  const columns = new Float64Array(columnCount);
  let all = 0;
  for (const [i, { id }] of sites.entries()) {
    const format = formatOf(formats, id);
    if (format === 'bf16') continue;
    const known = cleanTan2Column(evidence, sites, format)[i]!;
    const tan2 = Number.isNaN(known) ? 0 : known;
    const place = places.get(id);
    all += tan2;
    if (place === undefined) continue;
    rows[place.row]! += tan2;
    if (place.column !== null) columns[place.column]! += tan2;
  }
  const asMarginal = (inside: number): Marginal => ({ angleDeg: angleOfTanSquared(inside), share: all === 0 ? 0 : inside / all });
  return { rows: Array.from(rows, asMarginal), columns: Array.from(columns, asMarginal) };
}
