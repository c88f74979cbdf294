/**
 * WorkerApi: owns the device, the open model and data, and what runs measure in (session-slot.ts). Calls that compute run
 * one after the other; pause and cancel are heard within one submission once a run computes.
 */
import { policyHash } from '../allocate/plan';
import { BendscopeError, toPlainError } from '../base/errors';
import type { DataSpec, DeviceReport, JointRequest, ModelSource, OpenedData, OpenedModel, ProbeEvent, ProbeRequest, WorkerApi } from '../bridge/protocol';
import type { Gpu } from '../gpu/gpu';
import { OUT_SCHEME } from '../graph/policy';
import type { JointResult } from '../graph/probe-record';
import { recipeOptions } from '../graph/recipes';
import { validatePolicy } from '../graph/validate';
import type { Measuring } from '../probe/session-use';
import { findDevice } from './device';
import { openData, openModel, type Data, type Model } from './open';
import { CANCELLED, RunControl } from './run-control';
import { answers, type RunStore } from './run-store';
import { SessionSlot, type OpenedRun } from './session-slot';
import type { StoredProbeSink } from './stored-probe';

/** Automatic reconnects of one run after a lost device (engine.md 3.4). */
const RECONNECTS = 2;

type Emit = (event: ProbeEvent) => void;

export class MeasuringWorker implements WorkerApi {
  #base = '';
  #options: { readonly useSoftware: boolean; readonly fault?: string } = { useSoftware: false };
  #gpu: Gpu | null = null;
  #report: DeviceReport | null = null;
  #model: Model | null = null;
  #data = new Map<string, Promise<Data>>();
  readonly #slot = new SessionSlot();
  #runs = new Map<string, { control: RunControl; emit: Emit }>();
  #queue: Promise<unknown> = Promise.resolve();

