/**
 * What follows from facts and plan: totals, predictions, hashes, joints, fills, ranks. Pure functions, memo by identity of
 * the inputs. What the solver makes of a plan is in solving.ts, what it costs in cost-choice.ts, other plans in plans.ts.
 */
import { formatOf, planTotals, type CostedSite, type Evidence, type PlanTotals } from '../allocate/cost';
import { formatsWhere, planHash, type Plan } from '../allocate/plan';
import type { RecipeName, SiteId } from '../graph/policy';
import type { JointResult } from '../graph/probe-record';
import type { Graph } from '../graph/types';
import { fillCell, type Fill, type FillCell, type FillFacts } from './fills';
import { memo } from './memo';
import { jointsShown, leaveOneOutShown, originOf, type Results } from './results';
import type { OtherResults, Shown } from './shown';
import { sitesOf } from './sites';

export { sitesOf };

/** The plan a recipe begins with: all low; BF16 and locked where `from`, a plan of the same cells, is. */
export function freshPlan(graph: Graph, recipe: RecipeName, from: Plan | null = null): Plan {
  const formats = formatsWhere(sitesOf(graph, recipe), (site) => from !== null && formatOf(from.formats, site.id) === 'bf16', recipe);
  return { name: from?.name ?? 'Plan', formats, locked: from?.locked ?? {}, notes: '' };
}

const evidenceMemo = memo((recipe: RecipeName, sites: Results['sites'], floor: Results['floor'], others: OtherResults | undefined): Evidence =>
  ({ sites, floor, ...(others === undefined ? {} : { byFormat: { ...others, [recipe]: sites } }) }), 16);
/** What predictions stand on: the recipe's results, and those of the other formats that are known on this text. */
export function evidenceOf({ recipe, sites, floor, others }: Pick<Shown, 'recipe' | 'sites' | 'floor'> & Partial<Pick<Shown, 'others'>>): Evidence {
  return evidenceMemo(recipe, sites, floor, others);
}

const totalsMemo = memo((graph: Graph, recipe: RecipeName, formats: Plan['formats'], evidence: Evidence, options: Shown['options']) =>
  planTotals(sitesOf(graph, recipe), formats, evidence, options), 64);
export function totalsOf(shown: Pick<Shown, 'graph' | 'recipe' | 'options' | 'sites' | 'floor'> & Partial<Pick<Shown, 'others'>>, plan: Plan): PlanTotals | null {
  return shown.graph ? totalsMemo(shown.graph, shown.recipe, plan.formats, evidenceOf(shown), shown.options) : null;
}

const anyMemo = memo((sites: Results['sites']): boolean => Object.values(sites).some((result) => result.status === 'measured'));
/** Whether any cell of the recipe has an angle. */
export function isAnyMeasured({ sites }: Pick<Results, 'sites'>): boolean {
  return anyMemo(sites);
}

const hashMemo = memo((graph: Graph, formats: Plan['formats'], modelSha256: string, recipe: RecipeName, options: Shown['options']) =>
  planHash(formats, sitesOf(graph, recipe), { modelSha256, recipe, options }), 32);
type Hashed = Pick<Shown, 'graph' | 'modelSha256' | 'recipe' | 'options'>;
export function hashOfPlan({ graph, modelSha256, recipe, options }: Hashed, plan: Plan): string | null {
  return graph ? hashMemo(graph, plan.formats, modelSha256, recipe, options) : null;
}

const jointsMemo = memo((joint: Results['joint'], jointHere: Results['jointHere'], measuredHere: Results['measuredHere'], leaveOneOutHere: Results['leaveOneOutHere']) =>
  jointsShown({ joint, jointHere, measuredHere, leaveOneOutHere }), 16);
/** The joint results that may stand beside the cells, by plan hash. */
export function jointsOf({ joint, jointHere, measuredHere, leaveOneOutHere }: Results): Results['joint'] {
  return jointsMemo(joint, jointHere, measuredHere, leaveOneOutHere);
}

/** How many low sites the joint results that may be shown have. */
const lowCountsMemo = memo((joints: Results['joint']): ReadonlySet<number> => new Set(Object.values(joints).map(({ lowSites }) => lowSites)), 16);

