/**
 * Plans and their history across reloads: one localStorage entry a model, so opening another model never costs a plan.
 * The last few models are kept. What comes back is checked against the open graph before it is trusted: storage is
 * shared with every page of the origin, and an older build may have known other formats.
 */
import * as z from 'zod/mini';
import { toPlainError } from '../base/errors';
import type { Graph } from '../graph/types';
import { HISTORY_STEPS, openDocument, type DocumentState, type DocumentStore } from './document';
import { readKept, readKept2, writeKept } from './kept-plans';

export const KEPT_MODELS = 5;
/** Followed by the model's sha256. */
const DOCUMENT_KEY = 'bendscope-document/3/';
/** Of an earlier build, read where there is none of this one. */
const EARLIER_KEY = 'bendscope-document/2/';
/** Model hashes, the last edited first. */
const ORDER_KEY = 'bendscope-documents/2';

const orderSchema = z.array(z.string());

/** Restores what `keepDocument` wrote for this model. False if there is nothing, nothing that fits the graph, or no storage. */
export function restoreDocument(store: DocumentStore, graph: Graph, modelSha256: string, storage: Pick<Storage, 'getItem'>): boolean {
  try {
    const [text, earlier] = [storage.getItem(DOCUMENT_KEY + modelSha256), storage.getItem(EARLIER_KEY + modelSha256)];
    if (text === null && earlier === null) return false;
    const kept = text === null ? readKept2(earlier ?? '', modelSha256, graph) : readKept(text, modelSha256, graph);
    const { modelSha256: of, label, ...content } = kept.present;
    openDocument(store, content, of, label);
    store.temporal.setState({ pastStates: kept.past.slice(-HISTORY_STEPS), futureStates: [...kept.future] });
    return true;
  } catch {
    // Damaged, foreign or refused: a fresh plan is always right.
    return false;
  }
}

function readOrder(storage: Pick<Storage, 'getItem'>): string[] {
  try {
    return orderSchema.parse(JSON.parse(storage.getItem(ORDER_KEY) ?? '[]'));
  } catch {
    return [];
  }
}

export interface Keeper {
  /** Writes what still waits, at once: the page is about to go. */
  flush(): void;
  stop(): void;
}

/** Writes plan and history after every change; a full or missing storage only loses the copy, never the plan. */
export function keepDocument(store: DocumentStore, storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>, onSaved?: (kept: boolean) => void): Keeper {
  let waiting: ReturnType<typeof setTimeout> | null = null;
  const rest = (): void => {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
  };
  const write = (present: DocumentState): void => {
    rest();
    if (!present.plan) return;
    const { pastStates, futureStates } = store.temporal.getState();
    const text = writeKept({ present, past: pastStates, future: futureStates });
    try {
      const kept = [present.modelSha256, ...readOrder(storage).filter((sha) => sha !== present.modelSha256)];
      const remove = (sha: string): void => [DOCUMENT_KEY, EARLIER_KEY].forEach((key) => storage.removeItem(key + sha));
      for (const gone of kept.splice(KEPT_MODELS)) remove(gone);
      storage.removeItem(EARLIER_KEY + present.modelSha256);
      while (!storeText(storage, DOCUMENT_KEY + present.modelSha256, text)) {
        // The plan in hand comes before the plan of a model not opened for longest.
        const gone = kept.length > 1 ? kept.pop() : undefined;
        if (gone === undefined) throw new Error('full');
        remove(gone);
      }
      storage.setItem(ORDER_KEY, JSON.stringify(kept));
      onSaved?.(true);
    } catch {
      // Quota or a private window: the plan stays in memory.
      onSaved?.(false);
    }
  };
  const unsubscribe = store.subscribe((now, before) => {
    // Another model opens: its plan replaces this one before the pause is over. The history is still the old one here.
    if (waiting !== null && now.modelSha256 !== before.modelSha256) write(before);
    rest();
    waiting = setTimeout(() => write(store.getState()), 100);
  });
  return {
    flush() {
      if (waiting !== null) write(store.getState());
    },
    stop() {
      rest();
      unsubscribe();
    },
  };
}

/** Stores a text; false when the quota does not allow it, throws when the storage refuses for another reason. */
function storeText(storage: Pick<Storage, 'setItem'>, key: string, text: string): boolean {
  try {
    storage.setItem(key, text);
    return true;
  } catch (thrown) {
    if (toPlainError(thrown).name === 'QuotaExceededError') return false;
    throw thrown;
  }
}
