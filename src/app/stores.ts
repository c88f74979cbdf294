/**
 * The composition root of the page: the stores, the actions over them, and the worker, which starts after the first
 * paint and is made anew if it stops.
 */
import { connectWorker, type WorkerConnection } from '../bridge/worker-client';
import { browserIdle, createActions, createDocumentStore, createFactsStore, createViewStore, keepDocument, watchUnstable } from '../state';
import type { Workbench } from '../ui/workbench';

/** Null where the browser refuses storage (it throws on access). */
export function browserStorage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

export function createWorkbench(base: string): Workbench {
  const stores = { document: createDocumentStore(), facts: createFactsStore(), view: createViewStore() };
  const storage = browserStorage();
  let connection: WorkerConnection | null = null;
  const worker = (): Promise<WorkerConnection['api']> => {
    connection ??= connectWorker((error) => {
      connection = null;
      actions.workerStopped(error);
    });
    return Promise.resolve(connection.api);
  };
  const actions = createActions(stores, worker, base, storage);
  watchUnstable(stores, browserIdle());
  if (storage) {
    const keeper = keepDocument(stores.document, storage, (kept) => stores.view.setState({ saved: kept ? Date.now() : 'failed' }));
    window.addEventListener('pagehide', () => keeper.flush());
    // Heard only from other tabs: the last writer wins, so neither may be surprised by it.
    window.addEventListener('storage', (event) => {
      const { modelSha256 } = stores.document.getState();
      if (modelSha256 !== '' && event.key?.endsWith(modelSha256) === true) {
        actions.tell('Another tab is editing this plan too. After a reload the one that changed last is shown: export what you want to keep, and close one of them.');
      }
    });
  }
  return { ...stores, actions };
}
