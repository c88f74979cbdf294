/**
 * What a plan costs and how much it is predicted to bend (method.md 5 and 6): HP GEMM work, effective bits, and
 * squared tangents that add. Facts come in as probe results; nothing here measures.
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { assert } from '../base/errors';
import type { PolicyOptions, SiteFormat, SiteId } from '../graph/policy';
import { floorOf } from '../graph/noise-floor';
import { passGemm } from '../graph/signatures';
import { paintableSites } from '../graph/sites';
import type { Graph, Pass } from '../graph/types';
import type { NoiseFloor, SiteResult } from '../graph/probe-record';
import { bitsPerElement, operandFormat } from '../numerics/schemes';
import type { OperandRole } from '../numerics/schemes';

/** One GEMM pass of a block linear: the sites a plan of a GEMM recipe decides over. */
export interface PassSite {
  readonly id: SiteId;
  readonly pass: Pass;
  /** Multiply-adds count 2; per token, since every pass of a model sees the same number of tokens. */
  readonly flops: number;
}

/** The sites a plan of a GEMM recipe decides over, in site order, with their work. */
export function passSites(graph: Graph): readonly PassSite[] {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  return paintableSites(graph).map(({ id, node: nodeId, pass }) => {
    const node = nodes.get(nodeId);
    assert(node, `passSites: ${id} has no node`);
    return { id, pass, flops: passGemm(node, pass, { sequences: 1, tokens: 1 }).flops };
  });
}

/** What a prediction stands on. */
export interface Evidence {
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
  readonly floor: NoiseFloor | null;
}

export type Formats = Readonly<Record<SiteId, SiteFormat>>;

/** Which two tensors a pass multiplies: y = x w, dx = dy w^T, dw = x^T dy. */
const PASS_OPERANDS: Readonly<Record<Pass, readonly [OperandRole, OperandRole]>> = { fprop: ['x', 'w'], dgrad: ['dy', 'w'], wgrad: ['x', 'dy'] };

/** Average stored bits of the two operands of a pass in a format. */
export function operandBits(pass: Pass, format: SiteFormat, options: PolicyOptions): number {
  const scheme = format === 'bf16' ? null : format;
  const [a, b] = PASS_OPERANDS[pass].map((role) => bitsPerElement(operandFormat(scheme, role, options.weights1d))) as [number, number];
  return (a + b) / 2;
}

/** FLOPs of HP passes, an exact integer. */
export function highFlops(sites: readonly PassSite[], formats: Formats): number {
  return sites.reduce((sum, site) => sum + (formatOf(formats, site.id) === 'bf16' ? site.flops : 0), 0);
}

/** FLOPs of all passes, an exact integer. */
export function totalFlops(sites: readonly PassSite[]): number {
  return sites.reduce((sum, site) => sum + site.flops, 0);
}

/** FLOP-weighted mean over the passes of the average stored bits of their two operands. */
export function effectiveBits(sites: readonly PassSite[], formats: Formats, options: PolicyOptions): number {
  const bits = sites.reduce((sum, site) => sum + site.flops * operandBits(site.pass, formatOf(formats, site.id), options), 0);
  return bits / totalFlops(sites);
}

/** A site's format; what a plan does not name is high precision. */
export function formatOf(formats: Formats, id: SiteId): SiteFormat {
  return formats[id] ?? 'bf16';
}

/** tan^2 of the clean angle, or null for a site that failed, has no finite angle, or was not measured. */
export function cleanTan2(evidence: Evidence, id: SiteId): number | null {
  const result = evidence.sites[id];
  return result?.status === 'measured' && Number.isFinite(result.cleanAngleDeg) ? tanSquared(result.cleanAngleDeg) : null;
}

/** tan^2 of the noise floor a plan carries once a site of this pass is low; 0 while no floor is measured. */
export function floorTan2(evidence: Evidence, pass: Pass): number {
  return evidence.floor === null ? 0 : tanSquared(floorOf(pass, evidence.floor));
}

export interface Prediction {
  /** atan(sqrt(floor^2 + sum of clean tan^2 over the low sites)); null when some low site has no measurement. */
  readonly predictedDeg: number | null;
  /** Low sites without a measurement: the plan is then "not predicted". */
  readonly unpredicted: readonly SiteId[];
}

/** Joint angle of the plan by additivity, the floor once: the largest that any of its low sites carries. */
export function predict(sites: readonly PassSite[], formats: Formats, evidence: Evidence): Prediction {
  let sum = 0;
  let floor = 0;
  const unpredicted: SiteId[] = [];
  for (const site of sites) {
    if (formatOf(formats, site.id) === 'bf16') continue;
    const tan2 = cleanTan2(evidence, site.id);
    if (tan2 === null) unpredicted.push(site.id);
    else sum += tan2;
    floor = Math.max(floor, floorTan2(evidence, site.pass));
  }
  return { predictedDeg: unpredicted.length > 0 ? null : angleOfTanSquared(sum + floor), unpredicted };
}

export interface PlanTotals extends Prediction {
  /** FLOPs of HP passes / FLOPs of all passes, 0..1. */
  readonly hpGemmWork: number;
  readonly effectiveBits: number;
  readonly siteCount: Readonly<Record<SiteFormat, number>>;
}

/** The figures under a plan's name. */
export function planTotals(sites: readonly PassSite[], formats: Formats, evidence: Evidence, options: PolicyOptions): PlanTotals {
  const siteCount: Record<SiteFormat, number> = { bf16: 0, nvfp4: 0 };
  for (const site of sites) siteCount[formatOf(formats, site.id)] += 1;
  return {
    hpGemmWork: highFlops(sites, formats) / totalFlops(sites),
    effectiveBits: effectiveBits(sites, formats, options),
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
export function marginal(sites: readonly PassSite[], formats: Formats, evidence: Evidence, part: ReadonlySet<SiteId>): Marginal {
  let inside = 0;
  let all = 0;
  for (const { id } of sites) {
    if (formatOf(formats, id) === 'bf16') continue;
    const tan2 = cleanTan2(evidence, id) ?? 0;
    all += tan2;
    if (part.has(id)) inside += tan2;
  }
  return { angleDeg: angleOfTanSquared(inside), share: all === 0 ? 0 : inside / all };
}
