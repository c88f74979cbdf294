/**
 * `allocate`: probes and a budget (or a target) to the best plan, proven, as the allocation.json that the page opens
 * (method.md 7). Nothing is measured here, so no device is opened; the same inputs give the same bytes.
 */
import { exportAllocation, type AllocationFacts } from '../allocate/allocation-file';
import { poseQuestion } from '../allocate/choices';
import { cleanTan2, costedSites, formatOf, planTotals, type CostedSite, type Formats } from '../allocate/cost';
import { costTable, type CostTable } from '../allocate/costs';
import { offeredChoices, sharedFormatGroups } from '../allocate/offers';
import { planHash, type Plan } from '../allocate/plan';
import { solveWithin, type Solution } from '../allocate/within';
import { angleOfTanSquared } from '../base/angle';
import { BendscopeError } from '../base/errors';
import { formatDegrees, significant } from '../base/units';
import { RECIPE_NAMES, type RecipeName, type SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import { readAllocate, type AllocateInputs, type Asked } from './allocate-inputs';
import type { CommandSpec, Flags } from './command-line';
import { writeOutput } from './local-files';
import type { Probes } from './probe-file';
import { listed, say } from './say';

export const ALLOCATE: CommandSpec = {
  name: 'allocate',
  summary: 'the plan that bends least within a budget, or is cheapest within a target, from probes; proven optimal',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'the model that was probed, for its shapes; its weights must be those of the probes' },
    { name: 'probe', value: 'R.json', required: true, repeatable: true, help: 'what probe wrote; several of different pass recipes: several formats a site' },
    { name: 'budget', value: 'NUMBER', help: 'spend at most this, in the figure of --cost' },
    { name: 'target-deg', value: 'DEGREES', help: 'or bend at most this, as predicted from the probes' },
    { name: 'cost', value: 'gemm|cache|bits|time', help: 'what is spent, as below; default gemm, of op groups cache' },
    { name: 'ratios', value: 'JSON', help: 'of --cost time: time in a format over that in BF16, as {"fp8": 0.55}; default 0.5 for FP8, 0.25 for FP4' },
    { name: 'times', value: 'T.csv', help: 'of --cost time: measured times, with the columns m,k,n,pass,format,time_us' },
    { name: 'lock', value: 'L.json', help: '{"h.0.*:fprop": "bf16", "*.mlp.c_fc:wgrad": "nvfp4"}: sites, as in probe --sites, that keep a format' },
    { name: 'out', value: 'plan.json', required: true, help: 'allocation.json: the plan with every angle it rests on; with one low format the page opens it' },
  ],
  details: [
    'gemm: FLOPs of BF16 passes over those of all, 0 to 1 (a low pass is free, whichever format it has). cache: the same of',
    'the bytes that backward keeps, for op groups. bits: mean stored bits an element, up to 16. time: GEMM time over that of',
    'everything in BF16; --times has a row for every product at the shape that was probed.',
    'Squared tangents of clean angles add, the noise floor once. Sites that were not measured keep BF16 unless a lock says',
    'otherwise; passes that inference stacks fuse (q, k, v; gate, up) share a format. verify measures the plan as a whole.',
  ],
};

