/**
 * The only place that knows what a site is (method.md 3): one GEMM of a linear node, `<node>:fprop|dgrad|wgrad`, or an op
 * group's output activation and the gradient that arrives at it, `<node>:out`. Engine, probe, cost, heatmap, export and inspector all read sites(graph); results and plans are overlays keyed by id.
 */
import { BendscopeError } from '../base/errors';
import type { RecipeName, SiteId } from './policy';
import { RECIPES } from './recipes';
import { PASSES, type Graph, type GraphNode, type Pass } from './types';

/** What of a node a site is: one of its GEMMs, or its output. */
export type SitePart = Pass | 'out';
const PARTS = [...PASSES, 'out'] as const satisfies readonly SitePart[];

export interface Site {
  readonly id: SiteId;
  readonly node: string;
  readonly pass: SitePart;
  /** null: outside the transformer blocks (token embedding, final norm, head). */
  readonly layer: number | null;
  readonly group: string;
  readonly kind: 'pass' | 'out';
  /** Whether a plan may lower it: the passes of block linears and every output. The head's passes stay BF16 (method.md 4). */
  readonly paintable: boolean;
}

export interface Label {
  readonly short: string;
  readonly long: string;
}

/** How people call the passes; keys in the order of rows. */
export const PASS_LABELS: Readonly<Record<SitePart, Label>> = {
  fprop: { short: 'fp', long: 'forward' },
  dgrad: { short: 'dg', long: 'input gradient' },
  wgrad: { short: 'wg', long: 'weight gradient' },
  out: { short: 'out', long: 'output' },
};

/** How people call the op groups; a group that is not here is called by its own name. */
const GROUP_LABELS: Readonly<Record<string, Label>> = {
  'attn.c_attn': { short: 'qkv', long: 'attention query, key, value' },
  'attn.c_proj': { short: 'proj', long: 'attention output projection' },
  'mlp.c_fc': { short: 'fc', long: 'MLP up projection' },
  'mlp.c_proj': { short: 'down', long: 'MLP down projection' },
  lm_head: { short: 'head', long: 'language-model head' },
  wte: { short: 'embed', long: 'token and position embedding' },
  ln_1: { short: 'ln 1', long: 'norm before attention' },
  attn: { short: 'attn', long: 'attention context' },
  res_1: { short: 'res 1', long: 'residual sum after attention' },
  ln_2: { short: 'ln 2', long: 'norm before the MLP' },
  'mlp.act': { short: 'act', long: 'MLP activation' },
  res_2: { short: 'res 2', long: 'residual sum after the MLP' },
  ln_f: { short: 'ln f', long: 'final norm' },
};

export function groupLabel(group: string): Label {
  return GROUP_LABELS[group] ?? { short: group, long: group };
}

export function formatSiteId(node: string, pass: SitePart): SiteId {
  return `${node}:${pass}`;
}

const cache = new WeakMap<Graph, ReadonlyMap<SiteId, Site>>();

function siteMap(graph: Graph): ReadonlyMap<SiteId, Site> {
  const known = cache.get(graph);
  if (known) return known;
  const map = new Map<SiteId, Site>();
  for (const node of graph.nodes) {
    const { id: nodeId, layer, group } = node;
    if (node.op === 'linear') {
      for (const pass of PASSES) {
        const id = formatSiteId(nodeId, pass);
        map.set(id, { id, node: nodeId, pass, layer, group, kind: 'pass', paintable: layer !== null });
      }
    }
    // The loss is a scalar a token, not an activation anybody reads.
    if (node.op === 'cross_entropy') continue;
    const id = formatSiteId(nodeId, 'out');
    map.set(id, { id, node: nodeId, pass: 'out', layer, group, kind: 'out', paintable: true });
  }
  cache.set(graph, map);
  return map;
}

/** Every site, in graph order, those of a node in the order fprop, dgrad, wgrad, out. */
export function sites(graph: Graph): readonly Site[] {
  return [...siteMap(graph).values()];
}

/** The sites a plan of this recipe may lower: 3 x 4 x layers of a GPT-2 for passes, 10 x layers + 3 for op groups. */
export function paintableSites(graph: Graph, recipe: RecipeName): readonly Site[] {
  return sites(graph).filter((site) => site.paintable && site.kind === RECIPES[recipe].kind);
}

/** The sites of one node. */
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
    `Write sites as <node>:${PARTS.join('|')}, for example ${example}.`,
  );
}

/** One row of the heatmap: a pass of an op group, or an op group's output, with one site a layer. */
export interface GridRow {
  readonly group: string;
  readonly pass: SitePart;
  readonly groupLabel: Label;
  readonly passLabel: Label;
  readonly paintable: boolean;
  /** Ordered by layer; of a group outside the layers one site, whose layer is null. */
  readonly sites: readonly Site[];
}

/**
 * Rows of a recipe's heatmap. Passes: op groups in graph order (qkv, proj, fc, down, head), in each the three passes, the
 * head shown and not painted. Outputs: embedding, the ten groups of a layer, final norm, head.
 */
export function gridRows(graph: Graph, recipe: RecipeName): readonly GridRow[] {
  const rows = new Map<string, Site[]>();
  for (const site of sites(graph)) {
    if (site.kind !== RECIPES[recipe].kind) continue;
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
