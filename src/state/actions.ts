/**
 * Everything that has an effect: talks to the worker, changes the stores, answers gestures. UI components call these and
 * hold no logic of their own. Assembled from parts, by what an action touches: what is open, a run, the plan, files.
 */
import { toPlainError } from '../base/errors';
import { createContext, type ActionContext, type Stores } from './context';
import { dismiss, notify, notifyError } from './facts';
import { createCostActions } from './cost-actions';
import { createExportActions } from './export-actions';
import { createHowMuchActions } from './how-much-actions';
import { createOpenActions } from './open-actions';
import { createPlanActions } from './plan-actions';
import { createRecipeActions } from './recipe-actions';
import { createRunActions } from './run-actions';
import { createRunner } from './runner';
import { createSavedActions } from './saved-actions';
import { createTransferActions } from './transfer-actions';
import { createVerifyActions } from './verify-actions';
import { createWorkerModel } from './worker-model';

export type Actions = ReturnType<typeof createActions>;

/** `worker` comes late (its script loads after the first paint); `base` is the page's address, ending in `/`. */
export function createActions(stores: Stores, worker: ActionContext['worker'], base: string, storage: ActionContext['storage']) {
  const context = createContext(stores, worker, base, storage);
  const model = createWorkerModel(context);
  const runner = createRunner(context, model);
  const { facts } = stores;
  return {
    ...createOpenActions(context, model),
    ...createRunActions(context, model, runner),
    ...createRecipeActions(context),
    ...createPlanActions(context),
    ...createSavedActions(context),
    ...createCostActions(context),
    ...createHowMuchActions(context, runner),
    ...createVerifyActions(context, runner),
    ...createExportActions(context),
    ...createTransferActions(context),

    dismiss(id: number): void {
      dismiss(facts, id);
    },
    tell(message: string): void {
      notify(facts, { kind: 'info', name: '', message, hint: '' });
    },
    /** A fault found on the page itself (a dropped file that is not one of ours). */
    fault(thrown: unknown): void {
      notifyError(facts, toPlainError(thrown));
    },
  };
}
