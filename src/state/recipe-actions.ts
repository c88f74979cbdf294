/** Choosing what the plan is of: the recipe with its switches, and the second low format. Each choice is one undo step. */
import type { Plan } from '../allocate/plan';
import type { PassScheme, PolicyOptions, RecipeName, SiteFormat, SiteId } from '../graph/policy';
import { recipeOptions, RECIPES } from '../graph/recipes';
import type { ActionContext } from './context';
import { commit, documentOptions, withRecipe } from './document';
import { createDocumentEdits } from './document-edits';
import { notify } from './facts';
import { freshPlan } from './selectors';
import { formatName, plural, recipeId, recipeName } from './words';

export function createRecipeActions(context: ActionContext) {
  const { document, facts } = context;
  const { withCells } = createDocumentEdits(context);
  return {
    /**
     * Another recipe, or other switches of it (null: those it had; a preset's are not its own). Its own plan comes back; a
     * recipe looked at for the first time takes over which cells are BF16, if it has the same cells.
     */
    setRecipe(recipe: RecipeName, options: PolicyOptions | null = null): void {
      const { graph } = facts.getState();
      if (!graph) return;
      const state = document.getState();
      const had = (recipe === state.recipe ? state.options : state.left[recipe]?.options) ?? {};
      // A second format keeps its own switches.
      const others = Object.fromEntries(Object.entries(had).filter(([name]) => !RECIPES[recipe].switches.some((own) => own === name)));
      const isOwn = recipeId(recipe, had) === recipe;
      const next = withRecipe(state, recipe, { ...others, ...(options ?? (isOwn ? recipeOptions(recipe, had) : {})) }, (from) => freshPlan(graph, recipe, RECIPES[recipe].kind === RECIPES[state.recipe].kind ? from : null));
      withCells(() => commit(document, next, recipe === state.recipe ? 'change switches' : `choose ${recipeName(recipe, next.options)}`));
    },

    /**
     * A second low format for solver and brushes, or none. Cells in the one there was become BF16, locked ones too: nothing
     * may be left in a format that the plan no longer has.
     */
    setSecond(scheme: PassScheme | null): void {
      const { recipe, second, options, plan } = document.getState();
      if (!plan || scheme === second || scheme === recipe || (scheme !== null && RECIPES[recipe].kind === 'out')) return;
      const left = second === null ? [] : Object.keys(plan.formats).filter((id) => plan.formats[id] === second);
      const label = scheme === null ? 'no second format' : `second format ${formatName(scheme)}`;
      withCells(() => commit(document, { second: scheme, options: documentOptions(recipe, scheme, options), plan: toHigh(plan, left) }, label));
      if (second !== null && left.length > 0) notify(facts, { kind: 'info', name: '', message: `${plural(left.length, 'cell')} in ${formatName(second)} became BF16`, hint: '', undoes: label });
    },
  };
}

function toHigh(plan: Plan, ids: readonly SiteId[]): Plan {
  return ids.length === 0 ? plan : { ...plan, formats: { ...plan.formats, ...Object.fromEntries(ids.map((id): [SiteId, SiteFormat] => [id, 'bf16'])) } };
}
