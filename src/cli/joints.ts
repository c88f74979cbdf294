/**
 * Whole plans measured one after the other in one session: reference runs and noise floor once, and a plan that was measured
 * before (same hash) not again. Every joint is in the journal before the next one begins, so that a command that was
 * stopped continues from there and writes the bytes of one that was not. Shared by verify, compare and how-much.
 */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { devDependencies } from '../../package.json';
import { costedSites, type CostedSite, type Formats } from '../allocate/cost';
import { planPolicy, policyHash } from '../allocate/plan';
import { formatDegrees, formatPercent, significant } from '../base/units';
import { APP_VERSION } from '../base/version';
import { engineFingerprint } from '../engine/fingerprint';
import { Session } from '../engine/session';
import { probeRun } from '../graph/ledger';
import { OUT_SCHEME, type PolicyOptions, type RecipeName } from '../graph/policy';
import type { JointResult, Measured, Provenance, SiteResult } from '../graph/probe-record';
import { Probe } from '../probe/probe';
import { sessionUse } from '../probe/session-use';
import { RunControl } from '../worker/run-control';
import { memoryBackend, runKey, runStoreOver, type StoredReference } from '../worker/run-store';
import { StoredProbe } from '../worker/stored-probe';
import type { Flag, Flags } from './command-line';
import type { Devices } from './devices';
import { openFileRunStore } from './file-run-store';
import type { OpenedFolder } from './open-folder';
import { say } from './say';
import type { Tokens } from './token-file';

export const JOURNAL_FLAG: Flag = { name: 'journal', value: 'FILE', help: 'keeps finished measurements for other commands too' };

export interface JointsAsked {
  readonly model: OpenedFolder;
  readonly tokensPath: string;
  readonly tokens: Tokens;
  /** Names the run and every plan's hash; of plans of several formats the one they are compared under. */
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  /** null: nothing is kept. */
  readonly journal: { readonly path: string; /** Whether it stays once the command is done. */ readonly kept: boolean } | null;
}

export interface MeasuringProvenance extends Omit<Provenance, 'startedAt' | 'seed'> {
  readonly configSha256: string;
  readonly versions: Readonly<Record<string, string>>;
}

export interface Joints {
  readonly sites: readonly CostedSite[];
  readonly reference: StoredReference;
  readonly provenance: MeasuringProvenance;
  hashOf(formats: Formats): string;
  /** Whether the journal holds this plan. */
  isStored(formats: Formats): Promise<boolean>;
  measure(formats: Formats): Promise<JointResult>;
}

/** Opens a session, hands it over, closes it. Throws E-RUN-03 when interrupted, E-GPU-02 for a lost device, E-FILE-07 for a damaged journal. */
export async function withJoints<T>(asked: JointsAsked, flags: Flags, devices: Devices, work: (joints: Joints) => Promise<T>): Promise<T> {
  const { model, tokens, recipe, options, journal } = asked;
  const { graph } = model;
  const gpu = await devices.get(flags);
  const store = journal === null ? runStoreOver(memoryBackend()) : await openFileRunStore(journal.path);
  const key = runKey({ modelSha256: model.sha256, tokensSha256: tokens.sha256, recipe, options, device: gpu.adapterName, appVersion: engineFingerprint() });
  const run = probeRun(graph, tokens, tokens.batches.length, { recipe, options, persistent: false, ...(recipe === OUT_SCHEME ? { outs: options } : {}) });
  const control = new RunControl();
  const interrupt = (): void => control.cancel();
  const session = await Session.create(gpu, graph, model.params, tokens, sessionUse(run));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const stored = new StoredProbe(new Probe(session, tokens.batches, run, control.checkpoint), store, key, recipe, options);
    const known = Object.keys((await stored.found()).joint).length;
    if (known > 0) say(`continuing: ${known} ${known === 1 ? 'plan is' : 'plans are'} in ${journal?.path ?? 'memory'}`);
    const reference = await stored.reference();
    // No local error of a plan: it would depend on which isolated sites a shared journal happens to hold.
    await stored.measureSites([], { persistent: false });
    const sites = costedSites(graph, recipe);
    const hashOf = (formats: Formats): string => policyHash(planPolicy(formats, sites, options), { modelSha256: model.sha256, recipe });
    const result = await work({
      sites, reference, hashOf,
      provenance: {
        appVersion: APP_VERSION, device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, browser: 'Dawn for Node',
        modelSha256: model.sha256, configSha256: model.configSha256, tokensSha256: tokens.sha256, modelName: model.name, dataName: basename(asked.tokensPath),
        batches: tokens.batches.length, sequences: tokens.sequences, tokens: tokens.tokens,
        versions: { bendscope: APP_VERSION, dawn: devDependencies.webgpu, node: process.versions.node },
      },
      isStored: async (formats) => (await stored.found()).joint[hashOf(formats)]?.result.status === 'measured',
      measure: (formats) => stored.measureJoint(planPolicy(formats, sites, options), hashOf(formats)),
    });
    if (journal?.kept === false) {
      // Another run's cells may share the journal.
      await store.delete(key);
      if ((await store.list()).length === 0) await rm(journal.path, { force: true });
    }
    return result;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    session.dispose();
  }
}

/** Says where predictions stand on other data or another device than what is measured now. `whose`: "the plan's angles". */
export function noteOrigins(whose: string, origin: Pick<Provenance, 'tokensSha256' | 'dataName' | 'device'>, here: MeasuringProvenance): void {
  if (origin.tokensSha256 !== here.tokensSha256) say(`note: ${whose} are of other data, ${origin.dataName}`);
  if (origin.device !== here.device) say(`note: ${whose} are of another device, ${origin.device}`);
}

/** Measured over predicted: null where there is no prediction, or none to divide by. */
export interface Gap {
  readonly gapDeg: number | null;
  readonly relativeGap: number | null;
}

export function gapOf(result: SiteResult | null, predictedDeg: number | null): Gap {
  if (predictedDeg === null || result?.status !== 'measured') return { gapDeg: null, relativeGap: null };
  const gapDeg = result.angleDeg - predictedDeg;
  return { gapDeg, relativeGap: predictedDeg === 0 ? null : gapDeg / predictedDeg };
}

/** `6.80 deg +- 0.0812 deg over batches`. */
export function spelledAngle({ angleDeg, angleSeDeg }: Pick<Measured, 'angleDeg' | 'angleSeDeg'>): string {
  return `${formatDegrees(angleDeg)}${angleSeDeg === null ? '' : ` +- ${formatDegrees(angleSeDeg)} over batches`}`;
}

/** `gap +0.312 deg (4.8 %)`, or empty where there is none. */
export function spelledGap({ gapDeg, relativeGap }: Gap): string {
  if (gapDeg === null) return '';
  return `gap ${gapDeg < 0 ? '-' : '+'}${significant(Math.abs(gapDeg))} deg${relativeGap === null ? '' : ` (${formatPercent(relativeGap)})`}`;
}
