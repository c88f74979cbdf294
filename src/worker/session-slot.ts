/**
 * What a run measures in: one session at a time, kept for the next run of the same model, tokens and room, and the store of
 * measured sites. The same for the command line: cli/stored-session.ts.
 */
import { canonicalJson } from '../base/canonical-json';
import { APP_VERSION } from '../base/version';
import type { DataSpec, DeviceReport } from '../bridge/protocol';
import { engineFingerprint } from '../engine/fingerprint';
import type { SessionUse } from '../engine/memory';
import { Session } from '../engine/session';
import type { Gpu } from '../gpu/gpu';
import { probeRun } from '../graph/ledger';
import type { Provenance } from '../graph/probe-record';
import { Probe } from '../probe/probe';
import { sessionUse, type Measuring } from '../probe/session-use';
import type { Data, Model } from './open';
import type { RunControl } from './run-control';
import { openRunStore, runKey, type RunStore } from './run-store';
import { StoredProbe } from './stored-probe';

export interface RunAsked {
  readonly gpu: Gpu;
  /** Of this device. */
  readonly report: DeviceReport;
  readonly model: Model;
  readonly spec: DataSpec;
  /** The batches that `spec` gives. */
  readonly data: Data;
  readonly measuring: Measuring;
  readonly control: RunControl;
}

export interface OpenedRun {
  readonly probe: StoredProbe;
  readonly session: Session;
  readonly store: RunStore;
  readonly provenance: Provenance;
}

export class SessionSlot {
  #held: { readonly session: Session; readonly key: string } | null = null;
  #store: Promise<RunStore> | null = null;

  /** Throws E-DATA-03 (windows too long), E-MEM-01 (no room on the device); then no session is held. */
  async open({ gpu, report, model, spec, data, measuring, control }: RunAsked): Promise<OpenedRun> {
    const { recipe, options } = measuring;
    const run = probeRun(model.graph, spec, spec.batches, measuring);
    const session = await this.#sessionOf(gpu, model, spec, data, sessionUse(run));
    this.#store ??= openRunStore();
    const store = await this.#store;
    const identity = { modelSha256: model.sha256, tokensSha256: data.sha256 };
    const key = runKey({ ...identity, recipe, options, device: `${report.device} ${navigator.userAgent}`, appVersion: engineFingerprint() });
    const provenance: Provenance = {
      appVersion: APP_VERSION, device: report.device, isFallbackAdapter: report.isFallbackAdapter, browser: navigator.userAgent,
      ...identity, modelName: model.name, dataName: data.name,
      seed: spec.seed, batches: spec.batches, sequences: spec.sequences, tokens: spec.tokens, startedAt: new Date().toISOString(),
    };
    return { probe: new StoredProbe(new Probe(session, data.batches, run, control.checkpoint), store, key, recipe, options), session, store, provenance };
  }

  /** Frees the session, if there is one. */
  close(): void {
    this.#held?.session.dispose();
    this.#held = null;
  }

  /** Forgets the session of a lost device: its buffers are gone with it. */
  forget(): void {
    this.#held = null;
  }

  /** The session that is held where it fits, else a new one in its place. */
  async #sessionOf(gpu: Gpu, model: Model, spec: DataSpec, data: Data, use: SessionUse): Promise<Session> {
    const key = canonicalJson({ model: model.sha256, data: data.sha256, use });
    if (this.#held?.key !== key) {
      this.close();
      this.#held = { session: await Session.create(gpu, model.graph, model.params, spec, use), key };
    }
    return this.#held.session;
  }
}
