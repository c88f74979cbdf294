/**
 * C.json (`bendscope-compare/1`) and its CSV: what was compared and what was found, each plan once under its hash, rows by
 * budget. Without wall times and dates, so that equal comparisons are equal files.
 */
import { planTotals, type CostedSite, type Evidence, type Formats } from '../allocate/cost';
import { planCost, type CostTable } from '../allocate/costs';
import type { PolicyOptions, RecipeName, SiteFormat, SiteId } from '../graph/policy';
import type { JointResult } from '../graph/probe-record';
import type { StoredReference } from '../worker/run-store';
import { lowFormats, type Compared, type MethodAbout, type Row } from './compare-plans';
import { standing, type Standing } from './compare-standing';
import { gapOf, type Gap } from './joints';
import type { MeasuringProvenance } from './stored-session';

export const COMPARE_SCHEMA = 'bendscope-compare/1';

/** A plan's figures; null where one does not exist. */
export interface ComparedPlan extends Gap {
  readonly lowSites: number;
  /** Of the low sites. */
  readonly formats: Formats;
  /** Low formats that no probe covers: such a plan is measured but stands outside the ranking. */
  readonly notProbed: readonly RecipeName[];
  readonly predictedDeg: number | null;
  /** A share of everything in BF16, or mean bits. */
  readonly cost: number;
  readonly effectiveBits: number;
  readonly measuredDeg: number | null;
  readonly measuredSeDeg: number | null;
  readonly perBatchDeg: readonly number[];
  /** Of the joint policy against the reference, nats. */
  readonly lossChange: number | null;
  /** Why there is no measured angle. */
  readonly failure: string | null;
  /** Every method's own score of this plan, by method; without those that have none. */
  readonly scores: Readonly<Record<string, number | null>>;
}

export interface ComparedRow {
  readonly method: string;
  /** Hash; null where the method has no plan here. */
  readonly plan: string | null;
  readonly reason: string | null;
  /** The method's own score of its own plan. */
  readonly score: number | null;
}

export interface ComparedLevel extends Standing {
  readonly budget: number;
  readonly isAsked: boolean;
  readonly rows: readonly ComparedRow[];
}

export interface CompareReport {
  readonly schema: typeof COMPARE_SCHEMA;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly cost: { readonly kind: string; readonly name: string; readonly rounding: number };
  readonly methods: readonly MethodAbout[];
  readonly levels: readonly ComparedLevel[];
  readonly fixed: readonly ComparedRow[];
  readonly plans: Readonly<Record<string, ComparedPlan>>;
  readonly gaps: GapSummary;
  readonly probes: readonly { readonly recipe: RecipeName; readonly tokensSha256: string; readonly device: string; readonly dataName: string }[];
  readonly floor: StoredReference['floor'];
  readonly referenceLoss: readonly number[];
  readonly provenance: MeasuringProvenance;
}

/** Of |measured - predicted| / predicted over the different plans that have both and are not everything in BF16. */
export interface GapSummary {
  readonly plans: number;
  readonly median: number | null;
  readonly largest: { readonly plan: string; readonly relativeGap: number } | null;
}

export interface CompareFound {
  readonly about: Pick<CompareReport, 'recipe' | 'options' | 'probes' | 'provenance'>;
  readonly reference: StoredReference;
  readonly sites: readonly CostedSite[];
  readonly evidence: Evidence;
  readonly probed: readonly RecipeName[];
  readonly costs: CostTable;
  readonly compared: Compared;
  readonly joints: ReadonlyMap<string, { readonly formats: Formats; readonly joint: JointResult }>;
  hashOf(formats: Formats): string;
  /** By method id; null where a part is missing. */
  scoresOf(formats: Formats): Readonly<Record<string, number | null>>;
}

