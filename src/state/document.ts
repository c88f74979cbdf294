/**
 * The document: the plan a person edits, and nothing else. It alone has a history (200 steps, one a gesture). Results
 * and view state live in their own stores (structure.md 5); kept-documents.ts keeps it across reloads.
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

/** Begins with a plan that is no undo step: a model was opened. */
export function openDocument(store: DocumentStore, plan: Plan, modelSha256: string): void {
  const { pause, resume, clear } = store.temporal.getState();
  pause();
  store.setState({ plan, modelSha256, label: '' });
  resume();
  clear();
}
