/**
 * What the page shows: the facts, and out of all results those under the document's recipe and switches on the chosen
 * text. One immutable value, the same object as long as nothing of it changed.
 */
import type { PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import type { DocumentState, DocumentStore } from './document';
import { resultsKey, resultsUnder, type FactsState, type FactsStore, type ResultsKey } from './facts';
import { memo } from './memo';
import type { Results } from './results';

export interface Shown extends FactsState, Results {
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly key: ResultsKey;
  /** The site that a run is measuring of what is shown; a run of another recipe measures none here. */
  readonly measuring: SiteId | null;
}

export function isSameKey(a: ResultsKey, b: ResultsKey): boolean {
  return a.recipe === b.recipe && a.text === b.text;
}

const shownMemo = memo((facts: FactsState, recipe: RecipeName, options: PolicyOptions): Shown => {
  const key = resultsKey(facts.data, recipe, options);
  const { run } = facts;
  return { ...facts, ...resultsUnder(facts, key), recipe, options, key, measuring: run !== null && isSameKey(run.key, key) ? run.measuring : null };
}, 4);

export function shownOf(facts: FactsState, { recipe, options }: Pick<DocumentState, 'recipe' | 'options'>): Shown {
  return shownMemo(facts, recipe, options);
}

/** The same of the stores as they are now. */
export function shownNow({ facts, document }: { readonly facts: FactsStore; readonly document: DocumentStore }): Shown {
  return shownOf(facts.getState(), document.getState());
}
