/**
 * `probe`: noise floor, isolated angles of the chosen sites, sites left out of an all-low plan, joint angles of given
 * policies, to one JSON file. Every finished cell goes to a journal beside the file at once; the same command continues
 * from it, and the file of a run that was stopped is byte for byte that of one that was not.
 */
import { canonicalJson } from '../base/canonical-json';
import { formatDegrees, formatDuration, formatPercent } from '../base/units';
import { predictLedger } from '../graph/ledger';
import type { SiteId } from '../graph/policy';
import type { SiteResult } from '../graph/probe-record';
import { answers } from '../worker/run-store';
import type { StoredProbe, StoredProbeSink } from '../worker/stored-probe';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
import { ledgerLines } from './ledger-lines';
import { writeOutput } from './local-files';
import { RECIPE_WORDS } from './policy-file';
import { readProbe, type ProbeInputs } from './probe-inputs';
import { probeReport, type JointFound, type ProbeFound } from './probe-report';
import { say } from './say';
import { withStoredSession } from './stored-session';

export const PROBE: CommandSpec = {
  name: 'probe',
  summary: 'how far each low-precision site turns the gradient, site by site, to a JSON file; continues where it was stopped',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'Hugging Face GPT-2 folder: config.json, model.safetensors (F32, F16, BF16)' },
    { name: 'tokens', value: 'T.json', required: true, help: '{"tokens": [[T+1 ids], ...]}, or {"batches": [[[T+1 ids], ...], ...]} of one shape' },
    { name: 'recipe', value: 'NAME', required: true, help: `what a site under test runs in: ${RECIPE_WORDS.join(', ')}` },
    { name: 'options', value: 'JSON', help: 'switches of the recipe, as {"rht": true, "sr": true, "seed": 1}; all off by default' },
    { name: 'sites', value: 'GLOB', help: 'site ids with * and ?, several by commas, as h.0.*:fprop or *.ln_1:out; default * (all of the recipe)' },
    { name: 'leave-one-out', value: null, help: 'also, for each of these sites, the angle of every site of the recipe low but that one' },
    { name: 'persistent', value: null, help: 'also what of each shift stays, over batches (8 or more) and, with sr, over 8 roundings of one batch' },
    { name: 'joint', value: 'P.json', repeatable: true, help: 'also measure this whole policy (as in gradient --help)' },
    { name: 'out', value: 'R.json', required: true, help: 'the result; R.json.journal holds finished cells until it is written' },
    ADAPTER_FLAG,
  ],
  details: [
    'Sites of nvfp4, fp8 (per tensor), fp8-block, mxfp8, mxfp4 are the passes <node>:fprop|dgrad|wgrad of the block linears;',
    'sites of fp8-out are the op groups <node>:out. nvfp4-te is nvfp4 with rht and sr, as TransformerEngine trains.',
    'Switches: nvfp4 weights1d, rht, sr, seed; fp8 pow2; mxfp8 floor, e5m2Grad; mxfp4 floor; fp8-out out ("tensor", "block",',
    '"mx"), pow2.',
    'Every site: angleDeg (raw, over batches), cleanAngleDeg (noise floor taken out), angleSeDeg, belowNoise, relativeShift,',
    'lengthRatio, rotationShare, lossChange, localError, blockAngleDeg (by parameter), layerAngleDeg, perBatch, persistent;',
    'or status "failed" with a reason. scores: what other methods would say of each site without a run of their own,',
    'firstOrder (ModelOpt; null for dgrad and wgrad, which it cannot see) and snip. Two runs on one device give identical bytes.',
  ],
};

const SPOKEN_EVERY_MS = 1000;

