/**
 * What is looked at, in the address: `#recipe=fp8-out&fill=persistent&cost=bits`, so that a view can be bookmarked and sent. Defaults
 * are left out. A shared plan (allocate/share-link) is another kind of fragment; once opened it gives way to this one.
 */
import { COST_KINDS, type CostKind } from '../allocate/costs';
import type { PolicyOptions, RecipeName } from '../graph/policy';
import { findRecipe } from '../graph/recipes';
import { costKindOf, FILLS, recipeId, type Fill } from '../state';
import type { Workbench } from '../ui/workbench';

interface Looked {
  /** Options are null where the address names none: those the recipe had. */
  readonly recipe: { readonly recipe: RecipeName; readonly options: PolicyOptions | null } | null;
  readonly fill: Fill | null;
  /** What plans pay by; null: the recipe's own. */
  readonly cost: CostKind | null;
}

/** The fragment, `#` included, or '' for what the page opens with. */
export function addressOf(recipe: RecipeName, options: PolicyOptions, fill: Fill, cost: CostKind | null = null): string {
  const name = recipeId(recipe, options);
  const pays = costKindOf(recipe, cost);
  const values = new URLSearchParams({
    ...(name === 'nvfp4' ? {} : { recipe: name }), ...(fill === 'isolated' ? {} : { fill: fill }), ...(pays === costKindOf(recipe, null) ? {} : { cost: pays }),
  }).toString();
  return values === '' ? '' : `#${values}`;
}

/** What a fragment asks to look at; what it says wrongly is left out. */
export function readAddress(fragment: string): Looked {
  const found = new URLSearchParams(fragment.replace(/^#/, ''));
  const name = found.get('recipe') ?? '';
  const recipe = findRecipe(name);
  return {
    recipe: recipe && { recipe: recipe.recipe, options: name === recipe.recipe ? null : recipe.options },
    fill: FILLS.find((fill) => fill === found.get('fill')) ?? null,
    cost: COST_KINDS.find((kind) => kind === found.get('cost')) ?? null,
  };
}

/** Looks at what the address says: a shared plan, or recipe, fill and cost. */
export function openAddress({ actions, view }: Workbench): void {
  if (location.hash.length < 2 || actions.openLink(location.hash)) return;
  const { recipe, fill, cost } = readAddress(location.hash);
  if (recipe) actions.setRecipe(recipe.recipe, recipe.options);
  if (fill) view.setState({ fill });
  if (cost) actions.setCost(cost);
}

/** Keeps the address at what is looked at; a plan that was opened from it must not be opened again by a reload. */
export function keepAddress({ document, view }: Workbench): void {
  const address = (): string => {
    const { recipe, options } = document.getState();
    const { fill, cost } = view.getState();
    return addressOf(recipe, options, fill, cost);
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
  // A drag changes the view many times a second, and none of these.
  view.subscribe((now, before) => {
    if (now.fill !== before.fill || now.cost !== before.cost) write();
  });
}
