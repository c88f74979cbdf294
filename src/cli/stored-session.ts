/**
 * A session for a command that measures for long: every finished result is in the journal before the next one begins, so
 * that the same command continues one that was stopped and writes the bytes of one that was not. Ctrl-C is heard within
 * one submission. Shared by probe, verify, compare and how-much.
 */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { devDependencies } from '../../package.json';
import { APP_VERSION } from '../base/version';
import { engineFingerprint } from '../engine/fingerprint';
import { Session } from '../engine/session';
import { probeRun, type ProbeRun } from '../graph/ledger';
import type { Provenance } from '../graph/probe-record';
import { Probe } from '../probe/probe';
import { sessionUse, type Measuring } from '../probe/session-use';
import { RunControl } from '../worker/run-control';
import { memoryBackend, runKey, runStoreOver } from '../worker/run-store';
import { StoredProbe } from '../worker/stored-probe';
import type { Flags } from './command-line';
import type { Devices } from './devices';
import { openFileRunStore } from './file-run-store';
import type { OpenedFolder } from './open-folder';
import type { Tokens } from './token-file';

export interface SessionAsked {
  readonly model: OpenedFolder;
  readonly tokensPath: string;
  readonly tokens: Tokens;
  readonly measuring: Measuring;
  /** null: nothing is kept. `kept`: whether it stays once the command is done. */
  readonly journal: { readonly path: string; readonly kept: boolean } | null;
}

/** Without times and dates, so that equal runs are equal files. */
export interface MeasuringProvenance extends Omit<Provenance, 'startedAt' | 'seed'> {
  readonly configSha256: string;
  readonly versions: Readonly<Record<string, string>>;
}

export interface StoredSession {
  readonly stored: StoredProbe;
  readonly session: Session;
  readonly run: ProbeRun;
  readonly provenance: MeasuringProvenance;
}

/** Opens it, hands it over, closes it. Throws E-RUN-03 when interrupted, E-GPU-02 for a lost device, E-FILE-07 for a damaged journal. */
export async function withStoredSession<T>({ model, tokensPath, tokens, measuring, journal }: SessionAsked, flags: Flags, devices: Devices, work: (opened: StoredSession) => Promise<T>): Promise<T> {
  const gpu = await devices.get(flags);
  const { recipe, options } = measuring;
  const store = journal === null ? runStoreOver(memoryBackend()) : await openFileRunStore(journal.path);
  const key = runKey({ modelSha256: model.sha256, tokensSha256: tokens.sha256, recipe, options, device: gpu.adapterName, appVersion: engineFingerprint() });
  const run = probeRun(model.graph, tokens, tokens.batches.length, measuring);
  const control = new RunControl();
  const interrupt = (): void => control.cancel();
  const session = await Session.create(gpu, model.graph, model.params, tokens, sessionUse(run));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const result = await work({
      stored: new StoredProbe(new Probe(session, tokens.batches, run, control.checkpoint), store, key, recipe, options), session, run,
      provenance: {
        appVersion: APP_VERSION, device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, browser: 'Dawn for Node',
        modelSha256: model.sha256, configSha256: model.configSha256, tokensSha256: tokens.sha256, modelName: model.name, dataName: basename(tokensPath),
        batches: tokens.batches.length, sequences: tokens.sequences, tokens: tokens.tokens,
        versions: { bendscope: APP_VERSION, dawn: devDependencies.webgpu, node: process.versions.node },
      },
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
