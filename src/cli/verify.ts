/**
 * `verify`: a plan run as a whole on the device, beside what its file predicts (method.md 5): predicted, measured, gap. The
 * measured angle is raw and the prediction carries the noise floor, so the two are of one kind.
 */
import { basename } from 'node:path';
import { devDependencies } from '../../package.json';
import { costedSites, planTotals } from '../allocate/cost';
import { planPolicy } from '../allocate/plan';
import { BendscopeError } from '../base/errors';
import { formatDegrees, formatPercent, significant } from '../base/units';
import { APP_VERSION } from '../base/version';
import { Session } from '../engine/session';
import { probeRun } from '../graph/ledger';
import { OUT_SCHEME } from '../graph/policy';
import type { Measured } from '../graph/probe-record';
import { lowSites } from '../probe/low-sites';
import { Probe } from '../probe/probe';
import { sessionUse } from '../probe/session-use';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
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
    { name: 'out', value: 'V.json', help: 'the figures in full: predictedDeg, measured, gapDeg, relativeGap, floor, referenceLoss, where they come from' },
    ADAPTER_FLAG,
  ],
  details: [
    'Predicted: atan(sqrt(floor^2 + sum of clean tan^2 of the low sites)), from the angles in the plan; null where one is',
    'missing. Measured: the whole plan low at once, over all batches. gapDeg = measured - predicted; relativeGap = over predicted.',
  ],
};

const VERIFY_SCHEMA = 'bendscope-verify/1';

/** Throws before it measures for anything that is wrong with the input; E-RUN-02 when the plan has no finite gradient. */
export async function verify(flags: Flags, devices: Devices): Promise<void> {
  const [out, tokensPath, planPath] = [flags.optional('out'), flags.text('tokens'), flags.text('plan')];
  const model = await openFolder(flags.text('model'));
  if (out !== undefined) await checkOutput(out, [...model.files, tokensPath, planPath]);
  model.warnings.forEach(sayError);
  const { graph } = model;
  const { plan, recipe, options, planHash, facts } = await readPlan(planPath, model);
  const tokens = await readTokens(tokensPath, graph);
  const sites = costedSites(graph, recipe);
  const { predictedDeg, unpredicted } = planTotals(sites, plan.formats, facts, options);
  const policy = planPolicy(plan.formats, sites, options);
  const gpu = await devices.get(flags);
  const measuring = { recipe, options, persistent: false, ...(recipe === OUT_SCHEME ? { outs: options } : {}) };
  const run = probeRun(graph, tokens, tokens.batches.length, measuring);
  const session = await Session.create(gpu, graph, model.params, tokens, sessionUse(run));
  try {
    const low = lowSites(policy).length;
    say(`${model.name}, ${plan.name}: ${low} of ${sites.length} sites low, ${tokens.batches.length} x ${tokens.sequences} x ${tokens.tokens} tokens`);
    const { provenance } = facts;
    if (provenance !== null && provenance.tokensSha256 !== tokens.sha256) say(`note: the plan's angles are of other data, ${provenance.dataName}`);
    if (provenance !== null && provenance.device !== gpu.adapterName) say(`note: the plan's angles are of another device, ${provenance.device}`);
    const probe = new Probe(session, tokens.batches, run);
    const referenceLoss = await probe.referenceLosses();
    const floor = await probe.measureFloor();
    const result = await probe.measureJoint(policy);
    if (result.status === 'failed') throw new BendscopeError(result.errorName, `${planPath}: ${result.reason}`, 'This plan cannot be trained as it is; keep more of it in BF16.');
    const gap = gapOf(result, predictedDeg);
    say(`predicted ${predictedDeg === null ? `not: ${unpredicted.length} low sites have no angle` : formatDegrees(predictedDeg)}`);
    say(`measured ${formatDegrees(result.angleDeg)}${result.angleSeDeg === null ? '' : ` +- ${formatDegrees(result.angleSeDeg)} over batches`}${result.belowNoise ? ' (below noise)' : ''}`);
    if (gap.gapDeg !== null) say(`gap ${gap.gapDeg < 0 ? '-' : '+'}${significant(Math.abs(gap.gapDeg))} deg${gap.relativeGap === null ? '' : ` (${formatPercent(gap.relativeGap)})`}`);
    if (out === undefined) return;
    const found = {
      schema: VERIFY_SCHEMA, plan: { name: plan.name, hash: planHash, lowSites: low, sites: sites.length }, recipe, options, predictedDeg, ...gap, measured: result, floor, referenceLoss,
      provenance: {
        appVersion: APP_VERSION, device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, browser: 'Dawn for Node',
        modelSha256: model.sha256, configSha256: model.configSha256, tokensSha256: tokens.sha256, modelName: model.name, dataName: basename(tokensPath),
        batches: tokens.batches.length, sequences: tokens.sequences, tokens: tokens.tokens,
        versions: { bendscope: APP_VERSION, dawn: devDependencies.webgpu, node: process.versions.node },
      },
    };
    // Without wall times two equal runs are equal files.
    await writeOutput(out, `${JSON.stringify(found, (key, value: unknown) => (key === ('elapsedMs' satisfies keyof Measured) ? undefined : value), 1)}\n`);
    say(`${out} written`);
  } finally {
    session.dispose();
  }
}

/** null where there is no prediction, or none to divide by. */
function gapOf({ angleDeg }: Measured, predictedDeg: number | null): { readonly gapDeg: number | null; readonly relativeGap: number | null } {
  if (predictedDeg === null) return { gapDeg: null, relativeGap: null };
  const gapDeg = angleDeg - predictedDeg;
  return { gapDeg, relativeGap: predictedDeg === 0 ? null : gapDeg / predictedDeg };
}