/** Throws before it measures for anything that is wrong with the input; E-RUN-03 when interrupted, E-GPU-02 for a lost device. */
export async function probe(flags: Flags, devices: Devices): Promise<void> {
  const started = performance.now();
  const inputs = await readProbe(flags);
  const { model, tokens, measuring, sites, joints, out } = inputs;
  const { recipe, options } = measuring;
  const journal = `${out}.journal`;
  await withStoredSession({ ...inputs, journal: { path: journal, kept: false } }, flags, devices, async ({ stored, session, run, provenance }) => {
    const memory = { predicted: predictLedger(model.graph, tokens, run), allocated: session.allocated };
    say(`${model.name}, ${recipe} ${canonicalJson(options)}, ${tokens.batches.length} x ${tokens.sequences} x ${tokens.tokens} tokens, ${sites.length} sites`);
    ledgerLines(memory.predicted, memory.allocated).forEach(say);
    const found = await measure(inputs, stored, journal);
    await writeOutput(out, probeReport(model.graph, { recipe, options, provenance: { ...provenance, seed: 0 }, memory, ...found }));
  });
  say(`${sites.length} sites${joints.size > 0 ? `, ${joints.size} joint` : ''}, ${formatDuration(performance.now() - started)}: ${out}`);
}

/** Everything asked for, what the journal holds included, said line by line. */
async function measure({ measuring, sites, joints, leaveOneOut }: ProbeInputs, stored: StoredProbe, journal: string): Promise<ProbeFound> {
  const { persistent } = measuring;
  const before = await stored.found();
  const resumed = sites.filter((site) => answers(before.sites[site], { persistent })).length;
  if (resumed > 0) say(`continuing: ${resumed} of ${sites.length} sites are in ${journal}`);
  let spoken = -Infinity;
  const phases: StoredProbeSink = {
    onPhase(text) {
      if (performance.now() - spoken < SPOKEN_EVERY_MS) return;
      spoken = performance.now();
      say(text);
    },
  };
  const { referenceLoss, floor } = await stored.reference(phases);
  say(`noise floor: forward ${formatDegrees(floor.forwardDeg)}, backward ${formatDegrees(floor.backwardDeg)}`);
  await stored.measureSites(sites, { persistent }, { ...phases, ...progress('') });
  const left = leaveOneOut ? await stored.measureLeaveOneOut(sites, progress('all low but ')) : {};
  const found: JointFound[] = [];
  for (const [planHash, policy] of joints) {
    const joint = await stored.measureJoint(policy, planHash);
    found.push({ policy, joint });
    say(`joint of ${joint.lowSites} sites: ${spelled(joint.result)}`);
  }
  const all = await stored.found();
  const ofAsked = <T>(found: Readonly<Record<SiteId, T>>): Record<SiteId, T> => Object.fromEntries(sites.flatMap((site) => (found[site] ? [[site, found[site]] as const] : [])));
  return { persistent, referenceLoss, floor, scores: ofAsked(all.scores), sites: ofAsked(all.sites), ...(leaveOneOut ? { leaveOneOut: left } : {}), joints: found };
}

/** A line a measured site, with the time that those left will take. */
function progress(prefix: string): StoredProbeSink {
  let first = NaN;
  let measured = 0;
  return {
    onMeasuring() {
      if (measured === 0) first = performance.now();
    },
    onSite(site, result, done, total, isStored) {
      if (isStored) return;
      measured += 1;
      const left = ((performance.now() - first) / measured) * (total - done);
      say(`${done}/${total} ${prefix}${site} ${spelled(result)}${done < total ? `, ${formatDuration(left)} left` : ''}`);
    },
  };
}

function spelled(result: SiteResult): string {
  if (result.status === 'failed') return `failed: ${result.reason}`;
  const { persistent } = result;
  const stays = [persistent?.overBatches, persistent?.overDraws].flatMap((found, i) => (found && 'relative' in found ? [`${formatPercent(found.relative)} stays over ${i === 0 ? 'batches' : 'draws'}`] : []));
  return `${formatDegrees(result.angleDeg)} (clean ${formatDegrees(result.cleanAngleDeg)}${result.belowNoise ? ', below noise' : ''})${stays.map((text) => `, ${text}`).join('')}`;
}
