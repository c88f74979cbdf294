/**
 * WorkerApi: owns the device, the open model and data, one session at a time, and the store of measured sites. Calls
 * that compute run one after the other; pause and cancel are heard within one submission.
 */
import { BendscopeError, toPlainError } from '../base/errors';
import { APP_VERSION } from '../base/version';
import type { DataSpec, DeviceReport, JointRequest, ModelSource, OpenedData, OpenedModel, ProbeEvent, ProbeRequest, WorkerApi } from '../bridge/protocol';
import { planMemory } from '../engine/memory';
import { Session } from '../engine/session';
import type { Gpu } from '../gpu/gpu';
import type { PassScheme, PolicyOptions } from '../graph/policy';
import type { JointResult, Provenance } from '../graph/probe-record';
import { validatePolicy } from '../graph/validate';
import { Probe } from '../probe/probe';
import { findDevice } from './device';
import { openData, openModel, type Data, type Model } from './open';
import { CANCELLED, RunControl } from './run-control';
import { openRunStore, runKey, type RunStore } from './run-store';

/** Reference runs stay resident for every batch while the plan stays below this. */
const RESIDENT_BYTES = 1 << 30;

type Emit = (event: ProbeEvent) => void;

export class MeasuringWorker implements WorkerApi {
  #base = '';
  #fault: string | undefined;
  #gpu: Gpu | null = null;
  #report: DeviceReport | null = null;
  #model: Model | null = null;
  #data = new Map<string, Promise<Data>>();
  #session: { session: Session; key: string; places: number } | null = null;
  #runs = new Map<string, { control: RunControl; emit: Emit }>();
  #queue: Promise<unknown> = Promise.resolve();
  #store: Promise<RunStore> | null = null;

  async start(options: { readonly useSoftware: boolean; readonly fault?: string; readonly base: string }): Promise<DeviceReport> {
    this.#base = options.base;
    this.#fault = options.fault;
    this.#closeSession();
    const found = await findDevice(options.useSoftware, options.fault);
    this.#gpu?.device.destroy();
    this.#gpu = found.gpu;
    this.#report = found.report;
    return found.report;
  }

  async openModel(source: ModelSource): Promise<OpenedModel> {
    const model = await openModel(source, this.#base);
    this.#closeSession();
    this.#model = model;
    this.#data.clear();
    return { graph: model.graph, modelName: model.name, modelSha256: model.sha256 };
  }

  async openData(spec: DataSpec): Promise<OpenedData> {
    const { name, sha256, tokenCount, firstWindow } = await this.#dataOf(spec);
    return { dataName: name, tokensSha256: sha256, tokenCount, firstWindow };
  }

  plannedBytes(spec: DataSpec): Promise<number> {
    const { graph } = this.#requireModel();
    return Promise.resolve(planMemory(graph, spec, true, this.#places(graph, spec)).totalBytes);
  }

  runProbe(request: ProbeRequest, onEvent: Emit): Promise<void> {
    return this.#exclusive(request.runId, onEvent, async (control) => {
      const { runId, recipe, options } = request;
      const { key, store, provenance, probe, plannedBytes } = await this.#prepare(request.data, recipe, options, control);
      const stored = await store.load(key);
      const known = request.sites.filter((site) => stored.sites[site]?.status === 'measured');
      onEvent({ kind: 'started', runId, provenance, plannedBytes, resumedSites: known.length });
      let done = 0;
      const total = request.sites.length;
      const onPhase = (text: string): void => onEvent({ kind: 'phase', runId, text });
      const referenceLoss = stored.reference?.referenceLoss ?? (await probe.referenceLosses({ onPhase }));
      const floor = await probe.measureFloor({ onPhase }, stored.reference?.floor ?? null);
      if (!stored.reference) await store.putReference(key, { floor, referenceLoss });
      onEvent({ kind: 'floor', runId, floor, referenceLoss });
      for (const site of known) {
        const result = stored.sites[site];
        if (result) onEvent({ kind: 'site', runId, site, result, done: ++done, total });
      }
      const missing = request.sites.filter((site) => !known.includes(site));
      await probe.measureSites(missing, recipe, options, {
        onPhase,
        onMeasuring: (site) => onEvent({ kind: 'measuring', runId, site }),
        onSite: async (site, result) => {
          await store.putSite(key, site, result);
          onEvent({ kind: 'site', runId, site, result, done: ++done, total });
        },
      });
      onEvent({ kind: 'finished', runId });
    });
  }

  async verifyJointly(request: JointRequest, onEvent: Emit): Promise<JointResult> {
    let joint: JointResult | null = null;
    await this.#exclusive(request.runId, onEvent, async (control) => {
      const { runId, policy, planHash } = request;
      const recipe = Object.values(policy.passes)[0] ?? 'nvfp4';
      validatePolicy(this.#requireModel().graph, policy);
      const { key, store, provenance, probe, plannedBytes } = await this.#prepare(request.data, recipe, policy.options, control);
      const stored = await store.load(key);
      onEvent({ kind: 'started', runId, provenance, plannedBytes, resumedSites: 0 });
      const onPhase = (text: string): void => onEvent({ kind: 'phase', runId, text });
      const referenceLoss = stored.reference?.referenceLoss ?? (await probe.referenceLosses({ onPhase }));
      const floor = await probe.measureFloor({ onPhase }, stored.reference?.floor ?? null);
      if (!stored.reference) await store.putReference(key, { floor, referenceLoss });
      onEvent({ kind: 'floor', runId, floor, referenceLoss });
      onPhase('measuring the whole plan');
      joint = { planHash, lowSites: Object.keys(policy.passes).length, result: await probe.measureJoint(policy) };
      await store.putJoint(key, joint);
      onEvent({ kind: 'joint', runId, joint });
      onEvent({ kind: 'finished', runId });
    });
    if (!joint) throw new BendscopeError(CANCELLED, 'The measurement was stopped.', 'Press Verify jointly again.');
    return joint;
  }

