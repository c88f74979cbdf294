/**
 * The only place that knows what a site is (method.md 3): one GEMM of a linear node, `<node>:fprop|dgrad|wgrad`.
 * Engine, probe, cost, heatmap, export and inspector all read sites(graph); results and plans are overlays keyed by id.
 */
import { BendscopeError } from '../base/errors';
import type { SiteId } from './policy';
import { PASSES, type Graph, type GraphNode, type Pass } from './types';

export interface Site {
  readonly id: SiteId;
  readonly node: string;
  readonly pass: Pass;
  /** null: outside the transformer blocks (the head). */
  readonly layer: number | null;
  readonly group: string;
  readonly kind: 'pass';
  /** Whether a plan may lower it: the block linears. The head's passes exist but stay BF16 in every recipe (method.md 4). */
  readonly paintable: boolean;
}

export interface Label {
  readonly short: string;
  readonly long: string;
}

/** How people call the passes; keys in the order of rows. */
export const PASS_LABELS: Readonly<Record<Pass, Label>> = {
  fprop: { short: 'fp', long: 'forward' },
  dgrad: { short: 'dg', long: 'input gradient' },
  wgrad: { short: 'wg', long: 'weight gradient' },
};

/** How people call the op groups that hold GEMMs; a group that is not here is called by its own name. */
const GROUP_LABELS: Readonly<Record<string, Label>> = {
  'attn.c_attn': { short: 'qkv', long: 'attention query, key, value' },
  'attn.c_proj': { short: 'proj', long: 'attention output projection' },
  'mlp.c_fc': { short: 'fc', long: 'MLP up projection' },
  'mlp.c_proj': { short: 'down', long: 'MLP down projection' },
  lm_head: { short: 'head', long: 'language-model head' },
};

export function groupLabel(group: string): Label {
  return GROUP_LABELS[group] ?? { short: group, long: group };
}

export function formatSiteId(node: string, pass: Pass): SiteId {
  return `${node}:${pass}`;
}

const cache = new WeakMap<Graph, ReadonlyMap<SiteId, Site>>();

function siteMap(graph: Graph): ReadonlyMap<SiteId, Site> {
  const known = cache.get(graph);
  if (known) return known;
  const map = new Map<SiteId, Site>();
  for (const node of graph.nodes) {
    if (node.op !== 'linear') continue;
    for (const pass of PASSES) {
      const id = formatSiteId(node.id, pass);
      map.set(id, { id, node: node.id, pass, layer: node.layer, group: node.group, kind: 'pass', paintable: node.layer !== null });
    }
  }
  cache.set(graph, map);
  return map;
}

/** Every site, in graph order, the passes of a node in the order fprop, dgrad, wgrad. */
export function sites(graph: Graph): readonly Site[] {
  return [...siteMap(graph).values()];
}

/** The sites a plan may lower: 3 x 4 x layers in a GPT-2. */
export function paintableSites(graph: Graph): readonly Site[] {
  return sites(graph).filter((site) => site.paintable);
}

/** The three sites of one linear node; empty for other nodes. */
export function sitesOfNode(graph: Graph, node: GraphNode | string): readonly Site[] {
  const id = typeof node === 'string' ? node : node.id;
  return sites(graph).filter((site) => site.node === id);
}

/** Site id -> Site, or undefined. */
export function findSite(graph: Graph, id: SiteId): Site | undefined {
  return siteMap(graph).get(id);
}

/** Site id -> Site. Throws E-PLAN-02 for an id that is not a site of this graph; `where` opens the message. */
export function parseSiteId(graph: Graph, id: SiteId, where = 'site'): Site {
  const site = findSite(graph, id);
  if (site) return site;
  const example = sites(graph)[0]?.id ?? 'h.0.attn.c_attn:fprop';
  throw new BendscopeError(
    'E-PLAN-02',
    `${where}: expected a site of ${graph.model}, got "${id}"`,
    `Write sites as <node>:${PASSES.join('|')}, for example ${example}.`,
  );
}

/** One row of the heatmap: a pass of an op group, with one site a layer. */
export interface GridRow {
  readonly group: string;
  readonly pass: Pass;
  readonly groupLabel: Label;
  readonly passLabel: Label;
  readonly paintable: boolean;
  /** Ordered by layer; of the head one site, whose layer is null. */
  readonly sites: readonly Site[];
}

/** Rows of the heatmap: op groups in graph order (qkv, proj, fc, down, head), in each the three passes. */
export function gridRows(graph: Graph): readonly GridRow[] {
  const rows = new Map<string, Site[]>();
  for (const site of sites(graph)) {
    const key = formatSiteId(site.group, site.pass);
    const row = rows.get(key);
    if (row) row.push(site);
    else rows.set(key, [site]);
  }
  return [...rows.values()].flatMap((row) => {
    const first = row[0];
    if (!first) return [];
    const { group, pass, paintable } = first;
    return [{ group, pass, paintable, groupLabel: groupLabel(group), passLabel: PASS_LABELS[pass], sites: row }];
  });
}
