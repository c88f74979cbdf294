/** Measuring: the start-up check, a probe, a joint measurement, pause and stop. How a run goes is in runner.ts. */
import type { Plan } from '../allocate/plan';
import { toPlainError, type BendscopeError } from '../base/errors';
import type { ExtraMeasures } from '../bridge/protocol';
import { coarseOrder } from '../graph/coarse-order';
import type { RecipeName, SiteId } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';
import type { ActionContext } from './context';
import { notifyError } from './facts';
import type { Runner } from './runner';
import { allLowOf, allLowPlan } from './selectors';
import { isSameKey, shownOf } from './shown';
import { recipeName } from './words';
import type { WorkerModel } from './worker-model';

export function createRunActions(context: ActionContext, model: WorkerModel, runner: Runner) {
  const { document, facts, worker, base, shown, attempt, refusedByRun } = context;

  /** Measures a plan as a whole, by default the one in hand. */
  const verifyJointly = async (target?: Plan): Promise<void> => {
    const plan = target ?? document.getState().plan;
    if (plan) await runner.measureJointly(shown(), plan);
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
        checking: false, run: null, verifying: null, device: { status: 'absent', error: plain, device: 'none', isFallbackAdapter: false, checks: [], facts: {} },
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
      const { graph, modelSha256, recipe, data, extra } = of;
      if (!graph) return;
      const options = recipeOptions(recipe, of.options);
      const sites = only ?? coarseOrder(graph, recipe);
      const { ended } = await runner.run({
        kind: 'probe', what: recipeName(recipe, options), of, sites: sites.length, rounds: extra.leaveOneOut ? 2 : 1,
        prepare: async (api) => facts.setState({ openedData: await api.openData(data) }),
        measure: (api, runId, emit) => api.runProbe({ runId, modelSha256, recipe, options, extra, sites, data }, emit),
      });
      // What a left-out cell takes away is read against everything low.
      const now = shown();
      const allLow = allLowPlan(now);
      if (ended === 'finished' && extra.leaveOneOut && allLow && isSameKey(now.key, of.key) && allLowOf(now) === null) await verifyJointly(allLow);
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
    stop: () => runner.stop(),
  };
}
