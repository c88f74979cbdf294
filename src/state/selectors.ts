/**
 * What follows from document and facts, computed once per change: totals, prediction, frontier, plan hash, baselines.
 * Memo by identity of the inputs, because a drag asks many times a second.
 */
import { formatOf, passSites, planTotals, type Evidence, type PassSite, type PlanTotals } from '../allocate/cost';
import type { Frontier } from '../allocate/knapsack';
import { planFrontier, planHash, PRESETS, presetPlan, type Plan } from '../allocate/plan';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { JointResult } from '../graph/probe-record';
import type { Graph } from '../graph/types';
import type { FactsState } from './facts';
import { jointsShown, originOf } from './results';

/** A function of immutable inputs that remembers its last few calls. */
function memo<A extends readonly unknown[], R>(run: (...inputs: A) => R, keep = 8): (...inputs: A) => R {
  const known: { inputs: A; result: R }[] = [];
  return (...inputs) => {
    const hit = known.find((entry) => entry.inputs.every((value, i) => Object.is(value, inputs[i])));
    if (hit) return hit.result;
    const result = run(...inputs);
    known.unshift({ inputs, result });
    known.length = Math.min(known.length, keep);
    return result;
  };
}

export const sitesOf: (graph: Graph) => readonly PassSite[] = memo((graph: Graph) => passSites(graph));

const evidenceMemo = memo((sites: FactsState['sites'], floor: FactsState['floor']): Evidence => ({ sites, floor }));
export function evidenceOf(facts: FactsState): Evidence {
  return evidenceMemo(facts.sites, facts.floor);
}

const totalsMemo = memo((graph: Graph, formats: Plan['formats'], evidence: Evidence, options: FactsState['options']) => planTotals(sitesOf(graph), formats, evidence, options), 16);
export function totalsOf(facts: FactsState, plan: Plan): PlanTotals | null {
  return facts.graph ? totalsMemo(facts.graph, plan.formats, evidenceOf(facts), facts.options) : null;
}

/** A plan's locks and nothing else, as a text, so that equal locks are one key: `[["h.0.mlp.c_fc:fprop","bf16"],...]`. */
function locksOf(plan: Plan): string {
  return JSON.stringify(Object.keys(plan.locked).sort().map((id) => [id, formatOf(plan.formats, id)]));
}
const frontierMemo = memo((graph: Graph, locks: string, evidence: Evidence, part: ReadonlySet<SiteId> | undefined) => {
  const formats = Object.fromEntries(JSON.parse(locks) as [SiteId, SiteFormat][]);
  const locked = Object.fromEntries(Object.keys(formats).map((id) => [id, true as const]));
  return planFrontier(sitesOf(graph), { name: '', formats, locked, notes: '' }, evidence, part);
});
/** The solver's frontier under the plan's locks; of a part (row, layer) for its budget handle. Repainting unlocked sites keeps it. */
export function frontierOf(facts: FactsState, plan: Plan, part?: ReadonlySet<SiteId>): Frontier | null {
  return facts.graph ? frontierMemo(facts.graph, locksOf(plan), evidenceOf(facts), part) : null;
}

const hashMemo = memo((graph: Graph, formats: Plan['formats'], modelSha256: string, recipe: FactsState['recipe'], options: FactsState['options']) =>
  planHash(formats, sitesOf(graph), { modelSha256, recipe, options }), 16);
export function hashOfPlan(facts: FactsState, plan: Plan): string | null {
  return facts.graph ? hashMemo(facts.graph, plan.formats, facts.modelSha256, facts.recipe, facts.options) : null;
}

const jointsMemo = memo((joint: FactsState['joint'], jointHere: FactsState['jointHere'], measuredHere: FactsState['measuredHere']) => jointsShown({ joint, jointHere, measuredHere }));
/** The joint results that may stand beside the cells, by plan hash. */
export function jointsOf(facts: FactsState): FactsState['joint'] {
  return jointsMemo(facts.joint, facts.jointHere, facts.measuredHere);
}

/** The joint measurement of exactly this plan, if it was made and is of the device that the page shows. */
export function jointOf(facts: FactsState, plan: Plan): JointResult | null {
  const hash = hashOfPlan(facts, plan);
  return hash === null ? null : (jointsOf(facts)[hash] ?? null);
}

export interface Baseline {
  readonly id: string;
  readonly plan: Plan;
}
const baselinesMemo = memo((graph: Graph, recipe: FactsState['recipe']): readonly Baseline[] =>
  PRESETS.map((preset) => ({ id: preset.id, plan: presetPlan(preset, sitesOf(graph), recipe) })));
/** All low, all BF16, each pass BF16. */
export function baselinesOf(facts: FactsState): readonly Baseline[] {
  return facts.graph ? baselinesMemo(facts.graph, facts.recipe) : [];
}

/** Rank of every measured site by clean angle, 1 = bends most; ties share the better rank by site order. */
const ranksMemo = memo((sites: FactsState['sites']): ReadonlyMap<SiteId, number> => {
  const angles = Object.entries(sites).flatMap(([id, r]) => (r.status === 'measured' ? [{ id, angle: r.cleanAngleDeg, raw: r.angleDeg }] : []));
  angles.sort((a, b) => b.angle - a.angle || b.raw - a.raw);
  return new Map(angles.map(({ id }, i) => [id, i + 1]));
});
export function ranksOf(facts: FactsState): ReadonlyMap<SiteId, number> {
  return ranksMemo(facts.sites);
}

/** Where the angles on the page were measured, honest about a mixture of stored and measured ones; null when there are none. */
export function provenanceOf(facts: FactsState): FactsState['provenance'] {
  return originOf(facts, jointsOf(facts));
}
