/**
 * Facts: what was measured and what the worker said. Only added to, never edited; plans refer to them by site id.
 * Results are kept by text, and there by recipe with its switches, so that what is measured under one is never mixed with
 * another and recipes can be compared; what a message of a run makes of them is said in results.ts.
 */
import { createStore } from 'zustand/vanilla';
import type { PlainError } from '../base/errors';
import type { DataSpec, DeviceReport, ExtraMeasures, OpenedData } from '../bridge/protocol';
import type { ProbeRecord } from '../graph/probe-record';
import { recipeOptions } from '../graph/recipes';
import type { Graph } from '../graph/types';
import type { PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import { memo } from './memo';
import type { HowMuchState } from './how-much-state';
import { NO_RESULTS, referenceOnly, storedResults, type Results } from './results';

/** Where results stand: of which text, recipe and switches. */
export interface ResultsKey {
  readonly text: string;
  readonly recipe: string;
}

export interface RunState {
  readonly kind: 'probe' | 'joint';
  /** What is measured, by its name: the recipe, or the plan with its place among several. */
  readonly what: string;
  readonly runId: string;
  readonly status: 'running' | 'paused';
  readonly phase: string;
  /** The recipe that is measured, and where its results go: another one may be looked at meanwhile. */
  readonly recipe: RecipeName;
  readonly key: ResultsKey;
  readonly measuring: SiteId | null;
  /** What is done to the sites: each alone low, then, if asked for, each left out of everything low. */
  readonly part: 'isolated' | 'leave-one-out';
  /** How many times each site is measured: 2 with cells left out. `done` and `total` count over both. */
  readonly rounds: 1 | 2;
  readonly done: number;
  readonly total: number;
  readonly startedAtMs: number;
}

export interface Notice {
  readonly id: number;
  readonly kind: 'error' | 'warning' | 'info';
  /** Stable code for errors, empty for plain notices. */
  readonly name: string;
  readonly message: string;
  readonly hint: string;
  /** The step of the document that this notice offers to take back, by its label (`undoNotice`). */
  readonly undoes?: string;
}

/** Decisions that flip within noise (ux.md 3.1). */
export interface UnstableState {
  /** Of exactly this plan and what it was bought by. */
  readonly ofHash: string;
  /** Cells that took another format in some solve, with how many of SOLVES they did. */
  readonly flips: ReadonlyMap<SiteId, number>;
}

export interface FactsState {
  readonly graph: Graph | null;
  readonly modelName: string;
  readonly modelSha256: string;
  /** Null while the check runs. */
  readonly device: DeviceReport | null;
  readonly checking: boolean;
  readonly data: DataSpec;
  readonly openedData: OpenedData | null;
  /** What a probe measures beside isolated cells. */
  readonly extra: ExtraMeasures;
  /** By text, then by recipe with its switches. */
  readonly results: Readonly<Record<string, Readonly<Record<string, Results>>>>;
  readonly run: RunState | null;
  /** Of plans measured one after the other: how many are done, the failed ones too; null while none are. */
  readonly verifying: { readonly done: number; readonly total: number } | null;
  readonly lastRun: string;
  readonly notices: readonly Notice[];
  /** The newest search for how much is needed; null before the first. */
  readonly howMuch: HowMuchState | null;
  /** Null while it is not known: the plan or its evidence has just changed. */
  readonly unstable: UnstableState | null;
}

const DEFAULT_DATA: DataSpec = { source: 'moby-dick', batches: 4, sequences: 4, tokens: 128, seed: 1 };

export function createFactsStore() {
  return createStore<FactsState>()(() => ({
    graph: null, modelName: '', modelSha256: '', device: null, checking: true, data: DEFAULT_DATA, openedData: null,
    extra: { persistent: false, leaveOneOut: false }, results: {}, run: null, verifying: null, lastRun: '', notices: [], howMuch: null, unstable: null,
  }));
}
export type FactsStore = ReturnType<typeof createFactsStore>;

/** Opens a model's facts. */
export function openFacts(store: FactsStore, graph: Graph, modelName: string, modelSha256: string): void {
  store.setState({ graph, modelName, modelSha256, results: {}, howMuch: null, unstable: null });
}

// A text of one's own may be long, so its key is made once.
const textKey = memo(({ source, text, batches, sequences, tokens, seed }: DataSpec) => JSON.stringify([source, text ?? '', batches, sequences, tokens, seed]), 4);
const keyMemo = memo((data: DataSpec, recipe: RecipeName, options: PolicyOptions): ResultsKey => ({ text: textKey(data), recipe: JSON.stringify([recipe, recipeOptions(recipe, options)]) }), 16);

export function resultsKey(data: DataSpec, recipe: RecipeName, options: PolicyOptions): ResultsKey {
  return keyMemo(data, recipe, options);
}

/** Which recipe and switches a key stands for. */
export function recipeOfKey(recipe: string): readonly [RecipeName, PolicyOptions] {
  return JSON.parse(recipe) as [RecipeName, PolicyOptions];
}

const freshMemo = memo((known: Readonly<Record<string, Results>> | undefined): Results => {
  const other = Object.values(known ?? {}).find(({ floor }) => floor !== null);
  return other ? referenceOnly(other) : NO_RESULTS;
});

/** The results under a key; where nothing was measured yet, what the same text's reference already says. */
export function resultsUnder({ results }: Pick<FactsState, 'results'>, { text, recipe }: ResultsKey): Results {
  return results[text]?.[recipe] ?? freshMemo(results[text]);
}

/** Changes the results under a key by one of the functions of results.ts. */
export function changeResults(store: FactsStore, key: ResultsKey, change: (results: Results) => Partial<Results>): void {
  store.setState((s) => {
    const before = resultsUnder(s, key);
    return { results: { ...s.results, [key.text]: { ...s.results[key.text], [key.recipe]: { ...before, ...change(before) } } } };
  });
}

/** The text of a stored example, as the page would ask for it. */
export function storedData({ provenance: { batches, sequences, tokens, seed } }: ProbeRecord): DataSpec {
  return { ...DEFAULT_DATA, batches, sequences, tokens, seed };
}

/** Adds a stored example of the open model, unless its recipe was measured here meanwhile. */
export function addStored(store: FactsStore, record: ProbeRecord): void {
  const { modelSha256, results } = store.getState();
  const key = resultsKey(storedData(record), record.recipe, record.options);
  if (record.provenance.modelSha256 === modelSha256 && results[key.text]?.[key.recipe] === undefined) changeResults(store, key, () => storedResults(record));
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
