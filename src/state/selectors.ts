/**
 * What follows from document and facts, computed once per change: totals, prediction, frontier, plan hash, baselines.
 * Memo by identity of the inputs, because a drag asks many times a second.
 */
import { passSites, planTotals, type Evidence, type PassSite, type PlanTotals } from '../allocate/cost';
import type { Frontier } from '../allocate/knapsack';
import { planFrontier, planHash, PRESETS, presetPlan, type Plan } from '../allocate/plan';
import type { SiteId } from '../graph/policy';
import type { JointResult } from '../graph/probe-record';
import type { Graph } from '../graph/types';
import type { FactsState } from './facts';

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

const frontierMemo = memo((graph: Graph, locked: Plan['locked'], lockedFormats: string, plan: Plan, evidence: Evidence, part: ReadonlySet<SiteId> | undefined) => {
  void locked;
  void lockedFormats;
  return planFrontier(sitesOf(graph), plan, evidence, part);
});
const planFor = memo((locked: Plan['locked'], lockedFormats: string, plan: Plan) => {
  void locked;
  void lockedFormats;
  return plan;
});
/** The solver's frontier under the plan's locks; of a part (row, layer) for its budget handle. */
export function frontierOf(facts: FactsState, plan: Plan, part?: ReadonlySet<SiteId>): Frontier | null {
  if (!facts.graph) return null;
  // Only the formats of locked sites matter to the solver, so a repaint elsewhere keeps the frontier.
  const key = Object.keys(plan.locked).sort().map((id) => `${id}=${plan.formats[id] ?? 'bf16'}`).join();
  const first = planFor(plan.locked, key, plan);
  return frontierMemo(facts.graph, plan.locked, key, first, evidenceOf(facts), part);
}

const hashMemo = memo((graph: Graph, formats: Plan['formats'], modelSha256: string, recipe: FactsState['recipe'], options: FactsState['options']) =>
  planHash(formats, sitesOf(graph), { modelSha256, recipe, options }), 16);
export function hashOfPlan(facts: FactsState, plan: Plan): string | null {
  return facts.graph ? hashMemo(facts.graph, plan.formats, facts.modelSha256, facts.recipe, facts.options) : null;
}

/** The joint measurement of exactly this plan, if it was made. */
export function jointOf(facts: FactsState, plan: Plan): JointResult | null {
  const hash = hashOfPlan(facts, plan);
  return hash === null ? null : (facts.joint[hash] ?? null);
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

const provenanceMemo = memo((here: FactsState['provenance'], stored: FactsState['storedProvenance'], sites: FactsState['sites'], measuredHere: FactsState['measuredHere']) => {
  const total = Object.keys(sites).length;
  const kept = total - measuredHere.size;
  if (here === null || stored === null || here === stored || kept <= 0) return here;
  // Only a joint run so far, or a run in the middle: the file must not claim one device for all angles.
  return { ...here, device: `mixed: ${measuredHere.size} of ${total} cells on ${here.device}; the others are the stored example, on ${stored.device}` };
});
/** Where the angles on the page were measured, honest about a mixture of stored and measured cells; null when there are none. */
export function provenanceOf(facts: FactsState): FactsState['provenance'] {
  return provenanceMemo(facts.provenance, facts.storedProvenance, facts.sites, facts.measuredHere);
}
