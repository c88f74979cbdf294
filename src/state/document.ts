/**
 * The document: the recipe with its switches, and the plan a person edits. It alone has a history (200 steps, one a
 * gesture). Each recipe has a plan of its own, so switching there and back changes no cell. Results and view state live
 * in their own stores (structure.md 5); kept-documents.ts keeps it across reloads.
 */
import { temporal } from 'zundo';
import { createStore } from 'zustand/vanilla';
import type { Plan } from '../allocate/plan';
import type { PolicyOptions, RecipeName } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';

/** What a recipe that was left keeps for the way back. */
export interface LeftRecipe {
  readonly plan: Plan;
  readonly options: PolicyOptions;
}

export interface DocumentState {
  readonly recipe: RecipeName;
  /** Switches of the recipe, those at their default left out (graph/recipes recipeOptions). */
  readonly options: PolicyOptions;
  /** The recipe's plan; null until a model is open. */
  readonly plan: Plan | null;
  /** Plans and switches of the other recipes that were looked at. */
  readonly left: Readonly<Partial<Record<RecipeName, LeftRecipe>>>;
  /** Of which model the plans are: sha256. */
  readonly modelSha256: string;
  /** What the last gesture did, for the undo tooltip: "paint 5 cells to BF16". */
  readonly label: string;
}

/** What a gesture can change. */
export type DocumentContent = Pick<DocumentState, 'recipe' | 'options' | 'plan' | 'left'>;

export const HISTORY_STEPS = 200;
const EMPTY: DocumentState = { recipe: 'nvfp4', options: {}, plan: null, left: {}, modelSha256: '', label: '' };

const isSame = (a: DocumentState, b: DocumentState): boolean => a.plan === b.plan && a.recipe === b.recipe && a.options === b.options;

export function createDocumentStore() {
  return createStore<DocumentState>()(temporal(() => EMPTY, { limit: HISTORY_STEPS, equality: isSame }));
}
export type DocumentStore = ReturnType<typeof createDocumentStore>;

/** One gesture: one undo step; none if it changes nothing. */
export function commit(store: DocumentStore, change: Partial<DocumentContent>, label: string): void {
  const before = store.getState();
  if (!isSame(before, { ...before, ...change })) store.setState({ ...change, label });
}

/**
 * The document with another recipe or other switches. The recipe that is left keeps its plan and switches; one that was
 * left before gets its plan back. `fresh` is the plan of a recipe that was never looked at.
 */
export function withRecipe(state: DocumentState, recipe: RecipeName, options: PolicyOptions, fresh: (from: Plan) => Plan): DocumentContent {
  const { plan, left } = state;
  const known = recipe === state.recipe ? plan : left[recipe]?.plan;
  const next = recipeOptions(recipe, options);
  const isSameOptions = recipe === state.recipe && JSON.stringify(next) === JSON.stringify(state.options);
  return {
    recipe,
    options: isSameOptions ? state.options : next,
    plan: known ?? (plan === null ? null : fresh(plan)),
    left: recipe === state.recipe || plan === null ? left : { ...left, [state.recipe]: { plan, options: state.options } },
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
