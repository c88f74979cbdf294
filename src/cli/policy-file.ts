/** P.json and other JSON arguments, before src/graph checks what they say. */
import { BendscopeError } from '../base/errors';
import { RECIPE_NAMES, type Policy, type PolicyOptions, type RecipeName } from '../graph/policy';
import { findRecipe, RECIPE_PRESETS, recipeOptions, RECIPES, type OptionName } from '../graph/recipes';
import type { Graph } from '../graph/types';
import { POLICY_HINT, validateOptions, validatePolicy } from '../graph/validate';
import { readText } from './local-files';

/** What --recipe takes: recipes, and presets of one with its switches. */
export const RECIPE_WORDS: readonly string[] = [...RECIPE_NAMES, ...Object.keys(RECIPE_PRESETS)];

/** Throws E-FILE-09, E-PLAN-07 (not JSON, not a policy) and E-PLAN-02 to -06 (what it asks for). */
export async function readPolicy(path: string, graph: Graph): Promise<Policy> {
  const policy = json(await readText(path), 'E-PLAN-07', path, POLICY_HINT);
  try {
    return validatePolicy(graph, policy);
  } catch (thrown) {
    // There may be several policies: say which.
    if (thrown instanceof BendscopeError) throw new BendscopeError(thrown.name, `${path}: ${thrown.message}`, thrown.hint);
    throw thrown;
  }
}

/**
 * The values of --recipe and --options: a preset's switches, those of --options on top. Throws E-PLAN-03 for an unknown
 * recipe, E-PLAN-06 for options that are no JSON, no switches, or switches of other recipes.
 */
export function readRecipe(name: string, optionsText: string | undefined): { readonly recipe: RecipeName; readonly options: PolicyOptions } {
  const found = findRecipe(name);
  if (!found) throw new BendscopeError('E-PLAN-03', `--recipe: expected ${RECIPE_WORDS.join(', ')}, got "${name}"`, 'See npm run --silent cli -- probe --help');
  const { recipe } = found;
  const given = optionsText === undefined ? {} : json(optionsText, 'E-PLAN-06', '--options', 'Options are JSON, for example {"weights1d": true}.');
  const merged = given !== null && typeof given === 'object' && !Array.isArray(given) ? { ...found.options, ...given } : given;
  const options = validateOptions(merged, '--options');
  const { switches } = RECIPES[recipe];
  const foreign = (Object.keys(options) as OptionName[]).find((option) => !switches.includes(option));
  if (foreign !== undefined) {
    throw new BendscopeError('E-PLAN-06', `--options: expected switches of ${recipe} (${switches.length > 0 ? switches.join(', ') : 'it has none'}), got ${foreign} = ${JSON.stringify(options[foreign])}`, 'Take it out, or choose a recipe that has it.');
  }
  return { recipe, options: recipeOptions(recipe, options) };
}

export function json(text: string, code: string, where: string, hint: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new BendscopeError(code, `${where}: expected JSON, got ${thrown instanceof Error ? thrown.message : String(thrown)}`, hint);
  }
}
