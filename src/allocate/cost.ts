/**
 * What a plan costs and how much it is predicted to bend (method.md 5 and 6): HP GEMM work or HP activation cache,
 * effective bits, and squared tangents that add. Facts come in as probe results; nothing here measures.
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { assert } from '../base/errors';
import { RECIPE_NAMES, type PolicyOptions, type RecipeName, type SiteFormat, type SiteId } from '../graph/policy';
import { RECIPES, type Recipe } from '../graph/recipes';
import { floorOf } from '../graph/noise-floor';
import { keptOutputs, outputBytes, passGemm } from '../graph/signatures';
import { paintableSites, type SitePart } from '../graph/sites';
import type { Graph, GraphNode, Pass } from '../graph/types';
import type { NoiseFloor, SiteResult } from '../graph/probe-record';
import { bitsPerElement, operandFormat } from '../numerics/schemes';
import type { OperandRole } from '../numerics/schemes';

/** One of the sites a plan decides over: a GEMM pass of a block linear, or an op group's output. */
export interface CostedSite {
  readonly id: SiteId;
  readonly node: string;
  readonly pass: SitePart;
  /**
   * Of keeping it in BF16, a whole number a token, every site of a model seeing the same tokens. Pass: its FLOPs.
   * Output: the bytes the backward pass keeps, 0 where it keeps nothing (attn.c_proj and mlp.c_proj only feed a sum).
   */
  readonly cost: number;
  /** Whether the fixed FP8 policy keeps it in BF16: token embedding, head, every norm. */
  readonly inFixedPolicy: boolean;
}

/** What the costs of a recipe's kind are called, and their unit a token. */
export const COST_NAMES: Readonly<Record<Recipe['kind'], { readonly name: string; readonly unit: string }>> = {
  pass: { name: 'HP GEMM work', unit: 'FLOP' },
  out: { name: 'HP activation cache', unit: 'B' },
};

/** The sites a plan of a recipe decides over, in site order, with their cost. */
export function costedSites(graph: Graph, recipe: RecipeName): readonly CostedSite[] {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const kept = keptOutputs(graph);
  const costOf = (node: GraphNode, pass: SitePart): number => {
    if (pass !== 'out') return passGemm(node, pass, { sequences: 1, tokens: 1 }).flops;
    return kept.has(node.id) ? outputBytes(node, 1) : 0;
  };
  return paintableSites(graph, recipe).map(({ id, node: nodeId, pass }) => {
    const node = nodes.get(nodeId);
    assert(node, `costedSites: ${id} has no node`);
    const isFixed = node.op === 'embed' || node.op === 'layernorm' || (node.op === 'linear' && node.layer === null);
    return { id, node: nodeId, pass, cost: costOf(node, pass), inFixedPolicy: pass === 'out' && isFixed };
  });
}

/** What a prediction stands on. */
export interface Evidence {
  /** Isolated results of the recipe. */
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
  readonly floor: NoiseFloor | null;
  /**
   * Those of every format that was probed on the same data, the recipe's own included; a format that is not named has none.
   * Absent: each result of `sites` is of the format that its site has in the plan.
   */
  readonly byFormat?: Readonly<Partial<Record<RecipeName, Readonly<Record<SiteId, SiteResult>>>>>;
}

export type Formats = Readonly<Record<SiteId, SiteFormat>>;

/** Which two tensors a pass multiplies: y = x w, dx = dy w^T, dw = x^T dy. */
const PASS_OPERANDS: Readonly<Record<Pass, readonly [OperandRole, OperandRole]>> = { fprop: ['x', 'w'], dgrad: ['dy', 'w'], wgrad: ['x', 'dy'] };

/** Stored bits an element of a site in a format: of a pass the average of its two operands, of an output its own. */
export function storedBits(part: SitePart, format: SiteFormat, options: PolicyOptions): number {
  const scheme = format === 'bf16' ? null : format;
  const bits = (role: OperandRole): number => bitsPerElement(operandFormat(scheme, role, options));
  if (part === 'out') return bits('x');
  const [a, b] = PASS_OPERANDS[part];
  return (bits(a) + bits(b)) / 2;
}

/** storedBits under one set of switches, each pair looked up once. */
function bitsTable(options: PolicyOptions): (part: SitePart, format: SiteFormat) => number {
  const known = new Map<SiteFormat, Map<SitePart, number>>();
  return (part, format) => {
    let row = known.get(format);
    if (row === undefined) known.set(format, (row = new Map()));
    let bits = row.get(part);
    if (bits === undefined) row.set(part, (bits = storedBits(part, format, options)));
    return bits;
  };
}

/** For sorting low formats of one kind, highest precision first: by the stored bits of a forward pass or output, equals in the order of the recipes. */
export function byPrecision(options: PolicyOptions): (a: RecipeName, b: RecipeName) => number {
  const bits = (recipe: RecipeName): number => storedBits(RECIPES[recipe].kind === 'out' ? 'out' : 'fprop', recipe, options);
  return (a, b) => bits(b) - bits(a) || RECIPE_NAMES.indexOf(a) - RECIPE_NAMES.indexOf(b);
}

/** Cost a token of everything in BF16, an exact integer. */
export function totalCost(sites: readonly CostedSite[]): number {
  return sites.reduce((sum, site) => sum + site.cost, 0);
}

/** A site's format; what a plan does not name is high precision. */
export function formatOf(formats: Formats, id: SiteId): SiteFormat {
  return formats[id] ?? 'bf16';
}