/** Throws before it solves for anything that is wrong with the input; E-PLAN-11 when no plan is within what was asked. */
export async function allocate(flags: Flags): Promise<void> {
  const inputs = await readAllocate(flags);
  const { out, model: { graph, name, sha256 }, probes, asked, locks } = inputs;
  const { low, options } = probes;
  const formats = low.map(({ format }) => format);
  const sites = costedSites(graph, formats[0] ?? RECIPE_NAMES[0]!);
  const costs = costTable(graph, sites, formats, options, inputs.cost);
  const groups = sites.some(({ pass }) => pass === 'out') ? [] : sharedFormatGroups(graph);
  const question = poseQuestion(offeredChoices(sites, low, costs, locks), groups);
  const solution = solveWithin(question, 'budget' in asked ? { cost: costs.costOf(asked.budget) } : { angleDeg: asked.targetDeg });
  if (!solution.feasible) throw notWithin(asked, costs, solution, inputs, sites);

  const wanted = 'budget' in asked ? `${costs.name} at most ${asked.budget}` : `bend at most ${asked.targetDeg} deg`;
  const proof = solution.gap === 0 ? 'proven optimal (gap 0)' : `not proven: ${gapOf(asked, solution, costs)}`;
  const plan: Plan = {
    name: wanted, notes: `${'budget' in asked ? wanted : `${wanted} for the least ${costs.name}`}, ${proof}`,
    formats: solution.formats, locked: Object.fromEntries(Object.keys(locks).map((id) => [id, true as const])),
  };
  const { recipe, facts } = factsOf(probes, solution.formats, sites);
  const context = { graph, modelSha256: sha256, recipe, options };
  const totals = planTotals(sites, plan.formats, facts, options);
  say(`${name}, ${sites.length} sites in ${['bf16', ...formats].join(', ')}: ${wanted}`);
  say(`predicted ${totals.predictedDeg === null ? 'not: a locked site was not measured' : formatDegrees(totals.predictedDeg)}, ${costs.name} ${significant(costs.figureOf(solution.point.cost), 4)}${costs.rounding > 0 ? ` (times rounded, within ${significant(costs.rounding, 1)})` : ''}, ${significant(totals.effectiveBits, 4)} effective bits`);
  say(`sites: ${(['bf16', ...formats] as const).map((format) => `${totals.siteCount[format]} ${format}`).join(', ')}`);
  say(proof);
  const lockedIds = sites.map(({ id }) => id).filter((id) => locks[id] !== undefined);
  if (lockedIds.length > 0) say(`locked: ${listed(lockedIds.map((id) => `${id} ${formatOf(plan.formats, id)}`))}`);
  const unmeasured = question.unpredicted.filter(({ formats: missing }) => missing.length === formats.length).map(({ id }) => id);
  if (unmeasured.length > 0) say(`without a measurement: ${listed(unmeasured.map((id) => `${id} ${formatOf(plan.formats, id)}`))}`);
  await writeOutput(out, exportAllocation(plan, facts, context));
  say(`plan ${planHash(plan.formats, sites, context)}: ${out}`);
}

/** What a plan's file rests on: the most frequent low format is its recipe, and only formats that it uses are in it. */
function factsOf({ low, provenance }: Probes, formats: Formats, sites: readonly CostedSite[]): { readonly recipe: RecipeName; readonly facts: AllocationFacts } {
  const times = (format: RecipeName): number => sites.filter(({ id }) => formatOf(formats, id) === format).length;
  const byUse = low.toSorted((a, b) => times(b.format) - times(a.format) || RECIPE_NAMES.indexOf(a.format) - RECIPE_NAMES.indexOf(b.format));
  const main = byUse[0]!;
  const others = byUse.filter(({ format }) => format !== main.format && times(format) > 0);
  const results = sites.flatMap(({ id }) => {
    const format = formatOf(formats, id);
    const result = (others.find((other) => other.format === format) ?? main).evidence.sites[id];
    return result ? [[id, result] as const] : [];
  });
  const anglesOf = (id: SiteId, key: 'angleDeg' | 'cleanAngleDeg'): Partial<Record<RecipeName, number>> =>
    Object.fromEntries([main, ...others].flatMap(({ format, evidence }) => {
      const result = evidence.sites[id];
      return result?.status === 'measured' && cleanTan2(evidence, id) !== null ? [[format, result[key]]] : [];
    }));
  return {
    recipe: main.format,
    facts: {
      sites: Object.fromEntries(results), floor: main.evidence.floor, provenance, joint: {},
      ...(others.length > 0 ? { otherAngles: Object.fromEntries(sites.map(({ id }) => [id, { angleDeg: anglesOf(id, 'angleDeg'), cleanDeg: anglesOf(id, 'cleanAngleDeg') }])) } : {}),
    },
  };
}

function gapOf(asked: Asked, { gap, point }: Solution, costs: CostTable): string {
  return 'budget' in asked ? `no plan within it bends less than ${formatDegrees(angleOfTanSquared(Math.max(0, point.tan2 - gap)))}` : `no plan within it costs less than ${significant(costs.figureOf(point.cost - gap), 4)}`;
}

function notWithin(asked: Asked, costs: CostTable, { point }: Solution, { locks, probes }: AllocateInputs, sites: readonly CostedSite[]): BendscopeError {
  const nearest = 'budget' in asked ? `${costs.name} of at most ${asked.budget}, got ${significant(costs.figureOf(point.cost), 4)}` : `a bend of at most ${asked.targetDeg} deg, got ${formatDegrees(point.angleDeg)}`;
  const unmeasured = sites.filter(({ id }) => probes.low.every(({ evidence }) => cleanTan2(evidence, id) === null)).length;
  const why = `${unmeasured} of ${sites.length} sites are not measured and keep BF16, ${Object.keys(locks).length} are locked`;
  const what = RECIPES[probes.low[0]!.format].kind === 'out' ? 'op groups' : 'passes';
  return new BendscopeError('E-PLAN-11', `allocate: expected a plan with ${nearest} at best (${why})`, `Probe more ${what}, unlock some, or ask for less; nothing was written.`);
}
