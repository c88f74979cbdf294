/**
 * One run of the worker from start to end. The page holds at most one; the worker is told which model and text it must be
 * of, its events become facts, and whatever ends it leaves every measured cell where it is.
 */
import { planPolicy, type Plan } from '../allocate/plan';
import { toPlainError, type PlainError } from '../base/errors';
import type { ProbeEvent, WorkerApi } from '../bridge/protocol';
import type { JointResult } from '../graph/probe-record';
import type { ActionContext } from './context';
import { notify, notifyError, type RunState } from './facts';
import { createRunEvents } from './run-events';
import { hashOfPlan, sitesOf } from './selectors';
import type { Shown } from './shown';
import type { WorkerModel } from './worker-model';

type OnEvent = (event: ProbeEvent) => void;

export interface RunSpec {
  readonly kind: RunState['kind'];
  readonly what: string;
  /** The recipe, switches, model and text it is of. */
  readonly of: Shown;
  readonly sites: number;
  readonly rounds: RunState['rounds'];
  /** Opens what it needs beside the model. */
  prepare?(api: WorkerApi): Promise<void>;
  /** Skipped if the user stopped the run before. */
  measure(api: WorkerApi, runId: string, emit: OnEvent): Promise<unknown>;
}

/** How a run ended. `refused`: it never began, and a notice says why; `failed`: a notice with the error is there. */
export type Outcome = { readonly ended: 'finished' | 'stopped' | 'refused' } | { readonly ended: 'failed'; readonly error: PlainError };

export interface Runner {
  /** False, and a notice with the reason, where no run can begin now. */
  isReady(): boolean;
  run(spec: RunSpec): Promise<Outcome>;
  /** Runs a plan as a whole under what was shown when it was asked for; `joint` where it got there. */
  measureJointly(of: Shown, plan: Plan, what?: string): Promise<{ readonly outcome: Outcome; readonly joint: JointResult | null }>;
  /** Ends the current run; one that still waits for model and text ends at once. */
  stop(): Promise<void>;
}

export function createRunner(context: ActionContext, model: WorkerModel): Runner {
  const { facts, worker, attempt, refusedByRun } = context;
  const onEvent = createRunEvents(facts);
  let runs = 0;
  /** The run that the worker knows of; one that still waits for model and text is the page's alone. */
  let handedOver: string | null = null;

  const isCurrent = (runId: string): boolean => facts.getState().run?.runId === runId;

  const isReady = (): boolean => {
    const { checking, device } = facts.getState();
    if (refusedByRun('no other was begun')) return false;
    if (checking || device?.status !== 'ready') {
      notifyError(facts, checking || !device?.error ? { name: 'E-GPU-12', message: 'The GPU check has not finished.', hint: 'Wait a moment.' } : device.error);
      return false;
    }
    if (!model.isOpening()) return true;
    notify(facts, { kind: 'warning', name: '', message: 'A model is being opened, so no measurement was begun.', hint: 'Wait a moment.' });
    return false;
  };

  const begin = ({ kind, what, of, sites, rounds }: RunSpec): string | null => {
    if (!isReady()) return null;
    runs += 1;
    const runId = `${kind}-${Date.now()}-${runs}`;
    const { recipe, key } = of;
    facts.setState({ run: { kind, what, runId, status: 'running', phase: 'opening model and text', recipe, key, measuring: null, part: 'isolated', rounds, done: 0, total: rounds * sites, startedAtMs: Date.now() } });
    return runId;
  };

  const run = async (spec: RunSpec): Promise<Outcome> => {
    const runId = begin(spec);
    if (runId === null) return { ended: 'refused' };
    let outcome: Outcome = { ended: 'stopped' };
    try {
      const api = await worker();
      await model.ensure(api);
      await spec.prepare?.(api);
      if (!isCurrent(runId)) return outcome;
      handedOver = runId;
      await spec.measure(api, runId, (event) => {
        if (event.kind === 'finished') outcome = { ended: 'finished' };
        if (event.kind === 'failed') outcome = { ended: 'failed', error: event.error };
        onEvent(event);
      });
    } catch (thrown) {
      const error = toPlainError(thrown);
      if (error.name === 'E-RUN-05') model.forget();
      // E-RUN-03 is the worker's word for "you pressed Stop"; a run that is over has already said why.
      if (error.name !== 'E-RUN-03') outcome = { ended: 'failed', error };
      if (error.name !== 'E-RUN-03' && isCurrent(runId)) notifyError(facts, error);
    } finally {
      if (isCurrent(runId)) facts.setState({ run: null });
    }
    return outcome;
  };

  return {
    isReady,
    run,
    async measureJointly(of, plan, what = plan.name) {
      const { graph, modelSha256, recipe, options, data } = of;
      const planHash = hashOfPlan(of, plan);
      if (!graph || planHash === null) return { outcome: { ended: 'refused' }, joint: null };
      const policy = planPolicy(plan.formats, sitesOf(graph, recipe), options);
      let joint: JointResult | null = null;
      const outcome = await run({
        kind: 'joint', what, of, sites: 1, rounds: 1,
        measure: (api, runId, emit) => api.verifyJointly({ runId, modelSha256, recipe, policy, planHash, data }, (event) => {
          if (event.kind === 'joint' && event.joint.planHash === planHash) joint = event.joint;
          emit(event);
        }),
      });
      return { outcome, joint };
    },
    async stop() {
      const { run: now } = facts.getState();
      if (!now) return;
      if (handedOver === now.runId) await attempt(async () => (await worker()).cancel(now.runId));
      else facts.setState({ run: null, lastRun: 'stopped before it began' });
    },
  };
}
