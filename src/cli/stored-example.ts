/**
 * Makes the probes of gpt2-mini that the page draws at once, measured by this engine on the page's default data
 * (Moby-Dick, 4 batches of 4 x 128 tokens, seed 1), with the joint angles of the presets: public/stored-probe.json for
 * nvfp4, public/stored-probe-NAME.json for other recipes and presets of one. Run by `npm run stored-example -- NAME`;
 * resumable, because a software adapter needs some minutes. With --extend, a file of the same model, text and device that
 * is there already keeps its floor, sites, joints and origin, and only what it lacks is measured: scores, say.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
import { PROBE_SCHEMA, type ProbeRecord, type Provenance, type SiteResult } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { lowSites } from '../probe/low-sites';
import { Probe } from '../probe/probe';
import { sessionUse } from '../probe/session-use';
import { runKey, type RunStore } from '../worker/run-store';
import { StoredProbe } from '../worker/stored-probe';
import { openFileRunStore } from './file-run-store';
import { readRecipe } from './policy-file';
import { say } from './say';

const MODEL = 'gpt2-mini';
const SPEC = { batches: 4, sequences: 4, tokens: 128, seed: 1 };

const spelled = (result: SiteResult): string => (result.status === 'measured' ? `${result.angleDeg.toFixed(3)} deg` : result.reason);

/** The record at this path if it answers the same question on the same device, else null. */
function recordToExtend(path: string, { recipe, options, provenance }: Pick<ProbeRecord, 'recipe' | 'options' | 'provenance'>): ProbeRecord | null {
  if (!existsSync(path)) return null;
  const before = JSON.parse(readFileSync(path, 'utf8')) as ProbeRecord;
  const question = (record: Pick<ProbeRecord, 'recipe' | 'options' | 'provenance'>): string => {
    const { modelSha256, tokensSha256, device } = record.provenance;
    return canonicalJson({ recipe: record.recipe, options: record.options, modelSha256, tokensSha256, device });
  };
  const isSame = question(before) === question({ recipe, options, provenance });
  say(isSame ? `extending ${path}` : `${path} is of another model, text, device or recipe: measured anew`);
  return isSame ? before : null;
}

/** What a record holds becomes what the store holds of this run, so that none of it is measured again. */
async function keepRecord(store: RunStore, key: string, { floor, referenceLoss, sites, scores = {}, joint }: ProbeRecord): Promise<void> {
  if (floor) await store.putReference(key, { floor, referenceLoss });
  for (const [site, result] of Object.entries(sites)) await store.putSite(key, site, result);
  for (const [site, found] of Object.entries(scores)) await store.putScores(key, site, found);
  for (const found of Object.values(joint)) await store.putJoint(key, found);
}

/** name: a recipe, or a preset of one; extend: keep what the file holds. Throws E-PLAN-03 for another word. */
export async function makeStoredExample(name: string, journal: string, extend: boolean): Promise<void> {
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
    const store = await openFileRunStore(journal);
    const provenance: Provenance = {
      appVersion: APP_VERSION, device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, browser: 'Dawn for Node',
      ...identity, modelName: MODEL, dataName: BUILT_IN_TEXTS['moby-dick'].title, ...SPEC, startedAt: new Date().toISOString(),
    };
    const path = name === 'nvfp4' ? 'public/stored-probe.json' : `public/stored-probe-${name}.json`;
    const before = extend ? recordToExtend(path, { recipe, options, provenance }) : null;
    if (before) await keepRecord(store, key, before);
    const probe = new StoredProbe(new Probe(session, batches, run), store, key, recipe, options);
    const { referenceLoss, floor } = await probe.reference();
    await probe.measureSites(coarseOrder(graph, recipe), { persistent: false }, {
      onPhase: say,
      onSite: (site, result, done, total) => say(`${done}/${total} ${site} ${spelled(result)}`),
    });
    const sites = costedSites(graph, recipe);
    for (const preset of presets(recipe)) {
      const policy = planPolicy(presetPlan(preset, sites, recipe).formats, sites, options);
      if (lowSites(policy).length === 0) continue;
      const joint = await probe.measureJoint(policy, policyHash(policy, { modelSha256: identity.modelSha256, recipe }));
      say(`joint ${preset.name}: ${spelled(joint.result)}`);
    }
    const found = await probe.found();
    const record: ProbeRecord = {
      schema: PROBE_SCHEMA, recipe, options, provenance: before?.provenance ?? provenance,
      referenceLoss, floor, sites: found.sites, joint: found.joint, scores: found.scores,
    };
    writeFileSync(path, `${canonicalJson(record)}\n`);
  } finally {
    session.dispose();
    gpu.device.destroy();
  }
}
