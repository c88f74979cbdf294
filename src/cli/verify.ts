/**
 * `verify`: a plan run as a whole on the device, beside what its file predicts (method.md 5): predicted, measured, gap. The
 * measured angle is raw and the prediction carries the noise floor, so the two are of one kind.
 */
import { exportAllocation } from '../allocate/allocation-file';
import { planTotals } from '../allocate/cost';
import { BendscopeError } from '../base/errors';
import { formatDegrees } from '../base/units';
import type { Measured } from '../graph/probe-record';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
import { gapOf, JOURNAL_FLAG, noteOrigins, spelledAngle, spelledGap, withJoints } from './joints';
import { checkOutput, writeOutput } from './local-files';
import { openFolder } from './open-folder';
import { readPlan } from './plan-file';
import { say, sayError } from './say';
import { readTokens } from './token-file';

export const VERIFY: CommandSpec = {
  name: 'verify',
  summary: 'the joint angle of a plan, measured, beside the predicted one',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'Hugging Face GPT-2 folder: config.json, model.safetensors; the model of the plan' },
    { name: 'tokens', value: 'T.json', required: true, help: 'batches as in probe --help; those of the probe, for a prediction that should hold' },
    { name: 'plan', value: 'plan.json', required: true, help: 'allocation.json, as allocate or the page writes it' },
    { name: 'write', value: null, help: 'also put the measured angle into plan.json, as totals.measuredDeg; nothing else in it changes' },
    { name: 'out', value: 'V.json', help: 'the figures in full: predictedDeg, measured, gapDeg, relativeGap, floor, referenceLoss, where they come from' },
    JOURNAL_FLAG,
    ADAPTER_FLAG,
  ],
  details: [
    'Predicted: atan(sqrt(floor^2 + sum of clean tan^2 of the low sites)), from the angles in the plan; null where one is',
    'missing. Measured: the whole plan low at once, over all batches. gapDeg = measured - predicted; relativeGap = over predicted.',
    'Without --write plan.json stays as it is. A file without plan.hash, as one edited by hand, gets it with the angle.',
  ],
};

const VERIFY_SCHEMA = 'bendscope-verify/1';

/**
 * Throws before it measures for anything that is wrong with the input; E-RUN-02 when the plan has no finite gradient, E-PLAN-10
 * for --write on other data or another device than the plan's angles are of.
 */
export async function verify(flags: Flags, devices: Devices): Promise<void> {
  const [out, tokensPath, planPath, journal] = [flags.optional('out'), flags.text('tokens'), flags.text('plan'), flags.optional('journal')];
  const isWritten = flags.given('write');
  const model = await openFolder(flags.text('model'));
  const inputs = [...model.files, tokensPath, planPath];
  if (out !== undefined) await checkOutput(out, [...inputs, ...(journal === undefined ? [] : [journal])]);
  if (journal !== undefined) await checkOutput(journal, inputs);
  if (isWritten) await checkOutput(planPath, []);
  model.warnings.forEach(sayError);
  const { plan, recipe, options, planHash, facts } = await readPlan(planPath, model);
  const tokens = await readTokens(tokensPath, model.graph);
  const { provenance: origin } = facts;
  if (isWritten && origin !== null && origin.tokensSha256 !== tokens.sha256) throw otherOrigin(planPath, `--tokens of the data that its angles are of, ${origin.dataName}`, tokensPath);

  const asked = { model, tokensPath, tokens, recipe, options, journal: journal === undefined ? null : { path: journal, kept: true } };
  await withJoints(asked, flags, devices, async ({ sites, reference, provenance, measure }) => {
    const { predictedDeg, unpredicted, siteCount } = planTotals(sites, plan.formats, facts, options);
    const lowSites = sites.length - siteCount.bf16;
    say(`${model.name}, ${plan.name}: ${lowSites} of ${sites.length} sites low, ${tokens.batches.length} x ${tokens.sequences} x ${tokens.tokens} tokens`);
    if (origin !== null) noteOrigins("the plan's angles", origin, provenance);
    if (isWritten && origin !== null && origin.device !== provenance.device) throw otherOrigin(planPath, `a device as its angles are of, ${origin.device}`, provenance.device);
    const { result } = await measure(plan.formats);
    if (result.status === 'failed') throw new BendscopeError(result.errorName, `${planPath}: ${result.reason}`, 'This plan cannot be trained as it is; keep more of it in BF16.');
    const gap = gapOf(result, predictedDeg);
    say(`predicted ${predictedDeg === null ? `not: ${unpredicted.length} low sites have no angle` : formatDegrees(predictedDeg)}`);
    say(`measured ${spelledAngle(result)}${result.belowNoise ? ' (below noise)' : ''}`);
    if (gap.gapDeg !== null) say(spelledGap(gap));
    if (isWritten) {
      await writeOutput(planPath, exportAllocation(plan, { ...facts, joint: { [planHash]: { result } } }, { graph: model.graph, modelSha256: model.sha256, recipe, options }));
      say(`${planPath} now holds the measured angle`);
    }
    if (out === undefined) return;
    const found = { schema: VERIFY_SCHEMA, plan: { name: plan.name, hash: planHash, lowSites, sites: sites.length }, recipe, options, predictedDeg, ...gap, measured: result, ...reference, provenance };
    // Without wall times two equal runs are equal files.
    await writeOutput(out, `${JSON.stringify(found, (key, value: unknown) => (key === ('elapsedMs' satisfies keyof Measured) ? undefined : value), 1)}\n`);
    say(`${out} written`);
  });
}

function otherOrigin(path: string, expected: string, got: string): BendscopeError {
  return new BendscopeError('E-PLAN-10', `${path}: expected ${expected}, got ${got}`, 'Leave --write out: a file names one data set and device for all of its angles.');
}
