/**
 * `probe`: noise floor, isolated angles of the chosen sites, joint angles of given policies, to one JSON file. Every
 * finished cell goes to a journal beside the file at once; the same command continues from it, and the file of a run that
 * was stopped is byte for byte that of one that was not.
 */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { devDependencies } from '../../package.json';
import { passSites, predict } from '../allocate/cost';
import { policyHash } from '../allocate/plan';
import { BendscopeError } from '../base/errors';
import { formatBytes, formatDegrees, formatDuration } from '../base/units';
import { APP_VERSION } from '../base/version';
import { shaderHash } from '../gpu/shaders';
import { residentBatches } from '../engine/memory';
import { Session } from '../engine/session';
import { PASS_SCHEMES, type Policy } from '../graph/policy';
import type { SiteResult } from '../graph/probe-record';
import { isPassScheme } from '../graph/validate';
import { Probe } from '../probe/probe';
import { RunControl } from '../worker/run-control';
import { runKey } from '../worker/run-store';
import { chooseSites } from './choose-sites';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
import { openFileRunStore } from './file-run-store';
import { checkOutput, writeOutput } from './local-files';
import { openFolder } from './open-folder';
import { parseOptions, readPolicy } from './policy-file';
import { probeReport, type JointFound } from './probe-report';
import { say, sayError } from './say';
import { readTokens } from './token-file';

export const PROBE: CommandSpec = {
  name: 'probe',
  summary: 'how far each GEMM pass turns the gradient, site by site, to a JSON file; continues where it was stopped',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'Hugging Face GPT-2 folder: config.json, model.safetensors (F32, F16, BF16)' },
    { name: 'tokens', value: 'T.json', required: true, help: '{"tokens": [[T+1 ids], ...]}, or {"batches": [[[T+1 ids], ...], ...]} of one shape' },
    { name: 'recipe', value: 'nvfp4', required: true, help: 'the low format of a site under test' },
    { name: 'sites', value: 'GLOB', help: 'site ids with * and ?, several by commas, as h.0.*:fprop; default * (every pass of the block linears)' },
    { name: 'options', value: 'JSON', help: '{"weights1d": true}: 1x16 weight blocks instead of 16x16' },
    { name: 'joint', value: 'P.json', repeatable: true, help: 'also measure this whole policy (as in gradient --help)' },
    { name: 'out', value: 'R.json', required: true, help: 'the result; R.json.journal holds finished cells until it is written' },
    ADAPTER_FLAG,
  ],
  details: [
    'Every site: angleDeg (raw, over batches), cleanAngleDeg (noise floor taken out), angleSeDeg, belowNoise, relativeShift,',
    'lengthRatio, rotationShare, lossChange, localError, blockAngleDeg (by parameter), layerAngleDeg, perBatch; or status',
    '"failed" with a reason. Two runs on one device give identical bytes.',
  ],
};

const PHASE_EVERY_MS = 1000;

