/**
 * Facts: what was measured and what the worker said. Only added to, never edited; plans refer to them by site id.
 * A cell is either stored (came with the app, measured elsewhere) or measured here; `measuredHere` tells which.
 */
import { createStore } from 'zustand/vanilla';
import type { PlainError } from '../base/errors';
import type { DataSpec, DeviceReport, OpenedData } from '../bridge/protocol';
import type { JointResult, NoiseFloor, ProbeRecord, Provenance, SiteResult } from '../graph/probe-record';
import type { Graph } from '../graph/types';
import type { PassScheme, PolicyOptions, SiteId } from '../graph/policy';

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

export interface FactsState {
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
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
  readonly measuredHere: ReadonlySet<SiteId>;
  readonly floor: NoiseFloor | null;
  readonly referenceLoss: readonly number[];
  /** Of the newest results; of the stored example until a run starts. */
  readonly provenance: Provenance | null;
  /** Where the stored cells were measured; null when the model has no stored example. */
  readonly storedProvenance: Provenance | null;
  /** Joint results by plan hash. */
  readonly joint: Readonly<Record<string, JointResult>>;
  /** Results under other recipe switches or on other text, by resultsKey; switching back brings them back. */
  readonly shelved: Readonly<Record<string, Results>>;
  readonly run: RunState | null;
  readonly lastRun: string;
  /** Bytes a run on the chosen data will hold on the device; null until known. */
  readonly plannedBytes: number | null;
  readonly notices: readonly Notice[];
}

/** What holds only under one set of recipe switches and on one text. */
export type Results = Pick<FactsState, 'sites' | 'measuredHere' | 'floor' | 'referenceLoss' | 'provenance' | 'joint'>;

export const DEFAULT_DATA: DataSpec = { source: 'moby-dick', batches: 4, sequences: 4, tokens: 128, seed: 1 };

export function createFactsStore() {
  return createStore<FactsState>()(() => ({
    graph: null, modelName: '', modelSha256: '', device: null, checking: true, recipe: 'nvfp4', options: {}, data: DEFAULT_DATA, openedData: null,
    sites: {}, measuredHere: new Set<SiteId>(), floor: null, referenceLoss: [], provenance: null, storedProvenance: null, joint: {}, shelved: {},
    run: null, lastRun: '', plannedBytes: null, notices: [],
  }));
}
export type FactsStore = ReturnType<typeof createFactsStore>;

/** Opens a model's facts, with the stored example if there is one. */
export function openFacts(store: FactsStore, graph: Graph, modelName: string, modelSha256: string, stored: ProbeRecord | null): void {
  store.setState({
    graph, modelName, modelSha256,
    sites: stored?.sites ?? {}, measuredHere: new Set(), floor: stored?.floor ?? null, referenceLoss: stored?.referenceLoss ?? [],
    provenance: stored?.provenance ?? null, storedProvenance: stored?.provenance ?? null, joint: stored?.joint ?? {},
    ...(stored ? { recipe: stored.recipe, options: stored.options } : {}),
    shelved: {}, run: null, plannedBytes: null,
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
    const { sites, measuredHere, floor, referenceLoss, provenance, joint } = s;
    const kept: Results = { sites, measuredHere, floor, referenceLoss, provenance, joint };
    const empty: Results = { sites: {}, measuredHere: new Set(), floor: null, referenceLoss: [], provenance: null, joint: {} };
    const fresh = change.data === undefined ? { ...empty, floor, referenceLoss, provenance } : empty;
    return { ...change, ...(s.shelved[key] ?? fresh), ...(change.data === undefined ? {} : { plannedBytes: null }), shelved: { ...s.shelved, [resultsKey(s)]: kept } };
  });
}

export function addSite(store: FactsStore, site: SiteId, result: SiteResult): void {
  store.setState((s) => ({ sites: { ...s.sites, [site]: result }, measuredHere: new Set([...s.measuredHere, site]) }));
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