/** The joint measurement of exactly this plan, if it was made and is of the device that the page shows. */
export function jointOf(shown: Hashed & Results & Partial<Pick<Shown, 'others'>>, plan: Plan): JointResult | null {
  const joints = jointsOf(shown);
  // Hashing thousands of cells takes longer than a frame; most plans under a drag have no joint of their size.
  const counts = lowCountsMemo(joints);
  if (counts.size === 0) return null;
  const totals = totalsOf(shown, plan);
  if (totals === null || !counts.has(sitesOf(shown.graph!, shown.recipe).length - totals.siteCount.bf16)) return null;
  const hash = hashOfPlan(shown, plan);
  return hash === null ? null : (joints[hash] ?? null);
}

const allLowMemo = memo((graph: Graph, recipe: RecipeName): Plan => ({ name: 'All low', formats: formatsWhere(sitesOf(graph, recipe), () => false, recipe), locked: {}, notes: '' }), 16);
/** Everything in the recipe's format; null without a model. */
export function allLowPlan({ graph, recipe }: Pick<Shown, 'graph' | 'recipe'>): Plan | null {
  return graph ? allLowMemo(graph, recipe) : null;
}

/** Whether a plan keeps everything in BF16: it is then what others are measured against. */
export function isReferencePlan({ formats }: Pick<Plan, 'formats'>): boolean {
  return Object.values(formats).every((format) => format === 'bf16');
}

/** How many sites of what is shown two plans hold in different formats. Asked at every move of a drag: makes nothing. */
export function countDifferences({ graph, recipe }: Pick<Shown, 'graph' | 'recipe'>, a: Pick<Plan, 'formats'>, b: Pick<Plan, 'formats'>): number {
  if (graph === null || a.formats === b.formats) return 0;
  let count = 0;
  for (const { id } of sitesOf(graph, recipe)) if (formatOf(a.formats, id) !== formatOf(b.formats, id)) count += 1;
  return count;
}

/** The joint measurement of everything low. */
export function allLowOf(shown: Hashed & Results): JointResult | null {
  const plan = allLowPlan(shown);
  return plan ? jointOf(shown, plan) : null;
}

const leaveOneOutMemo = memo((leaveOneOut: Results['leaveOneOut'], leaveOneOutHere: Results['leaveOneOutHere'], measuredHere: Results['measuredHere'], jointHere: Results['jointHere']) =>
  leaveOneOutShown({ leaveOneOut, leaveOneOutHere, measuredHere, jointHere }), 16);
/** The left-out cells that may stand beside the joint results, by site. */
export function leaveOneOutOf({ leaveOneOut, leaveOneOutHere, measuredHere, jointHere }: Results): Results['leaveOneOut'] {
  return leaveOneOutMemo(leaveOneOut, leaveOneOutHere, measuredHere, jointHere);
}

const fillFactsMemo = memo((graph: Graph | null, sites: Results['sites'], floor: Results['floor'], leaveOneOut: Results['leaveOneOut'], allLow: JointResult | null): FillFacts =>
  ({ graph, sites, floor, leaveOneOut, allLow: allLow?.result ?? null }), 16);
/** What the cells of a fill are made of, from the results shown or those of another recipe. */
export function fillFactsOf(shown: Hashed & Results): FillFacts {
  return fillFactsMemo(shown.graph, shown.sites, shown.floor, leaveOneOutOf(shown), allLowOf(shown));
}

/** Every site of the recipe with its cell in a fill, in site order. */
export function fillOf(shown: Hashed & Results, fill: Fill): ReadonlyMap<SiteId, FillCell> {
  return shown.graph ? fillMemo(sitesOf(shown.graph, shown.recipe), fill, fillFactsOf(shown)) : new Map();
}
const fillMemo = memo((sites: readonly CostedSite[], fill: Fill, facts: FillFacts): ReadonlyMap<SiteId, FillCell> =>
  new Map(sites.map(({ id }) => [id, fillCell(fill, facts, id)])), 32);

/** Rank of every measured site by clean angle, 1 = bends most; ties share the better rank by site order. */
const ranksMemo = memo((sites: Results['sites']): ReadonlyMap<SiteId, number> => {
  const angles = Object.entries(sites).flatMap(([id, r]) => (r.status === 'measured' ? [{ id, angle: r.cleanAngleDeg, raw: r.angleDeg }] : []));
  angles.sort((a, b) => b.angle - a.angle || b.raw - a.raw);
  return new Map(angles.map(({ id }, i) => [id, i + 1]));
});
export function ranksOf({ sites }: Pick<Results, 'sites'>): ReadonlyMap<SiteId, number> {
  return ranksMemo(sites);
}

/** Where the angles on the page were measured, honest about a mixture of stored and measured ones; null when there are none. */
export function provenanceOf(shown: Results): Results['provenance'] {
  return originOf(shown, jointsOf(shown));
}