/** What was found of a site in a format; without a format, in the recipe's. High precision has no results. */
export function resultIn(evidence: Evidence, id: SiteId, format?: SiteFormat): SiteResult | undefined {
  if (format === 'bf16') return undefined;
  return (format === undefined || !evidence.byFormat ? evidence.sites : evidence.byFormat[format])?.[id];
}

/** tan^2 of the clean angle in a format, or null for a site that failed in it, has no finite angle, or was not measured. */
export function cleanTan2(evidence: Evidence, id: SiteId, format?: SiteFormat): number | null {
  const result = resultIn(evidence, id, format);
  return result?.status === 'measured' && Number.isFinite(result.cleanAngleDeg) ? tanSquared(result.cleanAngleDeg) : null;
}

/** By evidence, list of sites and format; a drag asks for the same ones at every move. */
const columns = new WeakMap<Evidence, WeakMap<readonly CostedSite[], Map<SiteFormat | undefined, Float64Array>>>();

/** cleanTan2 of every site in a format, in their order; NaN where there is none. */
export function cleanTan2Column(evidence: Evidence, sites: readonly CostedSite[], format?: SiteFormat): Float64Array {
  const bySites = columns.get(evidence) ?? new WeakMap<readonly CostedSite[], Map<SiteFormat | undefined, Float64Array>>();
  const byFormat = bySites.get(sites) ?? new Map<SiteFormat | undefined, Float64Array>();
  const column = byFormat.get(format) ?? Float64Array.from(sites, ({ id }) => cleanTan2(evidence, id, format) ?? NaN);
  columns.set(evidence, bySites.set(sites, byFormat.set(format, column)));
  return column;
}

/** tan^2 of the noise floor a plan carries once a site of this part is low; 0 while no floor is measured. */
export function floorTan2(evidence: Evidence, pass: SitePart): number {
  return evidence.floor === null ? 0 : tanSquared(floorOf(pass, evidence.floor));
}

export interface Prediction {
  /** atan(sqrt(floor^2 + sum of clean tan^2 over the low sites, each in its own format)); null when some has no measurement. */
  readonly predictedDeg: number | null;
  /** Low sites without a measurement in their format: the plan is then "not predicted". */
  readonly unpredicted: readonly SiteId[];
}

/** Joint angle of the plan by additivity, the floor once: the largest that any of its low sites carries. */
export function predict(sites: readonly CostedSite[], formats: Formats, evidence: Evidence): Prediction {
  let sum = 0;
  const parts = new Set<SitePart>();
  const unpredicted: SiteId[] = [];
  for (const [i, { id, pass }] of sites.entries()) {
    const format = formatOf(formats, id);
    if (format === 'bf16') continue;
    const tan2 = cleanTan2Column(evidence, sites, format)[i]!;
    if (Number.isNaN(tan2)) unpredicted.push(id);
    else sum += tan2;
    parts.add(pass);
  }
  const floor = Math.max(0, ...Array.from(parts, (part) => floorTan2(evidence, part)));
  return { predictedDeg: unpredicted.length > 0 ? null : angleOfTanSquared(sum + floor), unpredicted };
}

export interface PlanTotals extends Prediction {
  /** Cost a token of the sites in BF16, an exact integer: FLOPs or bytes. */
  readonly hpCost: number;
  /** hpCost over the cost of everything in BF16, 0..1: HP GEMM work, or HP activation cache (method.md 6). */
  readonly hpShare: number;
  /** hpCost over that of the fixed policy; null for passes, where that policy keeps nothing. */
  readonly relativeToFixed: number | null;
  /** Mean over the sites of their stored bits, weighted by FLOPs (passes) or by bytes kept (outputs). */
  readonly effectiveBits: number;
  readonly siteCount: Readonly<Record<SiteFormat, number>>;
}

/** The figures under a plan's name. */
export function planTotals(sites: readonly CostedSite[], formats: Formats, evidence: Evidence, options: PolicyOptions): PlanTotals {
  const siteCount = Object.fromEntries(['bf16', ...RECIPE_NAMES].map((format) => [format, 0])) as Record<SiteFormat, number>;
  const bitsOf = bitsTable(options);
  let [hpCost, total, fixed, bits] = [0, 0, 0, 0];
  // One pass: a drag asks this of thousands of sites at every move.
  for (const { id, pass, cost, inFixedPolicy } of sites) {
    const format = formatOf(formats, id);
    siteCount[format] += 1;
    total += cost;
    bits += cost * bitsOf(pass, format);
    if (format === 'bf16') hpCost += cost;
    if (inFixedPolicy) fixed += cost;
  }
  return {
    hpCost,
    hpShare: hpCost / total,
    relativeToFixed: fixed === 0 ? null : hpCost / fixed,
    effectiveBits: bits / total,
    siteCount,
    ...predict(sites, formats, evidence),
  };
}

export interface Marginal {
  /** atan(sqrt(sum of clean tan^2)) over the measured low sites of a row, a layer, any part; no floor. */
  readonly angleDeg: number;
  /** Its share of the whole plan's sum of clean tan^2, 0..1; 0 when the plan has none. */
  readonly share: number;
}

/** Length and number of a marginal bar (ux.md 3.4). */
export function marginal(sites: readonly CostedSite[], formats: Formats, evidence: Evidence, part: ReadonlySet<SiteId>): Marginal {
  let inside = 0;
  let all = 0;
  for (const { id } of sites) {
    const format = formatOf(formats, id);
    if (format === 'bf16') continue;
    const tan2 = cleanTan2(evidence, id, format) ?? 0;
    all += tan2;
    if (part.has(id)) inside += tan2;
  }
  return { angleDeg: angleOfTanSquared(inside), share: all === 0 ? 0 : inside / all };
}
