/**
 * From probes to the solver's question, and from its answer to what a plan's file rests on. Shared by allocate, how-much and
 * compare.
 */
import { cellFacts } from '../allocate/allocation-facts';
import type { AllocationFacts } from '../allocate/allocation-file';
import { cleanTan2, costedSites, formatOf, type CostedSite, type Formats } from '../allocate/cost';
import { costTable, type CostRequest } from '../allocate/costs';
import { joinedEvidence, sharedFormatGroups } from '../allocate/offers';
import type { Plan, PlanQuestion } from '../allocate/plan';
import type { Solution } from '../allocate/within';
import { angleOfTanSquared } from '../base/angle';
import { BendscopeError } from '../base/errors';
import { formatDegrees, significant } from '../base/units';
import { RECIPE_NAMES, type RecipeName, type SiteFormat, type SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import type { Graph } from '../graph/types';
import type { Probes } from './probe-file';

/** Everything the probes offer, and a plan that holds nothing but the locks. `priced`: formats that costs cover beside those probed. */
export function askProbes(graph: Graph, { low, options }: Probes, cost: CostRequest, locks: Readonly<Record<SiteId, SiteFormat>> = {}, priced: readonly RecipeName[] = []): { readonly asked: PlanQuestion; readonly locked: Plan } {
  const formats = low.map(({ format }) => format);
  const sites = costedSites(graph, formats[0] ?? RECIPE_NAMES[0]!);
  const costs = costTable(graph, sites, [...formats, ...priced], options, cost);
  const groups = sites.some(({ pass }) => pass === 'out') ? [] : sharedFormatGroups(graph);
  return { asked: { sites, low, costs, groups }, locked: { name: '', notes: '', formats: locks, locked: Object.fromEntries(Object.keys(locks).map((id) => [id, true as const])) } };
}

/** What is wanted of a plan, in the figure people read: a share of everything in BF16, mean bits, or degrees. */
export type Asked = { readonly budget: number } | { readonly targetDeg: number };

/** `proven optimal (gap 0)`, or how much better a plan could be. */
export function proofOf(wanted: Asked, { gap, point }: Solution, { costs }: PlanQuestion): string {
  if (gap === 0) return 'proven optimal (gap 0)';
  return 'budget' in wanted ? `not proven: no plan within it bends less than ${formatDegrees(angleOfTanSquared(Math.max(0, point.tan2 - gap)))}` : `not proven: no plan within it costs less than ${significant(costs.figureOf(point.cost - gap), 4)}`;
}

/** E-PLAN-11: no plan is within what is wanted; the nearest one is named, and why. */
export function notWithin(command: string, wanted: Asked, { point }: Pick<Solution, 'point'>, { sites, low, costs }: PlanQuestion, locked: Plan): BendscopeError {
  const nearest = 'budget' in wanted ? `${costs.name} of at most ${wanted.budget}, got ${significant(costs.figureOf(point.cost), 4)}` : `a bend of at most ${wanted.targetDeg} deg, got ${formatDegrees(point.angleDeg)}`;
  const unmeasured = sites.filter(({ id }) => low.every(({ evidence }) => cleanTan2(evidence, id) === null)).length;
  const why = `${unmeasured} of ${sites.length} sites are not measured and keep BF16, ${Object.keys(locked.locked).length} are locked`;
  const what = RECIPES[low[0]!.format].kind === 'out' ? 'op groups' : 'passes';
  return new BendscopeError('E-PLAN-11', `${command}: expected a plan with ${nearest} at best (${why})`, `Probe more ${what}, unlock some, or ask for less; nothing was written.`);
}

/** What a plan's file rests on: the most frequent low format is its recipe, and only formats that it uses are in it. */
export function factsOf({ low, provenance }: Probes, formats: Formats, sites: readonly CostedSite[]): { readonly recipe: RecipeName; readonly facts: AllocationFacts } {
  const times = (format: RecipeName): number => sites.filter(({ id }) => formatOf(formats, id) === format).length;
  const byUse = low.toSorted((a, b) => times(b.format) - times(a.format) || RECIPE_NAMES.indexOf(a.format) - RECIPE_NAMES.indexOf(b.format));
  const main = byUse[0]!;
  const others = byUse.slice(1).filter(({ format }) => times(format) > 0);
  const cells = cellFacts(sites, formats, joinedEvidence([main, ...others]), [main.format, ...others.map(({ format }) => format)]);
  return { recipe: main.format, facts: { ...cells, floor: main.evidence.floor, provenance, joint: {} } };
}
