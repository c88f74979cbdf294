/**
 * The document: the recipe with its switches and second format, the plan a person edits, and the plans put aside. It alone
 * has a history (200 steps, one a gesture). Each recipe has a plan of its own, so switching there and back changes no cell.
 * Results and view state live in their own stores (structure.md 5); kept-documents.ts keeps it across reloads.
 */
import { temporal } from 'zundo';
import { createStore } from 'zustand/vanilla';
import type { Plan } from '../allocate/plan';
import type { PassScheme, PolicyOptions, RecipeName } from '../graph/policy';
import { schemeOptions } from '../graph/recipes';
import { nextNumber, withBranch, type SavedPlan } from './saved-plans';

/** What a recipe that was left keeps for the way back. */
export interface LeftRecipe {
  readonly plan: Plan;
  readonly options: PolicyOptions;
  readonly second: PassScheme | null;
}

export interface DocumentState {
  readonly recipe: RecipeName;
  /** Switches of the recipe and of the second format, those at their default left out (`documentOptions`). */
  readonly options: PolicyOptions;
  /** A second low format that solver and brushes may use, never the recipe itself; of passes only. */
  readonly second: PassScheme | null;
  /** The recipe's plan; null until a model is open. */
  readonly plan: Plan | null;
  /** Plans and switches of the other recipes that were looked at. */
  readonly left: Readonly<Partial<Record<RecipeName, LeftRecipe>>>;
  /** Plans put aside, in the order in which they were. */
  readonly saved: readonly SavedPlan[];
  /** Of which model the plans are: sha256. */
  readonly modelSha256: string;
  /** What the last gesture did, for the undo tooltip: "paint 5 cells to BF16". */
  readonly label: string;
}

/** What a gesture can change. */
export type DocumentContent = Pick<DocumentState, 'recipe' | 'options' | 'second' | 'plan' | 'left' | 'saved'>;

export const HISTORY_STEPS = 200;
const EMPTY: DocumentState = { recipe: 'nvfp4', options: {}, second: null, plan: null, left: {}, saved: [], modelSha256: '', label: '' };

const isSame = (a: DocumentState, b: DocumentState): boolean =>
  a.plan === b.plan && a.recipe === b.recipe && a.options === b.options && a.second === b.second && a.saved === b.saved;

export function createDocumentStore() {
  return createStore<DocumentState>()(temporal(() => EMPTY, { limit: HISTORY_STEPS, equality: isSame }));
}
export type DocumentStore = ReturnType<typeof createDocumentStore>;

/**
 * One gesture: one undo step; none if it changes nothing. After an undo it forks the history: what redo would have led to
 * is put aside as a plan "before ..." in the same step, so that no edit is ever lost (ux.md 3.8).
 */
export function commit(store: DocumentStore, change: Partial<DocumentContent>, label: string): void {
  const before = store.getState();
  const next = { ...before, ...change };
  if (isSame(before, next)) return;
  const [tip] = store.temporal.getState().futureStates;
  // A plan that was there before the edit and is not afterwards was deleted by it, not lost with the branch.
  const lost = tip?.saved?.filter(({ id }) => !before.saved.some((known) => known.id === id)) ?? [];
  const saved = tip === undefined ? next.saved : withBranch(next, { ...tip, saved: lost }, `before ${label}`, numberOf(store));
  store.setState({ ...change, saved, label });
}

/** The next free number of a saved plan, over the document and its history. */
export function numberOf(store: DocumentStore): number {
  const { pastStates, futureStates } = store.temporal.getState();
  return nextNumber([store.getState(), ...pastStates, ...futureStates].map(({ saved = [] }) => saved));
}

/** The options that a recipe and its second format read. */
export function documentOptions(recipe: RecipeName, second: PassScheme | null, options: PolicyOptions): PolicyOptions {
  return schemeOptions(second === null ? [recipe] : [recipe, second], options);
}

/**
 * The document with another recipe or other switches. The recipe that is left keeps its plan, switches and second format;
 * one that was left before gets its plan back. `fresh` is the plan of a recipe that was never looked at.
 */
export function withRecipe(state: DocumentState, recipe: RecipeName, options: PolicyOptions, fresh: (from: Plan) => Plan): DocumentContent {
  const { plan, left, saved } = state;
  const isHere = recipe === state.recipe;
  const known = isHere ? plan : left[recipe]?.plan;
  const second = isHere ? state.second : (left[recipe]?.second ?? null);
  const next = documentOptions(recipe, second, options);
  const isSameOptions = isHere && JSON.stringify(next) === JSON.stringify(state.options);
  return {
    recipe,
    options: isSameOptions ? state.options : next,
    second,
    plan: known ?? (plan === null ? null : fresh(plan)),
    left: isHere || plan === null ? left : { ...left, [state.recipe]: { plan, options: state.options, second: state.second } },
    saved,
  };
}

/** What undo would take back and redo would do, or null. */
export function undoLabel(store: DocumentStore): string | null {
  return store.temporal.getState().pastStates.length > 0 ? store.getState().label : null;
}
export function redoLabel(store: DocumentStore): string | null {
  return store.temporal.getState().futureStates.at(-1)?.label ?? null;
}

/** Begins with contents that are no undo step: a model was opened. */
export function openDocument(store: DocumentStore, content: Partial<DocumentContent>, modelSha256: string, label = ''): void {
  const { pause, resume, clear } = store.temporal.getState();
  pause();
  store.setState({ ...EMPTY, ...content, modelSha256, label });
  resume();
  clear();
}
