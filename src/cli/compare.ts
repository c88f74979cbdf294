/**
 * `compare`: our plan against every rival method at every budget, all of them measured (method.md 7). A plan that several
 * methods come to is measured once; every joint is journaled at once, so that the same command continues a stopped one to
 * the same bytes.
 */
import { baselinesFor, type BaselineInputs } from '../allocate/baselines';
import type { Formats } from '../allocate/cost';
import { joinedEvidence } from '../allocate/offers';
import { formatDuration, significant } from '../base/units';
import type { JointResult } from '../graph/probe-record';
import { COST_DETAILS, COST_FLAGS, PROBE_FLAG } from './allocate-inputs';
import { askProbes } from './allocate-question';
import type { CommandSpec, Flags } from './command-line';
import { readCompare, type CompareInputs } from './compare-inputs';
import { comparedPlans, type Compared, type CompareQuestion, type Row } from './compare-plans';
import { COMPARE_SCHEMA, compareCsv, compareReport } from './compare-report';
import { tableLines } from './compare-table';
import { ADAPTER_FLAG, type Devices } from './devices';
import { JOURNAL_FLAG, noteOrigins, spelledAngle, withJoints, type Joints } from './joints';
import { writeOutput } from './local-files';
import { say } from './say';

export const COMPARE: CommandSpec = {
  name: 'compare',
  summary: 'our plan and every rival method\'s at several budgets, each measured as a whole; continues where it was stopped',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'the model that was probed' },
    { name: 'tokens', value: 'T.json', required: true, help: 'batches as in probe --help; those of the probes, for predictions that should hold' },
    PROBE_FLAG,
    { name: 'budgets', value: 'LIST', required: true, help: 'spend at most this, in the figure of --cost, several by commas: 0.05,0.1,0.2' },
    ...COST_FLAGS,
    { name: 'methods', value: 'LIST', help: 'rivals by id, several by commas; default all of the recipe. Ours is always there' },
    { name: 'plans', value: 'plan.json', repeatable: true, help: 'also a plan of yours, as one that costs what it costs' },
    { name: 'out', value: 'C.json', required: true, help: `the result, ${COMPARE_SCHEMA} as below` },
    { name: 'csv', value: 'C.csv', help: 'the same as a table: a row a method and budget' },
    { ...JOURNAL_FLAG, help: `${JOURNAL_FLAG.help}; default: C.json.journal, until C.json is written` },
    ADAPTER_FLAG,
  ],
  details: [
    ...COST_DETAILS,
    'Rivals are those of the recipe of the first probe; those that score sites may also take the format of the second. Rivals',
    'without a budget stand at what they cost, and ours stands there too.',
    `${COMPARE_SCHEMA}: methods (id, name, sentence, kind, scoreName); levels: by budget, rows (method, plan, reason, score),`,
    'lowest (methods of least measured angle among plans that cost no more), ours (rival, excessDeg, excessSeDeg: ours minus the',
    'least of the others, and the standard error of that over batches); fixed: rows without a budget; plans by hash: formats of',
    'low sites, predictedDeg, measuredDeg, measuredSeDeg, perBatchDeg, gapDeg, relativeGap, cost, effectiveBits, lossChange,',
    'failure, scores (by method), notProbed (formats that no probe covers: outside the ranking); gaps: median and largest',
    '|relativeGap|; probes, floor, referenceLoss, provenance. A figure that does not exist is null, with a reason beside it.',
  ],
};

