/**
 * What the page shows: the facts, and out of all results those under the document's recipe and switches on the chosen
 * text. One immutable value, the same object as long as nothing of it changed.
 */
import { PASS_SCHEMES, type PassScheme, type PolicyOptions, type RecipeName, type SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import type { DocumentState, DocumentStore } from './document';
import { resultsKey, resultsUnder, type FactsState, type FactsStore, type ResultsKey } from './facts';
import { memo } from './memo';
import type { Results } from './results';

/** Isolated results of the other pass formats on the same text under the same switches, empty where nothing was measured. */
export type OtherResults = Readonly<Partial<Record<RecipeName, Results['sites']>>>;

export interface Shown extends FactsState, Results {
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  /** The second low format of plans, or null. */
  readonly second: PassScheme | null;
  readonly others: OtherResults;
  readonly key: ResultsKey;
  /** The site that a run is measuring of what is shown; a run of another recipe measures none here. */
  readonly measuring: SiteId | null;
}

export function isSameKey(a: ResultsKey, b: ResultsKey): boolean {
  return a.recipe === b.recipe && a.text === b.text;
}

const othersMemo = memo((schemes: string, ...found: Results['sites'][]): OtherResults => Object.fromEntries(schemes.split(' ').map((scheme, i) => [scheme, found[i]])), 16);
const NONE: OtherResults = {};

function othersOf(facts: FactsState, recipe: RecipeName, options: PolicyOptions): OtherResults {
  if (RECIPES[recipe].kind === 'out') return NONE;
  const schemes = PASS_SCHEMES.filter((scheme) => scheme !== recipe);
  return othersMemo(schemes.join(' '), ...schemes.map((scheme) => resultsUnder(facts, resultsKey(facts.data, scheme, options)).sites));
}

type Context = Pick<DocumentState, 'recipe' | 'options' | 'second'>;

function makeShown(facts: FactsState, recipe: RecipeName, options: PolicyOptions, second: PassScheme | null): Shown {
  const key = resultsKey(facts.data, recipe, options);
  const { run } = facts;
  return {
    ...facts, ...resultsUnder(facts, key), recipe, options, second, key, others: othersOf(facts, recipe, options),
    measuring: run !== null && isSameKey(run.key, key) ? run.measuring : null,
  };
}

const shownMemo = memo(makeShown, 4);
export function shownOf(facts: FactsState, { recipe, options, second = null }: Omit<Context, 'second'> & Partial<Context>): Shown {
  return shownMemo(facts, recipe, options, second);
}

// Apart from the one shown, so that a list of plans under many recipes never pushes that one out.
const underMemo = memo(makeShown, 32);

/** The same facts under another plan's recipe and switches; `shown` itself where they are the same. */
export function shownUnder(shown: Shown, { recipe, options, second }: Context): Shown {
  const isSame = recipe === shown.recipe && second === shown.second && JSON.stringify(options) === JSON.stringify(shown.options);
  return isSame ? shown : underMemo(shown, recipe, options, second);
}

/** The same of the stores as they are now. */
export function shownNow({ facts, document }: { readonly facts: FactsStore; readonly document: DocumentStore }): Shown {
  return shownOf(facts.getState(), document.getState());
}