  pause(runId: string): Promise<void> {
    const run = this.#runs.get(runId);
    run?.control.pause();
    run?.emit({ kind: 'paused', runId });
    return Promise.resolve();
  }

  resume(runId: string): Promise<void> {
    this.#runs.get(runId)?.control.resume();
    return Promise.resolve();
  }

  cancel(runId: string): Promise<void> {
    this.#runs.get(runId)?.control.cancel();
    return Promise.resolve();
  }

  /** One computing call at a time. A stopped run ends with `stopped`, a broken one with `failed` and its error. */
  #exclusive(runId: string, onEvent: Emit, run: (control: RunControl) => Promise<void>): Promise<void> {
    const control = new RunControl();
    this.#runs.set(runId, { control, emit: onEvent });
    const next = this.#queue.then(async () => {
      try {
        await control.checkpoint();
        await run(control);
      } catch (thrown) {
        const error = toPlainError(thrown);
        if (error.name === CANCELLED) {
          onEvent({ kind: 'stopped', runId });
          return;
        }
        if (error.name === 'E-GPU-02') await this.#rebuild();
        onEvent({ kind: 'failed', runId, error });
        throw thrown;
      } finally {
        this.#runs.delete(runId);
      }
    });
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /** After a lost device: a new adapter and device, checked again; the stored sites are what survives. */
  async #rebuild(): Promise<void> {
    this.#session = null;
    const found = await findDevice(true, this.#fault);
    this.#gpu = found.gpu;
    this.#report = found.report;
  }

  #requireModel(): Model {
    if (!this.#model) throw new BendscopeError('E-RUN-04', 'run: expected an open model, got none', 'Open a model first.');
    return this.#model;
  }

  #dataOf(spec: DataSpec): Promise<Data> {
    const model = this.#requireModel();
    const key = JSON.stringify(spec);
    let data = this.#data.get(key);
    if (!data) {
      data = openData(spec, model, this.#base);
      this.#data.set(key, data);
      // A failed text must not stay failed: the next call reads it again.
      data.catch(() => this.#data.delete(key));
    }
    return data;
  }

  #places(graph: Model['graph'], spec: DataSpec): number {
    return planMemory(graph, spec, true, spec.batches).totalBytes <= RESIDENT_BYTES ? spec.batches : 1;
  }

  async #prepare(spec: DataSpec, recipe: PassScheme, options: PolicyOptions, control: RunControl) {
    const model = this.#requireModel();
    const report = this.#report;
    if (!this.#gpu || !report) {
      const error = report?.error ?? { name: 'E-GPU-12', message: 'No graphics adapter is open.', hint: 'Wait for the GPU check.' };
      throw new BendscopeError(error.name, error.message, error.hint);
    }
    const data = await this.#dataOf(spec);
    const places = this.#places(model.graph, spec);
    const sessionKey = `${model.sha256}|${data.sha256}|${places}`;
    if (this.#session?.key !== sessionKey) {
      this.#closeSession();
      this.#session = { session: await Session.create(this.#gpu, model.graph, model.params, spec, 'bf16', places), key: sessionKey, places };
    }
    const { session } = this.#session;
    this.#store ??= openRunStore();
    const provenance: Provenance = {
      appVersion: APP_VERSION,
      device: report.device,
      isFallbackAdapter: report.isFallbackAdapter,
      browser: navigator.userAgent,
      modelSha256: model.sha256,
      tokensSha256: data.sha256,
      modelName: model.name,
      dataName: data.name,
      seed: spec.seed,
      batches: spec.batches,
      sequences: spec.sequences,
      tokens: spec.tokens,
      startedAt: new Date().toISOString(),
    };
    const key = runKey({ modelSha256: model.sha256, tokensSha256: data.sha256, recipe, options, device: `${report.device} ${navigator.userAgent}`, appVersion: APP_VERSION });
    return { key, store: await this.#store, provenance, probe: new Probe(session, data.batches, places, control.checkpoint), plannedBytes: session.memory.totalBytes };
  }

  #closeSession(): void {
    this.#session?.session.dispose();
    this.#session = null;
  }
}