export function compareReport(found: CompareFound): CompareReport {
  const { about, reference, costs, compared } = found;
  const plans = Object.fromEntries([...found.joints].map(([hash, { formats, joint }]) => [hash, planRow(found, formats, joint)]));
  const rowOf = ({ method, formats, reason }: Row): ComparedRow => {
    const plan = formats === null ? null : found.hashOf(formats);
    return { method: method.id, plan, reason, score: plan === null ? null : (plans[plan]?.scores[method.id] ?? null) };
  };
  const fixed = compared.fixed.map(rowOf);
  const levels = compared.levels.map(({ budget, isAsked, limit, rows: own }) => {
    const rows = own.map(rowOf);
    const within = fixed.filter((_, i) => isWithin(found, compared.fixed[i]!, limit));
    return { budget, isAsked, rows, ...standing([...rows, ...within], plans) };
  });
  return {
    schema: COMPARE_SCHEMA, recipe: about.recipe, options: about.options, cost: { kind: costs.kind, name: costs.name, rounding: costs.rounding },
    methods: compared.methods, levels, fixed, plans, gaps: gapSummary(plans), probes: about.probes, ...reference, provenance: about.provenance,
  };
}

function isWithin({ sites, costs }: CompareFound, { formats }: Row, limit: number): boolean {
  return formats !== null && planCost(costs, sites, formats) <= limit;
}

function planRow({ sites, evidence, probed, costs, about, scoresOf }: CompareFound, formats: Formats, { lowSites, result }: JointResult): ComparedPlan {
  const { predictedDeg, effectiveBits } = planTotals(sites, formats, evidence, about.options);
  const measured = result.status === 'measured' ? result : null;
  return {
    lowSites,
    formats: Object.fromEntries(sites.flatMap(({ id }): [SiteId, SiteFormat][] => (formats[id] === undefined || formats[id] === 'bf16' ? [] : [[id, formats[id]]]))),
    notProbed: lowFormats(sites, formats).filter((format) => !probed.includes(format)),
    predictedDeg, cost: costs.figureOf(planCost(costs, sites, formats)), effectiveBits,
    measuredDeg: measured?.angleDeg ?? null, measuredSeDeg: measured?.angleSeDeg ?? null, perBatchDeg: measured?.perBatch.map(({ angleDeg }) => angleDeg) ?? [],
    ...gapOf(result, predictedDeg), lossChange: measured?.lossChange ?? null,
    failure: result.status === 'failed' ? `${result.errorName}: ${result.reason}` : null,
    scores: scoresOf(formats),
  };
}

function gapSummary(plans: Readonly<Record<string, ComparedPlan>>): GapSummary {
  const gaps = Object.entries(plans).flatMap(([plan, { relativeGap, lowSites }]) => (relativeGap === null || lowSites === 0 ? [] : [{ plan, relativeGap }]));
  const sorted = gaps.toSorted((a, b) => Math.abs(a.relativeGap) - Math.abs(b.relativeGap));
  const at = (i: number): number => Math.abs(sorted[i]!.relativeGap);
  const half = sorted.length >> 1;
  return { plans: sorted.length, median: sorted.length === 0 ? null : sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2, largest: sorted.at(-1) ?? null };
}

const COLUMNS = ['budget', 'asked', 'method', 'kind', 'predicted_deg', 'measured_deg', 'measured_se_deg', 'gap_deg', 'relative_gap', 'cost', 'effective_bits', 'score', 'loss_change_nats', 'low_sites', 'plan', 'reason'] as const;

/** One row a method and budget; rows of fixed plans have no budget. Lines end in CR LF (RFC 4180). */
export function compareCsv({ levels, fixed, plans, methods }: CompareReport): string {
  const kinds = new Map(methods.map(({ id, kind }) => [id, kind]));
  const row = (budget: number | null, isAsked: boolean | null, { method, plan, reason, score }: ComparedRow): (string | number | boolean | null | undefined)[] => {
    const p = plan === null ? undefined : plans[plan];
    return [budget, isAsked, method, kinds.get(method), p?.predictedDeg, p?.measuredDeg, p?.measuredSeDeg, p?.gapDeg, p?.relativeGap, p?.cost, p?.effectiveBits, score, p?.lossChange, p?.lowSites, plan, reason ?? p?.failure];
  };
  const rows = [...levels.flatMap((level) => level.rows.map((own) => row(level.budget, level.isAsked, own))), ...fixed.map((own) => row(null, null, own))];
  const field = (value: unknown): string => (/[",\r\n]/.test(String(value ?? '')) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ''));
  return [COLUMNS, ...rows].map((line) => `${line.map(field).join(',')}\r\n`).join('');
}