/** Throws before it measures for anything that is wrong with the input; E-RUN-03 when interrupted, E-GPU-02 for a lost device. */
export async function probe(flags: Flags, devices: Devices): Promise<void> {
  const started = performance.now();
  const [out, tokensPath, recipe] = [flags.text('out'), flags.text('tokens'), flags.text('recipe')];
  if (!isPassScheme(recipe)) throw new BendscopeError('E-PLAN-03', `--recipe: expected ${PASS_SCHEMES.join(', ')}, got "${recipe}"`, 'This build measures no other recipe.');
  const options = parseOptions(flags.optional('options'));
  const model = await openFolder(flags.text('model'));
  const { graph } = model;
  await checkOutput(out, [...model.files, tokensPath, ...flags.all('joint')]);
  model.warnings.forEach(sayError);
  const tokens = await readTokens(tokensPath, graph);
  const chosen = chooseSites(graph, flags.optional('sites') ?? '*');
  const policies = new Map<string, Policy>();
  for (const path of flags.all('joint')) {
    const policy = await readPolicy(path, graph);
    if (policy.reference !== 'bf16') throw new BendscopeError('E-PLAN-04', `${path}: expected reference "bf16", got "${policy.reference}"`, 'A probe measures against the BF16 gradient.');
    policies.set(policyHash(policy, { modelSha256: model.sha256, recipe }), policy);
  }

  const gpu = await devices.get(flags);
  const key = runKey({ modelSha256: model.sha256, tokensSha256: tokens.sha256, recipe, options, device: gpu.adapterName, appVersion: `${APP_VERSION}+${shaderHash()}` });
  const journal = `${out}.journal`;
  const store = await openFileRunStore(journal);
  const before = await store.load(key);
  const batches = tokens.batches.length;
  const places = residentBatches(graph, tokens, batches);
  const control = new RunControl();
  const interrupt = (): void => control.cancel();
  const session = await Session.create(gpu, graph, model.params, tokens, 'bf16', places);
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    say(`${model.name}, ${batches} x ${tokens.sequences} x ${tokens.tokens} tokens, ${chosen.length} sites, ${formatBytes(session.memory.totalBytes)} on the device`);
    const missing = chosen.filter((site) => !before.sites[site]);
    if (missing.length < chosen.length) say(`continuing: ${chosen.length - missing.length} of ${chosen.length} sites are in ${journal}`);
    const measuring = new Probe(session, tokens.batches, places, control.checkpoint);
    let spoken = -Infinity;
    const onPhase = (text: string): void => {
      if (performance.now() - spoken < PHASE_EVERY_MS) return;
      spoken = performance.now();
      say(text);
    };
    const referenceLoss = before.reference?.referenceLoss ?? (await measuring.referenceLosses({ onPhase }));
    const floor = await measuring.measureFloor({ onPhase }, before.reference?.floor ?? null);
    if (!before.reference) await store.putReference(key, { floor, referenceLoss });
    say(`noise floor: forward ${formatDegrees(floor.forwardDeg)}, backward ${formatDegrees(floor.backwardDeg)}`);

    let done = chosen.length - missing.length;
    const first = performance.now();
    await measuring.measureSites(missing, recipe, options, {
      onSite: async (site, result) => {
        await store.putSite(key, site, result);
        done += 1;
        const left = ((performance.now() - first) / (done + missing.length - chosen.length)) * (chosen.length - done);
        say(`${done}/${chosen.length} ${site} ${spelled(result)}${done < chosen.length ? `, ${formatDuration(left)} left` : ''}`);
      },
    });
    for (const [planHash, policy] of policies) {
      if (before.joint[planHash]) continue;
      const lowSites = Object.keys(policy.passes).length;
      const result = await measuring.measureJoint(policy);
      await store.putJoint(key, { planHash, lowSites, result });
      say(`joint of ${lowSites} sites: ${spelled(result)}`);
    }

    const found = await store.load(key);
    const joints = [...policies].flatMap(([planHash, policy]): JointFound[] => {
      const joint = found.joint[planHash];
      const comparable = (policy.options.weights1d ?? false) === (options.weights1d ?? false);
      const measured = Object.fromEntries(chosen.flatMap((site) => (found.sites[site] ? [[site, found.sites[site]] as const] : [])));
      const predictedDeg = comparable ? predict(passSites(graph), policy.passes, { sites: measured, floor }).predictedDeg : null;
      return joint ? [{ policy, joint, predictedDeg }] : [];
    });
    const text = probeReport(graph, {
      recipe, options, referenceLoss, floor,
      provenance: {
        appVersion: APP_VERSION, device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, browser: 'Dawn for Node',
        modelSha256: model.sha256, configSha256: model.configSha256, tokensSha256: tokens.sha256, modelName: model.name, dataName: basename(tokensPath),
        seed: 0, batches, sequences: tokens.sequences, tokens: tokens.tokens,
        versions: { bendscope: APP_VERSION, dawn: devDependencies.webgpu, node: process.versions.node },
      },
    }, Object.fromEntries(chosen.flatMap((site) => (found.sites[site] ? [[site, found.sites[site]] as const] : []))), joints);
    await writeOutput(out, text);
    // Another run's cells may share the journal.
    await store.delete(key);
    if ((await store.list()).length === 0) await rm(journal, { force: true });
    say(`${chosen.length} sites${policies.size > 0 ? `, ${policies.size} joint` : ''}, ${formatDuration(performance.now() - started)}: ${out}`);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    session.dispose();
  }
}

function spelled(result: SiteResult): string {
  if (result.status === 'failed') return `failed: ${result.reason}`;
  return `${formatDegrees(result.angleDeg)} (clean ${formatDegrees(result.cleanAngleDeg)}${result.belowNoise ? ', below noise' : ''})`;
}
