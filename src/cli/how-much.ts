/**
 * `how-much`: the smallest budget whose measured joint angle meets a target (method.md 7): predict, measure, correct, repeat, at
 * most four times. The plan goes out with its measured angle; the report with every step, what the batches leave open, and
 * how few of them would have been enough.
 */
import { exportAllocation } from '../allocate/allocation-file';
import { batchesNeeded, type BatchesRow, type Spread } from '../allocate/batches-needed';
import type { Formats } from '../allocate/cost';
import type { ChoiceFrontier } from '../allocate/frontier';
import { howMuch as search, MOST_MEASUREMENTS, type HowMuch, type HowMuchStep } from '../allocate/how-much';
import { planAt, planFrontier, planHash, type Plan, type PlanQuestion } from '../allocate/plan';
import { BendscopeError } from '../base/errors';
import { formatDegrees, significant } from '../base/units';
import type { JointResult, SiteResult } from '../graph/probe-record';
import { COST_DETAILS, COST_FLAGS, costRequest, LOCK_FLAG, openProbes, PROBE_FLAG, readCostWords, readLockFile } from './allocate-inputs';
import { askProbes, factsOf, notWithin } from './allocate-question';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
import { JOURNAL_FLAG, noteOrigins, withJoints, type Joints } from './joints';
import { writeOutput } from './local-files';
import { say, sayError } from './say';
import { readTokens } from './token-file';

const HOW_MUCH_SCHEMA = 'bendscope-how-much/1';

export const HOW_MUCH: CommandSpec = {
  name: 'how-much',
  summary: 'the cheapest plan whose measured joint angle meets a target, in at most four measurements',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'the model that was probed' },
    { name: 'tokens', value: 'T.json', required: true, help: 'batches as in probe --help, those of the probes' },
    PROBE_FLAG,
    { name: 'target-deg', value: 'DEGREES', required: true, help: 'bend at most this, as measured' },
    ...COST_FLAGS,
    LOCK_FLAG,
    { name: 'out', value: 'plan.json', required: true, help: 'allocation.json of the cheapest plan that met the target, its measured angle in it' },
    { name: 'report', value: 'H.json', help: `every step and the tables as ${HOW_MUCH_SCHEMA}, also where no plan met the target` },
    { ...JOURNAL_FLAG, help: `${JOURNAL_FLAG.help}; default: plan.json.journal, until the plan is written` },
    ADAPTER_FLAG,
  ],
  details: [
    ...COST_DETAILS,
    'Each step: the angle asked of the prediction, the plan\'s cost, its predicted and its measured angle. From the second step on',
    'the prediction is corrected by what was measured. A measured angle of 0.95 to 1 times the target ends the search.',
    'Cost range: of the plans that would meet the target if the measured angle were one standard error less, or more. By number',
    'of batches: what plans from fewer calibration batches cost, and bend as predicted by all of them; median (least to most).',
    `${HOW_MUCH_SCHEMA}: targetDeg, steps, best (index of a step), isSettled, costRange, batches, cost, provenance.`,
  ],
};

/** Throws before it measures for anything that is wrong with the input; E-PLAN-11 when no plan met the target, E-RUN-02 for one without a gradient. */
export async function howMuch(flags: Flags, devices: Devices): Promise<void> {
  const [out, tokensPath] = [flags.text('out'), flags.text('tokens')];
  const [report, times, lock, journal] = (['report', 'times', 'lock', 'journal'] as const).map((name) => flags.optional(name));
  const words = readCostWords(flags);
  const targetDeg = flags.number('target-deg', 90) ?? NaN;
  const present = (paths: readonly (string | undefined)[]): string[] => paths.flatMap((path) => path ?? []);
  const { model, probes, recipe } = await openProbes(flags, present([out, report, journal]), present([tokensPath, times, lock]));
  const cost = await costRequest(words, recipe, probes);
  const { asked, locked } = askProbes(model.graph, probes, cost, await readLockFile(lock, model.graph, probes));
  model.warnings.forEach(sayError);
  const tokens = await readTokens(tokensPath, model.graph);
  const line = planFrontier(asked, locked);
  const last = line.points.at(-1)!;
  if (last.angleDeg > targetDeg) throw notWithin('how-much', { targetDeg }, { point: last }, asked, locked);

  const { options } = probes;
  const kept = journal === undefined ? { path: `${out}.journal`, kept: false } : { path: journal, kept: true };
  await withJoints({ model, tokensPath, tokens, recipe, options, journal: kept }, flags, devices, async (joints) => {
    const { costs, sites } = asked;
    say(`${model.name}, bend at most ${targetDeg} deg for the least ${costs.name}: ${line.points.length} efficient plans`);
    noteOrigins('predictions', probes.provenance, joints.provenance);
    const formatsAt = (index: number): Formats => planAt(locked, line, index).formats;
    const { found, measured } = await searchAloud(line, formatsAt, targetDeg, asked, joints);
    const best = found.best === null ? null : { step: found.best, formats: formatsAt(found.best.index) };
    const batches = batchesNeeded({ asked, plan: locked, limit: { angleDeg: targetDeg }, joint: best === null ? null : measured.get(best.step.index)!.result });
    if (report !== undefined) await writeOutput(report, `${JSON.stringify(reportOf({ found, measured, batches, targetDeg, asked, joints, recipe, options }), null, 1)}\n`);
    if (best === null) {
      const nearest = found.steps.toSorted((a, b) => a.angleDeg - b.angleDeg)[0]!;
      throw new BendscopeError('E-PLAN-11', `how-much: expected a plan that bends at most ${targetDeg} deg as measured, got ${formatDegrees(nearest.angleDeg)} at best in ${found.steps.length} measurements`, 'Joint angles of these plans are far from additive; ask for more, or allocate and verify by hand. No plan was written.');
    }
    conclusion(found, targetDeg, asked).forEach(say);
    batchLines(batches, asked).forEach(say);
    const { recipe: main, facts } = factsOf(probes, best.formats, sites);
    const context = { graph: model.graph, modelSha256: model.sha256, recipe: main, options };
    const told = `bend at most ${targetDeg} deg as measured`;
    const plan: Plan = { name: told, notes: `${told} for the least ${costs.name}, ${found.steps.length} joint measurements`, formats: best.formats, locked: locked.locked };
    const hash = planHash(plan.formats, sites, context);
    await writeOutput(out, exportAllocation(plan, { ...facts, joint: { [hash]: measured.get(best.step.index)! } }, context));
    say(`plan ${hash}: ${out}`);
  });
}

