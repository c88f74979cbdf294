/**
 * `allocate`: probes and a budget (or a target) to the best plan, proven, as the allocation.json that the page opens
 * (method.md 7). Nothing is measured here, so no device is opened; the same inputs give the same bytes.
 */
import { exportAllocation } from '../allocate/allocation-file';
import { cleanTan2, formatOf, planTotals } from '../allocate/cost';
import { planHash, planWithin, type Plan } from '../allocate/plan';
import { formatDegrees, significant } from '../base/units';
import { COST_DETAILS, COST_FLAGS, costRequest, LARGEST_BUDGET, LOCK_FLAG, openProbes, PROBE_FLAG, readCostWords, readLockFile } from './allocate-inputs';
import { askProbes, factsOf, notWithin, proofOf, type Asked } from './allocate-question';
import type { CommandSpec, Flags } from './command-line';
import { writeOutput } from './local-files';
import { listed, say } from './say';

export const ALLOCATE: CommandSpec = {
  name: 'allocate',
  summary: 'the plan that bends least within a budget, or is cheapest within a target, from probes; proven optimal',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'the model that was probed, for its shapes; its weights must be those of the probes' },
    PROBE_FLAG,
    { name: 'budget', value: 'NUMBER', help: 'spend at most this, in the figure of --cost' },
    { name: 'target-deg', value: 'DEGREES', help: 'or bend at most this, as predicted from the probes' },
    ...COST_FLAGS,
    LOCK_FLAG,
    { name: 'out', value: 'plan.json', required: true, help: 'allocation.json: the plan with every angle it rests on; with one low format the page opens it' },
  ],
  details: [
    ...COST_DETAILS,
    'Squared tangents of clean angles add, the noise floor once. Sites that were not measured keep BF16 unless a lock says',
    'otherwise; passes that inference stacks fuse (q, k, v; gate, up) share a format. verify measures the plan as a whole.',
  ],
};

/** Throws before it solves for anything that is wrong with the input; E-PLAN-11 when no plan is within what was asked. */
export async function allocate(flags: Flags): Promise<void> {
  const [out, times, lock] = [flags.text('out'), flags.optional('times'), flags.optional('lock')];
  const words = readCostWords(flags);
  if (flags.given('budget') === flags.given('target-deg')) throw flags.wrong('budget', 'either --budget or --target-deg', flags.given('budget') ? 'both' : 'none');
  const targetDeg = flags.number('target-deg', 90);
  const { model: { graph, name, sha256 }, probes, recipe: first } = await openProbes(flags, [out], [times, lock].flatMap((path) => path ?? []));
  const { low, options } = probes;
  const cost = await costRequest(words, first, probes);
  const budget = flags.number('budget', LARGEST_BUDGET[cost.kind]);
  const wanted: Asked = budget === null ? { targetDeg: targetDeg ?? NaN } : { budget };
  const { asked, locked } = askProbes(graph, probes, cost, await readLockFile(lock, graph, probes));
  const { sites, costs } = asked;
  const formats = low.map(({ format }) => format);
  const solution = planWithin(asked, locked, 'budget' in wanted ? { cost: costs.costOf(wanted.budget) } : { angleDeg: wanted.targetDeg });
  if (!solution.feasible) throw notWithin('allocate', wanted, solution, asked, locked);

  const told = 'budget' in wanted ? `${costs.name} at most ${wanted.budget}` : `bend at most ${wanted.targetDeg} deg`;
  const proof = proofOf(wanted, solution, asked);
  const plan: Plan = { name: told, notes: `${'budget' in wanted ? told : `${told} for the least ${costs.name}`}, ${proof}`, formats: solution.formats, locked: locked.locked };
  const { recipe, facts } = factsOf(probes, plan.formats, sites);
  const context = { graph, modelSha256: sha256, recipe, options };
  const totals = planTotals(sites, plan.formats, facts, options);
  say(`${name}, ${sites.length} sites in ${['bf16', ...formats].join(', ')}: ${told}`);
  say(`predicted ${totals.predictedDeg === null ? 'not: a locked site was not measured' : formatDegrees(totals.predictedDeg)}, ${costs.name} ${significant(costs.figureOf(solution.point.cost), 4)}${costs.rounding > 0 ? ` (times rounded, within ${significant(costs.rounding, 1)})` : ''}, ${significant(totals.effectiveBits, 4)} effective bits`);
  say(`sites: ${(['bf16', ...formats] as const).map((format) => `${totals.siteCount[format]} ${format}`).join(', ')}`);
  say(proof);
  const lockedIds = sites.map(({ id }) => id).filter((id) => locked.locked[id]);
  if (lockedIds.length > 0) say(`locked: ${listed(lockedIds.map((id) => `${id} ${formatOf(plan.formats, id)}`))}`);
  const unmeasured = sites.map(({ id }) => id).filter((id) => low.every(({ evidence }) => cleanTan2(evidence, id) === null));
  if (unmeasured.length > 0) say(`without a measurement: ${listed(unmeasured.map((id) => `${id} ${formatOf(plan.formats, id)}`))}`);
  await writeOutput(out, exportAllocation(plan, facts, context));
  say(`plan ${planHash(plan.formats, sites, context)}: ${out}`);
}
