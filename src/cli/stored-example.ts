/**
 * Makes the probes of gpt2-mini that the page draws at once, measured by this engine on the page's default data
 * (Moby-Dick, 4 batches of 4 x 128 tokens, seed 1), with the joint angles of the presets: public/stored-probe.json for
 * nvfp4, public/stored-probe-NAME.json for other recipes and presets of one. Run by `npm run stored-example -- NAME`;
 * resumable, because a software adapter needs some minutes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { costedSites } from '../allocate/cost';
import { planPolicy, policyHash, presetPlan, presets } from '../allocate/plan';
import { canonicalJson } from '../base/canonical-json';
import { APP_VERSION } from '../base/version';
import { hashTokens, modelHash, sha256 } from '../data/hash';
import { gpt2Config } from '../data/hf-config';
import { openSafetensors } from '../data/safetensors';
import { BUILT_IN_TEXTS } from '../data/text';
import { parseTokenizer } from '../data/tokenizer';
import { readWeights } from '../data/weights';
import { drawWindows } from '../data/windows';
import { engineFingerprint } from '../engine/fingerprint';
import { Session } from '../engine/session';
import { openNodeDevice } from '../gpu/node-device';
import { coarseOrder } from '../graph/coarse-order';
import { probeRun } from '../graph/ledger';
import { PROBE_SCHEMA, type ProbeRecord, type SiteResult } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { lowSites } from '../probe/low-sites';
import { Probe } from '../probe/probe';
import { sessionUse } from '../probe/session-use';
import { runKey } from '../worker/run-store';
import { StoredProbe } from '../worker/stored-probe';
import { openFileRunStore } from './file-run-store';
import { readRecipe } from './policy-file';
import { say } from './say';

const MODEL = 'gpt2-mini';
const SPEC = { batches: 4, sequences: 4, tokens: 128, seed: 1 };

const spelled = (result: SiteResult): string => (result.status === 'measured' ? `${result.angleDeg.toFixed(3)} deg` : result.reason);

/** name: a recipe, or a preset of one. Throws E-PLAN-03 for another word. */
export async function makeStoredExample(name: string, journal: string): Promise<void> {
  const { recipe, options } = readRecipe(name, undefined);
  const folder = `public/models/${MODEL}`;
  const weights = new Uint8Array(readFileSync(`${folder}/model.safetensors`));
  const config = gpt2Config(readFileSync(`${folder}/config.json`, 'utf8'), MODEL);
  const graph = gpt2Graph(config);
  const params = readWeights(graph.params, openSafetensors(weights, 'model.safetensors'));
  const tokenizer = parseTokenizer(readFileSync(`${folder}/tokenizer.json`, 'utf8'));
  const batches = drawWindows(tokenizer.encode(readFileSync(`public/${BUILT_IN_TEXTS['moby-dick'].path}`, 'utf8')), SPEC);
  const identity = { modelSha256: modelHash(await sha256(weights), { ...config }), tokensSha256: await hashTokens(batches) };
  const gpu = await openNodeDevice();
  const run = probeRun(graph, SPEC, SPEC.batches, { recipe, options, persistent: false });
  const session = await Session.create(gpu, graph, params, SPEC, sessionUse(run));
  try {
    const key = runKey({ ...identity, recipe, options, device: gpu.adapterName, appVersion: engineFingerprint() });
    const probe = new StoredProbe(new Probe(session, batches, run), await openFileRunStore(journal), key, recipe, options);
    const { referenceLoss, floor } = await probe.reference();
    await probe.measureSites(coarseOrder(graph, recipe), { persistent: false }, { onSite: (site, result, done, total) => say(`${done}/${total} ${site} ${spelled(result)}`) });
    const sites = costedSites(graph, recipe);
    for (const preset of presets(recipe)) {
      const policy = planPolicy(presetPlan(preset, sites, recipe).formats, sites, options);
      if (lowSites(policy).length === 0) continue;
      const joint = await probe.measureJoint(policy, policyHash(policy, { modelSha256: identity.modelSha256, recipe }));
      say(`joint ${preset.name}: ${spelled(joint.result)}`);
    }
    const found = await probe.found();
    const record: ProbeRecord = {
      schema: PROBE_SCHEMA, recipe, options,
      provenance: {
        appVersion: APP_VERSION, device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, browser: 'Dawn for Node',
        ...identity, modelName: MODEL, dataName: BUILT_IN_TEXTS['moby-dick'].title, ...SPEC, startedAt: new Date().toISOString(),
      },
      referenceLoss, floor, sites: found.sites, joint: found.joint,
    };
    writeFileSync(name === 'nvfp4' ? 'public/stored-probe.json' : `public/stored-probe-${name}.json`, `${canonicalJson(record)}\n`);
  } finally {
    session.dispose();
    gpu.device.destroy();
  }
}