/** The search with every step said; `measured` by point of the frontier. */
async function searchAloud(line: ChoiceFrontier, formatsAt: (index: number) => Formats, targetDeg: number, { costs }: PlanQuestion, joints: Joints): Promise<{ readonly found: HowMuch; readonly measured: ReadonlyMap<number, JointResult> }> {
  const measured = new Map<number, JointResult>();
  const found = await search(line, targetDeg, async (index) => {
    const { cost, angleDeg } = line.points[index]!;
    const what = `${measured.size + 1}/${MOST_MEASUREMENTS} ${costs.name} ${significant(costs.figureOf(cost), 4)}: predicted ${formatDegrees(angleDeg)}`;
    const joint = await joints.measure(formatsAt(index));
    measured.set(index, joint);
    const { result } = joint;
    if (result.status === 'failed') throw new BendscopeError(result.errorName, `how-much: ${what}: ${result.reason}`, 'A plan on the way has no finite gradient; lock what breaks it to BF16.');
    say(`${what}, measured ${spelled(result)}, ${result.angleDeg <= targetDeg ? 'meets' : 'misses'} the target`);
    return result;
  });
  return { found, measured };
}

const spelled = ({ angleDeg, angleSeDeg }: { readonly angleDeg: number; readonly angleSeDeg: number | null }): string => `${formatDegrees(angleDeg)}${angleSeDeg === null ? '' : ` +- ${significant(angleSeDeg, 2)}`}`;

function conclusion({ best, steps, isSettled, costRange }: HowMuch, targetDeg: number, { costs }: PlanQuestion): string[] {
  if (best === null) return [];
  const figure = (cost: number): string => significant(costs.figureOf(cost), 4);
  return [
    `${costs.name} ${figure(best.cost)} is enough for ${targetDeg} deg: measured ${spelled(best)} after ${steps.length} of ${MOST_MEASUREMENTS} measurements${isSettled ? '' : '; cheaper plans were not ruled out'}`,
    costRange === null ? 'one batch tells no cost range' : `by the standard error over batches: ${figure(costRange[0])} to ${figure(costRange[1])}`,
  ];
}

function batchLines(rows: readonly BatchesRow[], { costs }: PlanQuestion): string[] {
  if (rows.length === 0) return ['by number of batches: the probes hold no single batches'];
  const spread = ({ median, least, most }: Spread, spell: (x: number) => string): string => `${spell(median)} (${spell(least)} to ${spell(most)})`;
  const degrees = (x: number): string => significant(x);
  return [
    'by number of calibration batches: cost of the plan; predicted by all; cells that differ; the measured angle from that many',
    ...rows.map(({ batches, cost, predictedDeg, cellsChanged, jointDeg }) => [
      `  ${batches}`, spread(cost, (x) => significant(costs.figureOf(x), 4)), predictedDeg === null ? 'not predicted' : `${spread(predictedDeg, degrees)} deg`,
      spread(cellsChanged, (x) => String(x)), jointDeg === null ? 'not measured' : `${spread(jointDeg, degrees)} deg`,
    ].join('   ')),
  ];
}

interface Reported {
  readonly found: HowMuch;
  readonly measured: ReadonlyMap<number, JointResult>;
  readonly batches: readonly BatchesRow[];
  readonly targetDeg: number;
  readonly asked: PlanQuestion;
  readonly joints: Joints;
  readonly recipe: string;
  readonly options: object;
}

/** Costs in the figure people read; without wall times, so that equal searches are equal files. */
function reportOf({ found: { steps, best, isSettled, costRange }, measured, batches, targetDeg, asked: { costs }, joints, recipe, options }: Reported): object {
  const perBatchDeg = (result: SiteResult | undefined): number[] => (result?.status === 'measured' ? result.perBatch.map(({ angleDeg }) => angleDeg) : []);
  const stepRow = ({ aimedDeg, cost, predictedDeg, angleDeg, angleSeDeg, meets, index }: HowMuchStep): object => {
    const joint = measured.get(index);
    return { aimedDeg, cost: costs.figureOf(cost), predictedDeg, measuredDeg: angleDeg, measuredSeDeg: angleSeDeg, perBatchDeg: perBatchDeg(joint?.result), meets, plan: joint?.planHash, lowSites: joint?.lowSites };
  };
  const figures = ({ median, least, most }: Spread): Spread => ({ median: costs.figureOf(median), least: costs.figureOf(least), most: costs.figureOf(most) });
  return {
    schema: HOW_MUCH_SCHEMA, recipe, options, targetDeg, cost: { kind: costs.kind, name: costs.name, rounding: costs.rounding },
    steps: steps.map(stepRow), best: best === null ? null : steps.indexOf(best), isSettled, costRange: costRange?.map((cost) => costs.figureOf(cost)) ?? null,
    batches: batches.map((row) => ({ ...row, cost: figures(row.cost) })), ...joints.reference, provenance: joints.provenance,
  };
}
