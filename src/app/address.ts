/**
 * What is looked at, in the address: `#recipe=fp8-out&fill=persistent`, so that a view can be bookmarked and sent. Defaults
 * are left out. A shared plan (allocate/share-link) is another kind of fragment; once opened it gives way to this one.
 */
import type { PolicyOptions, RecipeName } from '../graph/policy';
import { findRecipe } from '../graph/recipes';
import { FILLS, recipeId, type Fill } from '../state';
import type { Workbench } from '../ui/workbench';

interface Looked {
  /** Options are null where the address names none: those the recipe had. */
  readonly recipe: { readonly recipe: RecipeName; readonly options: PolicyOptions | null } | null;
  readonly fill: Fill | null;
}

/** The fragment, `#` included, or '' for what the page opens with. */
export function addressOf(recipe: RecipeName, options: PolicyOptions, fill: Fill): string {
  const name = recipeId(recipe, options);
  const values = new URLSearchParams({ ...(name === 'nvfp4' ? {} : { recipe: name }), ...(fill === 'isolated' ? {} : { fill: fill }) }).toString();
  return values === '' ? '' : `#${values}`;
}

/** What a fragment asks to look at; what it says wrongly is left out. */
export function readAddress(fragment: string): Looked {
  const found = new URLSearchParams(fragment.replace(/^#/, ''));
  const name = found.get('recipe') ?? '';
  const recipe = findRecipe(name);
  return { recipe: recipe && { recipe: recipe.recipe, options: name === recipe.recipe ? null : recipe.options }, fill: FILLS.find((fill) => fill === found.get('fill')) ?? null };
}

/** Looks at what the address says: a shared plan, or recipe and fill. */
export function openAddress({ actions, view }: Workbench): void {
  if (location.hash.length < 2 || actions.openLink(location.hash)) return;
  const { recipe, fill } = readAddress(location.hash);
  if (recipe) actions.setRecipe(recipe.recipe, recipe.options);
  if (fill) view.setState({ fill });
}

/** Keeps the address at what is looked at; a plan that was opened from it must not be opened again by a reload. */
export function keepAddress({ document, view }: Workbench): void {
  const address = (): string => {
    const { recipe, options } = document.getState();
    return addressOf(recipe, options, view.getState().fill);
  };
  let written: string | null = null;
  const write = (): void => {
    const next = address();
    if (next === written) return;
    written = next;
    history.replaceState(null, '', `${location.pathname}${location.search}${next}`);
  };
  write();
  document.subscribe(write);
  view.subscribe(write);
}
