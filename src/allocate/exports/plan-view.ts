/**
 * A plan as exports read it: by layer, with the three GEMM passes side by side, and the op-group outputs that run low.
 * The head is no layer here: its passes stay BF16 (method.md 4).
 */
import { assert } from '../../base/errors';
import { OUT_SCHEME, PASS_SCHEMES, type PassScheme, type SiteId } from '../../graph/policy';
import { RECIPES } from '../../graph/recipes';
import { paintableSites, formatSiteId } from '../../graph/sites';
import { PASSES, type Graph, type Pass } from '../../graph/types';
import { costedSites, formatOf, type CostedSite, type Formats } from '../cost';
import { planHash, type Plan } from '../plan';
import type { ExportContext } from './export-target';
import type { NamedNode } from './names';
import type { PassFormat, PassFormats } from './rounding';

export interface PlanLayer extends NamedNode {
  /** Widths of its input and output: the weight is [inCols, cols]. */
  readonly inCols: number;
  readonly cols: number;
  readonly formats: PassFormats;
}

export interface PlanView {
  readonly plan: Plan;
  readonly context: ExportContext;
  /** Linears of the transformer blocks, in graph order. */
  readonly layers: readonly PlanLayer[];
  /** Low `:out` sites, in graph order. */
  readonly outs: readonly SiteId[];
  /** Formats of low passes, in the order of PASS_SCHEMES. */
  readonly schemes: readonly PassScheme[];
}

/**
 * The sites a file speaks of, in graph order by kind: those of the recipe, and of the other kind those that run low.
 */
export function planSites(graph: Graph, formats: Formats, recipe: ExportContext['recipe']): readonly CostedSite[] {
  const other = RECIPES[recipe].kind === 'pass' ? OUT_SCHEME : PASS_SCHEMES[0];
  return [...costedSites(graph, recipe), ...costedSites(graph, other).filter(({ id }) => formatOf(formats, id) !== 'bf16')];
}

/** Linears of the transformer blocks, in graph order: what the layers of a file are called by. */
export function blockLinears(graph: Graph): readonly NamedNode[] {
  const linears = new Map<string, NamedNode>();
  for (const { node, layer, group } of paintableSites(graph, PASS_SCHEMES[0])) {
    assert(layer !== null, `blockLinears: ${node} is a linear of a block`);
    linears.set(node, { node, layer, group });
  }
  return [...linears.values()];
}

export function viewPlan(plan: Plan, context: ExportContext): PlanView {
  const { graph } = context;
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const layers = blockLinears(graph).map((linear): PlanLayer => {
    const node = nodes.get(linear.node);
    const [fprop, dgrad, wgrad] = PASSES.map((pass) => passFormat(plan.formats, linear.node, pass));
    assert(node && fprop && dgrad && wgrad, `viewPlan: ${linear.node} has three passes`);
    return { ...linear, inCols: node.inCols, cols: node.cols, formats: { fprop, dgrad, wgrad } };
  });
  return {
    plan, context, layers,
    schemes: schemesOf(layers.map(({ formats }) => formats)),
    outs: paintableSites(graph, OUT_SCHEME).map(({ id }) => id).filter((id) => formatOf(plan.formats, id) !== 'bf16'),
  };
}

/** `sha256:<hex>` of the plan, as everywhere (plan.ts). */
export function hashOfPlan({ formats }: Plan, context: ExportContext): string {
  return planHash(formats, planSites(context.graph, formats, context.recipe), context);
}

/** Low formats in use, in the order of PASS_SCHEMES. */
export function schemesOf(layers: readonly PassFormats[]): PassScheme[] {
  return PASS_SCHEMES.filter((scheme) => passesIn(layers, scheme) > 0);
}

/** The one low format of a run that knows only one: the recipe's if it is among the candidates, else the most frequent. */
export function mainScheme(layers: readonly PassFormats[], candidates: readonly PassScheme[], recipe: ExportContext['recipe']): PassScheme | null {
  const own = candidates.find((scheme) => scheme === recipe);
  return own ?? candidates.reduce<PassScheme | null>((most, scheme) => (most === null || passesIn(layers, scheme) > passesIn(layers, most) ? scheme : most), null);
}

function passesIn(layers: readonly PassFormats[], scheme: PassScheme): number {
  return layers.reduce((sum, formats) => sum + PASSES.filter((pass) => formats[pass] === scheme).length, 0);
}

function passFormat(formats: Formats, node: string, pass: Pass): PassFormat {
  const id = formatSiteId(node, pass);
  const format = formatOf(formats, id);
  assert(format !== OUT_SCHEME, `viewPlan: ${id} cannot run in ${format}`);
  return format;
}

/**
 * Block protection: all passes of the first `first` and the last `last` layers BF16, all others in one format
 * (formats.md 4.1); null for any other plan. Everything low is 0 and 0; everything high is none.
 */
export function blockProtection({ layers, outs }: Pick<PlanView, 'layers' | 'outs'>): { readonly first: number; readonly last: number; readonly scheme: PassScheme } | null {
  if (outs.length > 0) return null;
  const byLayer: Set<PassFormat>[] = [];
  for (const { layer, formats } of layers) {
    const used = (byLayer[layer] ??= new Set());
    for (const pass of PASSES) used.add(formats[pass]);
  }
  const perLayer = byLayer.map((used) => (used.size === 1 ? [...used][0] : undefined));
  const isHigh = perLayer.map((format) => format === 'bf16');
  const first = isHigh.indexOf(false);
  const last = isHigh.length - 1 - isHigh.lastIndexOf(false);
  const inner = perLayer.slice(first, isHigh.length - last);
  const scheme = inner[0];
  if (first < 0 || scheme === undefined || scheme === 'bf16' || inner.some((format) => format !== scheme)) return null;
  return { first, last, scheme };
}