  start(options: { readonly useSoftware: boolean; readonly fault?: string; readonly base: string }): Promise<DeviceReport> {
    return this.#afterRuns(async () => {
      this.#base = options.base;
      this.#options = options;
      this.#slot.close();
      return this.#findDevice();
    });
  }

  openModel(source: ModelSource): Promise<OpenedModel> {
    return this.#afterRuns(async () => {
      const model = await openModel(source, this.#base);
      this.#slot.close();
      this.#model = model;
      this.#data.clear();
      return { graph: model.graph, modelName: model.name, modelSha256: model.sha256 };
    });
  }

  async openData(spec: DataSpec): Promise<OpenedData> {
    const { name, sha256, tokenCount, firstWindow } = await this.#dataOf(spec);
    return { dataName: name, tokensSha256: sha256, tokenCount, firstWindow };
  }

  runProbe(request: ProbeRequest, onEvent: Emit): Promise<void> {
    return this.#exclusive(request.runId, onEvent, async (control, emit) => {
      const { runId, recipe, extra, sites } = request;
      const options = recipeOptions(recipe, request.options);
      const { probe, stored, store } = await this.#begin(request, { recipe, options, persistent: extra.persistent }, control, emit, sites);
      for (const joint of Object.values(stored.joint)) emit({ kind: 'joint', runId, joint });
      const sinkOf = (kind: 'site' | 'leave-one-out'): StoredProbeSink => ({
        onMeasuring: (site) => emit({ kind: 'measuring', runId, site }),
        onSite: (site, result, done, total) => emit({ kind, runId, site, result, done, total }),
      });
      await probe.measureSites(sites, extra, { ...sinkOf('site'), onPhase: (text) => emit({ kind: 'phase', runId, text }), onScores: (scores) => emit({ kind: 'scores', runId, scores }) });
      if (extra.leaveOneOut) {
        emit({ kind: 'phase', runId, text: 'leaving one site out at a time' });
        await probe.measureLeaveOneOut(sites, sinkOf('leave-one-out'));
      }
      warnOfStore(store, runId, emit);
    });
  }

  async verifyJointly(request: JointRequest, onEvent: Emit): Promise<JointResult> {
    let joint: JointResult | null = null;
    await this.#exclusive(request.runId, onEvent, async (control, emit) => {
      const { runId, recipe } = request;
      const model = this.#requireModel(request.modelSha256);
      const policy = validatePolicy(model.graph, request.policy);
      // The worker names the plan itself: an angle must never be filed under another plan.
      const planHash = policyHash(policy, { modelSha256: model.sha256, recipe });
      const options = recipeOptions(recipe, request.policy.options);
      const outs = policy.outs ? { outs: recipeOptions(OUT_SCHEME, policy.options) } : {};
      const { probe, store } = await this.#begin(request, { recipe, options, persistent: false, ...outs }, control, emit, []);
      emit({ kind: 'phase', runId, text: 'measuring the whole plan' });
      joint = await probe.measureJoint(policy, planHash);
      emit({ kind: 'joint', runId, joint });
      warnOfStore(store, runId, emit);
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

  /** Opening a device or a model waits for no run: it ends those under way, and then has the worker to itself. */
  #afterRuns<T>(run: () => Promise<T>): Promise<T> {
    for (const { control } of this.#runs.values()) control.cancel();
    const next = this.#queue.then(run);
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /**
   * One computing call at a time. A stopped run ends with `stopped`, a broken one with `failed` and its error. After a
   * lost device the run goes on by itself on a new one, twice; measured sites come back from the store.
   */
  #exclusive(runId: string, emit: Emit, run: (control: RunControl, emit: Emit) => Promise<void>): Promise<void> {
    const control = new RunControl();
    this.#runs.set(runId, { control, emit });
    const next = this.#queue.then(async () => {
      try {
        for (let losses = 0; ; losses++) {
          try {
            await control.checkpoint();
            await run(control, emit);
            break;
          } catch (thrown) {
            if (!this.#gpu?.lost) throw thrown;
            emit({ kind: 'phase', runId, text: 'looking for the GPU again' });
            this.#slot.forget();
            emit({ kind: 'device', runId, report: await this.#findDevice() });
            if (losses >= RECONNECTS || !this.#gpu) throw thrown;
          }
        }
        emit({ kind: 'finished', runId });
      } catch (thrown) {
        const error = toPlainError(thrown);
        if (error.name === CANCELLED) {
          emit({ kind: 'stopped', runId });
          return;
        }
        emit({ kind: 'failed', runId, error });
        throw thrown;
      } finally {
        this.#runs.delete(runId);
      }
    });
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /** A new adapter and device under the consent to software that `start` was given, checked. */
  async #findDevice(): Promise<DeviceReport> {
    this.#gpu?.device.destroy();
    this.#gpu = null;
    const found = await findDevice(this.#options.useSoftware, this.#options.fault);
    this.#gpu = found.gpu;
    this.#report = found.report;
    return found.report;
  }

  /** Session, stored results, reference and floor: where every run begins. `sites`: what may come back from the store. */
  async #begin(request: ProbeRequest | JointRequest, measuring: Measuring, control: RunControl, emit: Emit, sites: readonly string[]) {
    const { runId } = request;
    const { probe, session, provenance, store } = await this.#openRun(request, measuring, control);
    const stored = await probe.found();
    const resumedSites = sites.filter((site) => answers(stored.sites[site], measuring)).length;
    emit({ kind: 'started', runId, provenance, allocated: session.allocated, resumedSites });
    const { floor, referenceLoss } = await probe.reference({ onPhase: (text) => emit({ kind: 'phase', runId, text }) });
    emit({ kind: 'floor', runId, floor, referenceLoss });
    return { probe, stored, store };
  }

  /** modelSha256: what the page believes to be open. */
  #requireModel(modelSha256?: string): Model {
    if (!this.#model) throw new BendscopeError('E-RUN-04', 'run: expected an open model, got none', 'Open a model first.');
    if (modelSha256 !== undefined && modelSha256 !== this.#model.sha256) {
      throw new BendscopeError('E-RUN-05', `run: expected the model ${modelSha256}, got ${this.#model.name} ${this.#model.sha256}`, 'Open the model again.');
    }
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

  async #openRun(request: ProbeRequest | JointRequest, measuring: Measuring, control: RunControl): Promise<OpenedRun> {
    const spec = request.data;
    const model = this.#requireModel(request.modelSha256);
    const [gpu, report] = [this.#gpu, this.#report];
    if (!gpu || !report) {
      const error = report?.error ?? { name: 'E-GPU-12', message: 'No graphics adapter is open.', hint: 'Wait for the GPU check.' };
      throw new BendscopeError(error.name, error.message, error.hint);
    }
    return this.#slot.open({ gpu, report, model, spec, data: await this.#dataOf(spec), measuring, control });
  }
}

/** A store that cannot keep says so; the results were told all the same. */
function warnOfStore(store: RunStore, runId: string, emit: Emit): void {
  if (store.problem) emit({ kind: 'warning', runId, error: toPlainError(store.problem) });
}
