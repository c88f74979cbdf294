/**
 * Which model the worker holds. It holds one, and whichever opening ends last is it; so all openings stand in one queue,
 * and the page remembers the hash of the last one that succeeded. Before anything is computed the two are compared: a
 * figure of another model must never stand in the grid.
 */
import { BendscopeError } from '../base/errors';
import type { ModelSource, OpenedModel, WorkerApi } from '../bridge/protocol';
import type { ActionContext } from './context';

export interface WorkerModel {
  /** A model asked for by the user is being opened. */
  isOpening(): boolean;
  /** Opens a model and, in the same turn, shows it. Throws the worker's errors; then the model held before is still held. */
  open(source: ModelSource, show: (model: OpenedModel) => void): Promise<void>;
  /** The stored example is shown: the worker gets its model only once it is needed. */
  showStored(): void;
  /**
   * Resolves when the worker holds the model that the page shows. Throws E-RUN-04 when it lost dropped files, E-RUN-05
   * when the built-in files are not those that the page shows.
   */
  ensure(api: WorkerApi): Promise<void>;
  /** The worker is gone, or holds another model than thought. */
  forget(): void;
}

export function createWorkerModel({ facts, worker }: Pick<ActionContext, 'facts' | 'worker'>): WorkerModel {
  let turn: Promise<unknown> = Promise.resolve();
  let opening = 0;
  let held: string | null = null;
  let isBuiltIn = true;

  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const next = turn.then(run);
    turn = next.catch(() => undefined);
    return next;
  }

  return {
    isOpening: () => opening > 0,
    async open(source, show) {
      opening += 1;
      try {
        await inTurn(async () => {
          const model = await (await worker()).openModel(source);
          held = model.modelSha256;
          isBuiltIn = source.kind === 'built-in';
          show(model);
        });
      } finally {
        opening -= 1;
      }
    },
    showStored() {
      isBuiltIn = true;
    },
    ensure(api) {
      return inTurn(async () => {
        // Read in turn: a drop that stood before this one has changed what the page shows.
        const { modelName, modelSha256 } = facts.getState();
        if (held === modelSha256) return;
        if (!isBuiltIn) throw new BendscopeError('E-RUN-04', `${modelName}: the measuring worker was started anew and no longer holds this model.`, 'Drop its files again; the plan and all results are kept.');
        held = (await api.openModel({ kind: 'built-in', name: modelName })).modelSha256;
        if (held !== modelSha256) throw new BendscopeError('E-RUN-05', `${modelName}: expected the model that the page shows (${modelSha256}), got ${held}.`, 'Reload the page; if that does not help, run npm run build again.');
      });
    },
    forget() {
      held = null;
    },
  };
}
