/**
 * What can be compared on one scale: every recipe with the switches it has in the document, the presets, whatever else
 * was measured on the chosen text, and beside a recipe its left-out cells where they were measured.
 */
import type { Plan } from '../allocate/plan';
import type { PolicyOptions, RecipeName } from '../graph/policy';
import { RECIPE_PRESETS, RECIPES, recipeOptions, type RecipePreset } from '../graph/recipes';
import type { DocumentState } from './document';
import { recipeOfKey, resultsKey, resultsUnder, type FactsState } from './facts';
import type { Fill } from './fills';
import { memo } from './memo';
import type { Results } from './results';
import { leaveOneOutOf } from './selectors';

/** One small grid: results of a recipe under switches, seen through a fill. */
export interface Compared extends Results {
  readonly id: string;
  readonly graph: FactsState['graph'];
  readonly modelSha256: string;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly fill: Extract<Fill, 'isolated' | 'leave-one-out'>;
  /** The recipe's plan, whose marks the cells carry; null where it was never looked at. */
  readonly plan: Plan | null;
}

type Choice = readonly [RecipeName, PolicyOptions];

/** Recipes and switches in the order of the chooser, each once. */
function choices(document: Pick<DocumentState, 'recipe' | 'options' | 'left'>, measured: readonly string[]): Choice[] {
  const presets: readonly RecipePreset[] = Object.values(RECIPE_PRESETS);
  const all = Object.values(RECIPES).flatMap(({ name: recipe }): Choice[] => {
    const now = recipe === document.recipe ? document.options : document.left[recipe]?.options;
    const known = measured.map(recipeOfKey).filter(([name]) => name === recipe);
    return [[recipe, {}], ...(now ? [[recipe, now] as const] : []), ...presets.filter((p) => p.recipe === recipe).map((p): Choice => [recipe, p.options]), ...known];
  });
  return [...new Map(all.map(([recipe, options]) => [JSON.stringify([recipe, recipeOptions(recipe, options)]), [recipe, recipeOptions(recipe, options)] as const])).values()];
}

const comparedMemo = memo((graph: FactsState['graph'], modelSha256: string, results: FactsState['results'], data: FactsState['data'], recipe: RecipeName, options: PolicyOptions, plan: Plan | null, left: DocumentState['left']): readonly Compared[] => {
  const measured = Object.keys(results[resultsKey(data, recipe, options).text] ?? {});
  return choices({ recipe, options, left }, measured).flatMap(([name, switches]): Compared[] => {
    const key = resultsKey(data, name, switches);
    const found = resultsUnder({ results }, key);
    const entry = { ...found, graph, modelSha256, recipe: name, options: switches, plan: name === recipe ? plan : (left[name]?.plan ?? null) };
    const isolated: Compared = { ...entry, id: `${key.recipe} isolated`, fill: 'isolated' };
    return Object.keys(leaveOneOutOf(found)).length === 0 ? [isolated] : [isolated, { ...entry, id: `${key.recipe} leave-one-out`, fill: 'leave-one-out' }];
  });
}, 4);

export function comparedOf({ graph, modelSha256, results, data }: FactsState, { recipe, options, plan, left }: DocumentState): readonly Compared[] {
  return comparedMemo(graph, modelSha256, results, data, recipe, options, plan, left);
}