/** Throws before it measures for anything that is wrong with the input; E-RUN-03 when interrupted, E-GPU-02 for a lost device. */
export async function compare(flags: Flags, devices: Devices): Promise<void> {
  const started = performance.now();
  const inputs = await readCompare(flags);
  const { out, csv, model, probes, recipe, tokens } = inputs;
  const { low, options, provenance: origin } = probes;
  const question = questionOf(inputs);
  const { asked, inputs: evidence } = question;
  const compared = comparedPlans(question);
  await withJoints({ ...inputs, options }, flags, devices, async (joints) => {
    say(`${model.name}, ${recipe}: ${compared.methods.length} methods, ${inputs.budgets.length} budgets, ${tokens.batches.length} x ${tokens.sequences} x ${tokens.tokens} tokens`);
    noteOrigins('predictions', origin, joints.provenance);
    const found = await measureAll(compared, joints);
    const scored = baselinesFor(recipe).filter(({ scoreName }) => scoreName !== null);
    const report = compareReport({
      about: {
        recipe, options, provenance: joints.provenance,
        probes: low.map(({ format }) => ({ recipe: format, device: origin.device, dataName: origin.dataName, tokensSha256: origin.tokensSha256 })),
      },
      reference: joints.reference, sites: asked.sites, evidence: evidence.evidence, probed: low.map(({ format }) => format), costs: asked.costs, compared, joints: found,
      hashOf: joints.hashOf,
      scoresOf: (formats) => Object.fromEntries(scored.map((method) => [method.id, method.score(evidence, formats)])),
    });
    tableLines(report).forEach(say);
    await writeOutput(out, `${JSON.stringify(report, null, 1)}\n`);
    if (csv !== null) await writeOutput(csv, compareCsv(report));
    say(`${found.size} plans, ${formatDuration(performance.now() - started)}: ${out}`);
  });
}

function questionOf({ model: { graph }, probes, recipe, scores, cost, budgets, methods, given, priced }: CompareInputs): CompareQuestion {
  const { asked } = askProbes(graph, probes, cost, {}, priced);
  const { low } = probes;
  const main = low.find(({ format }) => format === recipe) ?? low[0]!;
  const others = low.filter(({ format }) => format !== main.format);
  const inputs: BaselineInputs = { graph, recipe, sites: asked.sites, evidence: joinedEvidence([main, ...others]), scores, costs: asked.costs, groups: asked.groups, second: others[0]?.format ?? null };
  return { asked, inputs, budgets, methods, given };
}

/** Every different plan once: ours first, then rivals without a budget, then the others, so that what matters most is there first. */
async function measureAll({ fixed, levels }: Compared, joints: Joints): Promise<Map<string, { readonly formats: Formats; readonly joint: JointResult }>> {
  const asked = levels.filter(({ isAsked }) => isAsked);
  const wanted: { row: Row; at: string }[] = [
    ...asked.flatMap(({ budget, rows }) => rows.slice(0, 1).map((row) => ({ row, at: ` at ${budget}` }))),
    ...fixed.map((row) => ({ row, at: '' })),
    ...levels.filter(({ isAsked }) => !isAsked).flatMap(({ budget, rows }) => rows.map((row) => ({ row, at: ` at ${significant(budget, 4)}` }))),
    ...asked.flatMap(({ budget, rows }) => rows.slice(1).map((row) => ({ row, at: ` at ${budget}` }))),
  ];
  const plans = new Map<string, { formats: Formats; told: string }>();
  for (const { row: { method, formats }, at } of wanted) {
    if (formats === null) continue;
    const hash = joints.hashOf(formats);
    if (!plans.has(hash)) plans.set(hash, { formats, told: `${method.name}${at}` });
  }
  const found = new Map<string, { readonly formats: Formats; readonly joint: JointResult }>();
  let [measured, elapsedMs] = [0, 0];
  for (const [hash, { formats, told }] of plans) {
    const [isStored, started] = [await joints.isStored(formats), performance.now()];
    const joint = await joints.measure(formats);
    found.set(hash, { formats, joint });
    if (isStored) continue;
    measured += 1;
    elapsedMs += performance.now() - started;
    const left = plans.size - found.size;
    say(`${found.size}/${plans.size} ${told}: ${joint.result.status === 'measured' ? spelledAngle(joint.result) : `failed: ${joint.result.reason}`}${left > 0 ? `, ${formatDuration((elapsedMs / measured) * left)} left` : ''}`);
  }
  return found;
}
