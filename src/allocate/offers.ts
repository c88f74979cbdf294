/**
 * What is offered to the solver for each site: high precision, and every low format a probe measured, with its angle,
 * floor and cost. Which sites must share a format follows from the graph.
 */
import type { RecipeName, SiteFormat, SiteId } from '../graph/policy';
import { formatSiteId } from '../graph/sites';
import { PASSES, type Graph } from '../graph/types';
import type { FormatOffer, SiteChoice } from './choices';
import { cleanTan2, floorTan2, type CostedSite, type Evidence } from './cost';
import type { CostTable } from './costs';

/** A low format with what a probe of it found: in `evidence.byFormat` where there is one, else in `evidence.sites`. */
export interface MeasuredFormat {
  readonly format: RecipeName;
  readonly evidence: Evidence;
}

/** What was found of several formats as one; `sites` and floor are those of the first. */
export function joinedEvidence(low: readonly MeasuredFormat[]): Evidence {
  const found = low.map(({ format, evidence }) => [format, evidence.byFormat ? (evidence.byFormat[format] ?? {}) : evidence.sites] as const);
  const [first] = low;
  return { sites: found[0]?.[1] ?? {}, floor: first?.evidence.floor ?? null, byFormat: { ...first?.evidence.byFormat, ...Object.fromEntries(found) } };
}

/**
 * The solver's sites, in site order. `low`: highest precision first, the order of preference among formats equal in cost and
 * angle. A lock is the format a site keeps.
 */
export function offeredChoices(sites: readonly CostedSite[], low: readonly MeasuredFormat[], costs: CostTable, locks: Readonly<Record<SiteId, SiteFormat>> = {}): SiteChoice[] {
  return sites.map(({ id, pass }) => ({
    id,
    offers: [
      { format: 'bf16', cost: costs.of(id, 'bf16'), tan2: 0, floorTan2: 0 },
      ...low.map(({ format, evidence }): FormatOffer => ({ format, cost: costs.of(id, format), tan2: cleanTan2(evidence, id, format), floorTan2: floorTan2(evidence, pass) })),
    ],
    lock: locks[id] ?? null,
  }));
}

/**
 * Passes that must share a format: those of linears of one layer that read the same value (q, k and v of a split checkpoint,
 * gate and up), which inference stacks run as one fused product (formats.md 6). Only groups of two or more.
 */
export function sharedFormatGroups(graph: Graph): SiteId[][] {
  const readers = new Map<string, string[]>();
  for (const { id, op, layer, inputs } of graph.nodes) {
    if (op !== 'linear' || layer === null) continue;
    const key = JSON.stringify([layer, inputs]);
    readers.set(key, [...(readers.get(key) ?? []), id]);
  }
  return [...readers.values()].filter((nodes) => nodes.length > 1).flatMap((nodes) => PASSES.map((pass) => nodes.map((node) => formatSiteId(node, pass))));
}
