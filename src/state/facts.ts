/**
 * Facts: what was measured and what the worker said. Only added to, never edited; plans refer to them by site id.
 * What a message of a run makes of the results is said in results.ts; here they are kept, put aside and brought back.
 */
import { createStore } from 'zustand/vanilla';
import type { PlainError } from '../base/errors';
import type { DataSpec, DeviceReport, OpenedData } from '../bridge/protocol';
import type { ProbeRecord } from '../graph/probe-record';
import type { Graph } from '../graph/types';
import type { PassScheme, PolicyOptions, SiteId } from '../graph/policy';
import { NO_RESULTS, resultsOf, storedResults, type Results } from './results';

export interface RunState {
  readonly kind: 'probe' | 'joint';
  readonly runId: string;
  readonly status: 'running' | 'paused';
  readonly phase: string;
  readonly measuring: SiteId | null;
  readonly done: number;
  readonly total: number;
  readonly startedAtMs: number;
  readonly plannedBytes: number | null;
}

export interface Notice {
  readonly id: number;
  readonly kind: 'error' | 'warning' | 'info';
  /** Stable code for errors, empty for plain notices. */
  readonly name: string;
  readonly message: string;
  readonly hint: string;
}

/** `Results` are those under the chosen switches on the chosen text. */
export interface FactsState extends Results {
  readonly graph: Graph | null;
  readonly modelName: string;
  readonly modelSha256: string;
  /** Null while the check runs. */
  readonly device: DeviceReport | null;
  readonly checking: boolean;
  readonly recipe: PassScheme;
  readonly options: PolicyOptions;
  readonly data: DataSpec;
  readonly openedData: OpenedData | null;
  /** Results under other recipe switches or on other text, by resultsKey; switching back brings them back. */
  readonly shelved: Readonly<Record<string, Results>>;
  readonly run: RunState | null;
  readonly lastRun: string;
  /** Bytes a run on the chosen data will hold on the device; null until known. */
  readonly plannedBytes: number | null;
  readonly notices: readonly Notice[];
}

export const DEFAULT_DATA: DataSpec = { source: 'moby-dick', batches: 4, sequences: 4, tokens: 128, seed: 1 };

export function createFactsStore() {
  return createStore<FactsState>()(() => ({
    graph: null, modelName: '', modelSha256: '', device: null, checking: true, recipe: 'nvfp4', options: {}, data: DEFAULT_DATA, openedData: null,
    ...NO_RESULTS, shelved: {}, run: null, lastRun: '', plannedBytes: null, notices: [],
  }));
}
export type FactsStore = ReturnType<typeof createFactsStore>;

/** Opens a model's facts, with the stored example if there is one. */
export function openFacts(store: FactsStore, graph: Graph, modelName: string, modelSha256: string, stored: ProbeRecord | null): void {
  store.setState({
    graph, modelName, modelSha256, ...(stored ? { ...storedResults(stored), recipe: stored.recipe, options: stored.options } : NO_RESULTS),
    shelved: {}, plannedBytes: null,
  });
}

function resultsKey({ options, data }: Pick<FactsState, 'options' | 'data'>): string {
  return JSON.stringify([options.weights1d === true, data]);
}

/**
 * Changes recipe switches or text. An angle measured under other ones must not stand beside the new plan, so results
 * are put aside; the reference's own figures (floor, losses) do not depend on the switches and stay.
 */
export function switchResults(store: FactsStore, change: Partial<Pick<FactsState, 'options' | 'data'>>): void {
  store.setState((s) => {
    const key = resultsKey({ ...s, ...change });
    if (key === resultsKey(s)) return change;
    const { floor, referenceLoss, provenance } = s;
    const isSameText = change.data === undefined || JSON.stringify(change.data) === JSON.stringify(s.data);
    const fresh = isSameText ? { ...NO_RESULTS, floor, referenceLoss, provenance } : NO_RESULTS;
    return { ...change, ...(s.shelved[key] ?? fresh), ...(isSameText ? {} : { plannedBytes: null }), shelved: { ...s.shelved, [resultsKey(s)]: resultsOf(s) } };
  });
}

/** Changes the results by one of the functions of results.ts. */
export function changeResults(store: FactsStore, change: (results: Results) => Partial<Results>): void {
  store.setState((s) => change(s));
}

let noticeId = 0;
/** Sticky: stays until dismissed (ux.md A5). */
export function notify(store: FactsStore, notice: Omit<Notice, 'id'>): void {
  noticeId += 1;
  const id = noticeId;
  store.setState((s) => ({ notices: [...s.notices.filter((n) => n.message !== notice.message), { ...notice, id }].slice(-5) }));
}
export function notifyError(store: FactsStore, error: PlainError): void {
  notify(store, { kind: 'error', name: error.name, message: error.message, hint: error.hint });
}
export function dismiss(store: FactsStore, id: number): void {
  store.setState((s) => ({ notices: s.notices.filter((n) => n.id !== id) }));
}
