/**
 * The document: the plan a person edits, and nothing else. It alone has a history (200 steps, one a gesture), kept
 * across reloads. Results and view state live in their own stores (structure.md 5).
 */
import { temporal } from 'zundo';
import { createStore } from 'zustand/vanilla';
import type { Plan } from '../allocate/plan';

export interface DocumentState {
  /** Null until a model is open. */
  readonly plan: Plan | null;
  /** Of which model the plan is: sha256. */
  readonly modelSha256: string;
  /** What the last gesture did, for the undo tooltip: "paint 5 cells to BF16". */
  readonly label: string;
}

export const HISTORY_STEPS = 200;
const STORAGE_KEY = 'bendscope-document/1';
const EMPTY: DocumentState = { plan: null, modelSha256: '', label: '' };

export function createDocumentStore() {
  return createStore<DocumentState>()(temporal(() => EMPTY, { limit: HISTORY_STEPS, equality: (a, b) => a.plan === b.plan }));
}
export type DocumentStore = ReturnType<typeof createDocumentStore>;

/** One gesture: one undo step. */
export function commit(store: DocumentStore, plan: Plan, label: string): void {
  if (plan === store.getState().plan) return;
  store.setState({ plan, label });
}

/** What undo would take back and redo would do, or null. */
export function undoLabel(store: DocumentStore): string | null {
  return store.temporal.getState().pastStates.length > 0 ? store.getState().label : null;
}
export function redoLabel(store: DocumentStore): string | null {
  return store.temporal.getState().futureStates.at(-1)?.label ?? null;
}

interface Saved {
  readonly present: DocumentState;
  readonly past: readonly Partial<DocumentState>[];
  readonly future: readonly Partial<DocumentState>[];
}

/** Begins with a plan that is no undo step: a model was opened. */
export function openDocument(store: DocumentStore, plan: Plan, modelSha256: string): void {
  const { pause, resume, clear } = store.temporal.getState();
  pause();
  store.setState({ plan, modelSha256, label: '' });
  resume();
  clear();
}

/** Restores what `keepDocument` wrote, if it is of this model. False otherwise, or if storage is not to be had. */
export function restoreDocument(store: DocumentStore, modelSha256: string, storage: Pick<Storage, 'getItem'>): boolean {
  try {
    const saved = JSON.parse(storage.getItem(STORAGE_KEY) ?? 'null') as Saved | null;
    if (!saved?.present.plan || saved.present.modelSha256 !== modelSha256) return false;
    openDocument(store, saved.present.plan, modelSha256);
    store.setState({ label: saved.present.label });
    store.temporal.setState({ pastStates: [...saved.past], futureStates: [...saved.future] });
    return true;
  } catch {
    return false;
  }
}

export interface Keeper {
  /** Writes what still waits, at once: the page is about to go. */
  flush(): void;
  stop(): void;
}

/** Writes plan and history after every change; a full or missing storage only loses the copy, never the plan. */
export function keepDocument(store: DocumentStore, storage: Pick<Storage, 'setItem'>, onSaved?: (kept: boolean) => void): Keeper {
  let waiting: ReturnType<typeof setTimeout> | null = null;
  const write = (): void => {
    waiting = null;
    const { pastStates, futureStates } = store.temporal.getState();
    const saved: Saved = { present: store.getState(), past: pastStates, future: futureStates };
    try {
      storage.setItem(STORAGE_KEY, JSON.stringify(saved));
      onSaved?.(true);
    } catch {
      // Quota or a private window: the plan stays in memory.
      onSaved?.(false);
    }
  };
  const stop = store.subscribe(() => {
    if (waiting !== null) clearTimeout(waiting);
    waiting = setTimeout(write, 100);
  });
  return {
    flush() {
      if (waiting === null) return;
      clearTimeout(waiting);
      write();
    },
    stop,
  };
}
