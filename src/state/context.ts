/**
 * What the parts of the actions share: the stores, the way to the worker, and the two habits of every action. A failure
 * becomes a sticky notice with its code; what would mix results under a running measurement is refused in words.
 */
import { toPlainError } from '../base/errors';
import type { WorkerApi } from '../bridge/protocol';
import type { DocumentStore } from './document';
import { notify, notifyError, type FactsStore } from './facts';
import { shownNow, type Shown } from './shown';
import type { ViewStore } from './view';

export interface Stores {
  readonly document: DocumentStore;
  readonly facts: FactsStore;
  readonly view: ViewStore;
}

export interface ActionContext extends Stores {
  /** Comes late: the worker's script loads after the first paint, and is made anew if it stops. */
  readonly worker: () => Promise<WorkerApi>;
  /** The page's address, ending in `/`. */
  readonly base: string;
  readonly storage: Pick<Storage, 'getItem'> | null;
  /** What the page shows now. */
  shown(): Shown;
  /** The value, or null and a notice. */
  attempt<T>(run: () => Promise<T>): Promise<T | null>;
  /** True, and a notice with what is refused, while a measurement runs. */
  refusedByRun(what: string): boolean;
}

export function createContext(stores: Stores, worker: ActionContext['worker'], base: string, storage: ActionContext['storage']): ActionContext {
  const { facts } = stores;
  return {
    ...stores, worker, base, storage,
    shown: () => shownNow(stores),
    async attempt(run) {
      try {
        return await run();
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return null;
      }
    },
    refusedByRun(what) {
      if (facts.getState().run === null) return false;
      notify(facts, { kind: 'warning', name: '', message: `A measurement is running, so ${what}.`, hint: 'Stop it first, or wait for its end.' });
      return true;
    },
  };
}
