/**
 * Measuring: the start-up check, a probe, a joint measurement, pause and stop. The page holds at most one run; the
 * worker is told which model and text it must be of, and whatever ends it leaves every measured cell where it is.
 */
import { planPolicy, type Plan } from '../allocate/plan';
import { toPlainError, type BendscopeError } from '../base/errors';
import type { ExtraMeasures, ProbeEvent, WorkerApi } from '../bridge/protocol';
import { coarseOrder } from '../graph/coarse-order';
import type { RecipeName, SiteId } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';
import type { ActionContext } from './context';
import { notify, notifyError, type RunState } from './facts';
import { createRunEvents } from './run-events';
import { allLowOf, allLowPlan, hashOfPlan, sitesOf } from './selectors';
import { isSameKey, shownOf, type Shown } from './shown';
import type { WorkerModel } from './worker-model';

export function createRunActions(context: ActionContext, model: WorkerModel) {
  const { document, facts, worker, base, shown, attempt, refusedByRun } = context;
  const onEvent = createRunEvents(facts);
  let runs = 0;
  /** The run that the worker knows of; one that still waits for model and text is the page's alone. */
  let handedOver: string | null = null;

  const isCurrent = (runId: string): boolean => facts.getState().run?.runId === runId;

  const startRun = (kind: RunState['kind'], sites: number, rounds: RunState['rounds'], { recipe, key }: Pick<Shown, 'recipe' | 'key'>): string | null => {
    const { checking, device } = facts.getState();
    if (refusedByRun('no other was begun')) return null;
    if (checking || device?.status !== 'ready') {
      notifyError(facts, checking || !device?.error ? { name: 'E-GPU-12', message: 'The GPU check has not finished.', hint: 'Wait a moment.' } : device.error);
      return null;
    }
    if (model.isOpening()) {
      notify(facts, { kind: 'warning', name: '', message: 'A model is being opened, so no measurement was begun.', hint: 'Wait a moment.' });
      return null;
    }
    runs += 1;
    const runId = `${kind}-${Date.now()}-${runs}`;
    facts.setState({ run: { kind, runId, status: 'running', phase: 'opening model and text', recipe, key, measuring: null, part: 'isolated', rounds, done: 0, total: rounds * sites, startedAtMs: Date.now() } });
    return runId;
  };

  type OnEvent = (event: ProbeEvent) => void;

  /** One run from start to end; whether it got there. `prepare` opens what it needs; `measure` is skipped if the user stopped it before. */
  const runOnce = async (kind: RunState['kind'], sites: number, rounds: RunState['rounds'], prepare: (api: WorkerApi) => Promise<void>, measure: (api: WorkerApi, runId: string, emit: OnEvent) => Promise<unknown>, of: Pick<Shown, 'recipe' | 'key'> = shown()): Promise<boolean> => {
    const runId = startRun(kind, sites, rounds, of);
    if (runId === null) return false;
    let isFinished = false;
    try {
      const api = await worker();
      await model.ensure(api);
      await prepare(api);
      if (!isCurrent(runId)) return false;
      handedOver = runId;
      await measure(api, runId, (event) => {
        isFinished ||= event.kind === 'finished';
        onEvent(event);
      });
    } catch (thrown) {
      const error = toPlainError(thrown);
      if (error.name === 'E-RUN-05') model.forget();
      // E-RUN-03 is the worker's word for "you pressed Stop"; a run that is over has already said why.
      if (error.name !== 'E-RUN-03' && isCurrent(runId)) notifyError(facts, error);
    } finally {
      if (isCurrent(runId)) facts.setState({ run: null });
    }
    return isFinished;
  };

  /** Measures a plan as a whole, by default the one in hand. */
  const verifyJointly = async (target?: Plan): Promise<void> => {
    const { graph, modelSha256, recipe, options, data } = shown();
    const plan = target ?? document.getState().plan;
    const planHash = plan ? hashOfPlan(shown(), plan) : null;
    if (!graph || !plan || planHash === null) return;
    const policy = planPolicy(plan.formats, sitesOf(graph, recipe), options);
    await runOnce('joint', 1, 1, () => Promise.resolve(), (api, runId, emit) => api.verifyJointly({ runId, modelSha256, recipe, policy, planHash, data }, emit));
  };

  return {
    /** Runs the start-up check; the chip shows the report. */
    async checkDevice(useSoftware = false, fault?: string): Promise<void> {
      if (refusedByRun('the GPU was not checked again')) return;
      facts.setState({ checking: true });
      const found = await attempt(async () => (await worker()).start({ useSoftware, base, ...(fault === undefined ? {} : { fault }) }));
      facts.setState({ checking: false, ...(found ? { device: found } : {}) });
    },

    /** The worker crashed or never loaded: what it held is gone, what the page holds stays. */
    workerStopped(error: BendscopeError): void {
      model.forget();
      const plain = toPlainError(error);
      facts.setState((s) => ({
        checking: false, run: null, device: { status: 'absent', error: plain, device: 'none', isFallbackAdapter: false, checks: [], facts: {} },
        ...(s.run === null ? {} : { lastRun: `stopped by ${plain.name}` }),
      }));
      notifyError(facts, plain);
    },

    /**
     * Measures all sites (or some: retry) of the recipe shown, or of a further format of its plans under the same switches;
     * coarse order first; measured ones come back from the store.
     */
    async runProbe(only?: readonly SiteId[], format: RecipeName = shown().recipe): Promise<void> {
      const of = shownOf(facts.getState(), { recipe: format, options: document.getState().options });
      const { graph, modelSha256, recipe, data, extra, key } = of;
      if (!graph) return;
      const options = recipeOptions(recipe, of.options);
      const sites = only ?? coarseOrder(graph, recipe);
      const isFinished = await runOnce(
        'probe',
        sites.length,
        extra.leaveOneOut ? 2 : 1,
        async (api) => facts.setState({ openedData: await api.openData(data) }),
        (api, runId, emit) => api.runProbe({ runId, modelSha256, recipe, options, extra, sites, data }, emit),
        of,
      );
      // What a left-out cell takes away is read against everything low.
      const now = shown();
      const allLow = allLowPlan(now);
      if (isFinished && extra.leaveOneOut && allLow && isSameKey(now.key, key) && allLowOf(now) === null) await verifyJointly(allLow);
    },
    /** What the next probe measures beside isolated cells. */
    setExtra(extra: ExtraMeasures): void {
      facts.setState({ extra });
    },

    verifyJointly,

    async pause(): Promise<void> {
      const { run } = facts.getState();
      if (run) await attempt(async () => (await worker()).pause(run.runId));
    },
    async resume(): Promise<void> {
      const { run } = facts.getState();
      if (!run) return;
      facts.setState({ run: { ...run, status: 'running' } });
      await attempt(async () => (await worker()).resume(run.runId));
    },
    async stop(): Promise<void> {
      const { run } = facts.getState();
      if (!run) return;
      if (handedOver === run.runId) await attempt(async () => (await worker()).cancel(run.runId));
      else facts.setState({ run: null, lastRun: 'stopped before it began' });
    },
  };
}
