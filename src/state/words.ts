/** Words that labels, notices and panels share, so that a format, a recipe and a count read the same everywhere. */
import { COST_NAMES } from '../allocate/cost';
import type { PolicyOptions, RecipeName, SiteFormat } from '../graph/policy';
import { RECIPE_PRESETS, recipeOptions, RECIPES, SWITCHES, type OptionName } from '../graph/recipes';

export const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** What a plan of the recipe spends, as the page calls it (allocate COST_NAMES) and as a share is read: "13.0 % of GEMM work". */
const COST_WORDS = {
  pass: { name: COST_NAMES.pass.name, of: 'GEMM work' },
  out: { name: COST_NAMES.out.name, of: 'the activation cache' },
} as const;
export const costWords = (recipe: RecipeName): (typeof COST_WORDS)[keyof typeof COST_WORDS] => COST_WORDS[RECIPES[recipe].kind];

/** The format of a cell: its recipe's label, without what that says of scales or places. */
export const formatName = (format: SiteFormat): string => (format === 'bf16' ? 'BF16' : RECIPES[format].label.replace(/ (per tensor|op groups)$/, ''));

const OUT_WORDS = { tensor: 'one scale a tensor', block: 'blocks of 128', mx: 'MXFP8' } as const;
export const outScalingName = (scaling: keyof typeof OUT_WORDS): string => OUT_WORDS[scaling];

/** A switch as it stands: "Hadamard", "seed 7", "blocks of 128". */
function switchName(name: OptionName, options: PolicyOptions): string {
  if (name === 'seed') return `seed ${options.seed ?? 0}`;
  return name === 'out' ? outScalingName(options.out ?? 'tensor') : SWITCHES[name].label;
}

/** The switches that are on, as given by recipeOptions: "Hadamard, Stochastic rounding"; '' when all are at their default. */
export function switchWords(options: PolicyOptions): string {
  return (Object.keys(options) as OptionName[]).map((name) => switchName(name, options)).join(', ');
}

/** The name of the preset whose switches these are, else the recipe's own. */
export function recipeId(recipe: RecipeName, options: PolicyOptions): string {
  const text = (some: PolicyOptions): string => JSON.stringify(recipeOptions(recipe, some));
  return Object.entries(RECIPE_PRESETS).find(([, preset]) => preset.recipe === recipe && text(preset.options) === text(options))?.[0] ?? recipe;
}

/** The name of the preset or of the recipe: "NVFP4, TE defaults", "NVFP4". */
export function recipeLabel(recipe: RecipeName, options: PolicyOptions): string {
  const id = recipeId(recipe, options);
  return Object.entries(RECIPE_PRESETS).find(([name]) => name === id)?.[1].label ?? RECIPES[recipe].label;
}

/** "NVFP4", "NVFP4, TE defaults", "NVFP4 (1D weights)". */
export function recipeName(recipe: RecipeName, options: PolicyOptions): string {
  const words = recipeId(recipe, options) === recipe ? switchWords(recipeOptions(recipe, options)) : '';
  return words === '' ? recipeLabel(recipe, options) : `${RECIPES[recipe].label} (${words})`;
}
