/**
 * Makes public/stored-probe.json: the probe of gpt2-mini that the page draws at once, measured by this engine on the
 * page's default data (Moby-Dick, 4 batches of 4 x 128 tokens, seed 1), with the joint angles of the presets.
 * Run by `npm run stored-example`; resumable, because a software adapter needs some minutes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { passSites } from '../allocate/cost';
import { planPolicy, policyHash, PRESETS, presetPlan } from '../allocate/plan';
import { canonicalJson } from '../base/canonical-json';
import { APP_VERSION } from '../base/version';
import { hashTokens, modelHash, sha256 } from '../data/hash';
import { gpt2Config } from '../data/hf-config';
import { openSafetensors } from '../data/safetensors';
import { BUILT_IN_TEXTS } from '../data/text';
import { parseTokenizer } from '../data/tokenizer';
import { readWeights } from '../data/weights';
import { drawWindows } from '../data/windows';
import { Session } from '../engine/session';
import { openNodeDevice } from '../gpu/node-device';
import { shaderHash } from '../gpu/shaders';
import { coarseOrder } from '../graph/coarse-order';
import { PROBE_SCHEMA, type JointResult, type ProbeRecord } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { Probe } from '../probe/probe';
import { runKey } from '../worker/run-store';
import { openFileRunStore } from './file-run-store';

const SPEC = { batches: 4, sequences: 4, tokens: 128, seed: 1 };
const RECIPE = 'nvfp4';

export async function makeStoredExample(model: string, out: string, journal: string): Promise<void> {
  const folder = `public/models/${model}`;
  const weights = new Uint8Array(readFileSync(`${folder}/model.safetensors`));
  const config = gpt2Config(readFileSync(`${folder}/config.json`, 'utf8'), model);
  const graph = gpt2Graph(config);
  const params = readWeights(graph.params, openSafetensors(weights, 'model.safetensors'));
  const tokenizer = parseTokenizer(readFileSync(`${folder}/tokenizer.json`, 'utf8'));
  const text = readFileSync(`public/${BUILT_IN_TEXTS['moby-dick'].path}`, 'utf8');
  const batches = drawWindows(tokenizer.encode(text), SPEC);
  const gpu = await openNodeDevice();
  const identity = { modelSha256: modelHash(await sha256(weights), { ...config }), tokensSha256: await hashTokens(batches) };
  const key = runKey({ ...identity, recipe: RECIPE, options: {}, device: gpu.adapterName, appVersion: `${APP_VERSION}+${shaderHash()}` });
  const store = await openFileRunStore(journal);
  const session = await Session.create(gpu, graph, params, SPEC, 'bf16', SPEC.batches);
  try {
    const probe = new Probe(session, batches, SPEC.batches);
    const before = await store.load(key);
    const referenceLoss = before.reference?.referenceLoss ?? (await probe.referenceLosses());
    const floor = await probe.measureFloor({}, before.reference?.floor ?? null);
    await store.putReference(key, { floor, referenceLoss });
    const missing = coarseOrder(graph).filter((site) => !before.sites[site]);
    await probe.measureSites(missing, RECIPE, {}, {
      onSite: async (site, result) => {
        await store.putSite(key, site, result);
        process.stderr.write(`${site} ${result.status === 'measured' ? `${result.angleDeg.toFixed(3)} deg` : result.reason}\n`);
      },
    });
    const sites = passSites(graph);
    for (const preset of PRESETS) {
      const policy = planPolicy(presetPlan(preset, sites, RECIPE).formats, sites, {});
      const planHash = policyHash(policy, { modelSha256: identity.modelSha256, recipe: RECIPE });
      if (before.joint[planHash] || Object.keys(policy.passes).length === 0) continue;
      const joint: JointResult = { planHash, lowSites: Object.keys(policy.passes).length, result: await probe.measureJoint(policy) };
      await store.putJoint(key, joint);
      process.stderr.write(`joint ${preset.name}: ${joint.result.status === 'measured' ? `${joint.result.angleDeg.toFixed(3)} deg` : joint.result.reason}\n`);
    }
    const found = await store.load(key);
    const record: ProbeRecord = {
      schema: PROBE_SCHEMA,
      recipe: RECIPE,
      options: {},
      provenance: {
        appVersion: APP_VERSION, device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, browser: 'Dawn for Node',
        ...identity, modelName: model, dataName: BUILT_IN_TEXTS['moby-dick'].title, ...SPEC, startedAt: new Date().toISOString(),
      },
      referenceLoss,
      floor,
      sites: found.sites,
      joint: found.joint,
    };
    writeFileSync(out, `${canonicalJson(record)}\n`);
  } finally {
    session.dispose();
    gpu.device.destroy();
  }
}
