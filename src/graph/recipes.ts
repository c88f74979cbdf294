/**
 * RECIPES: the rows of SCHEMES as what a probe can sweep; SWITCHES: what can be set on them, and which of them reads what;
 * presets: recipes with switches set. Chooser, command line and validation read these. Source: method.md 4, formats.md 2.0.
 */
import { SCHEMES, type Scheme } from '../numerics/schemes';
import { OUT_SCALINGS, type OutScaling, type PolicyOptions, type RecipeName } from './policy';
import type { Pass } from './types';

export type OptionName = keyof PolicyOptions;

export interface Recipe extends Scheme {
  readonly name: RecipeName;
  readonly switches: readonly OptionName[];
}

export const RECIPES: Readonly<Record<RecipeName, Recipe>> = SCHEMES;

/** What a switch can hold: on or off, an unsigned 32-bit integer, or one of some words, the first being the default. */
type SwitchValues = 'flag' | 'u32' | readonly OutScaling[];

export interface Switch {
  readonly label: string;
  /** What it does, in one sentence. */
  readonly sentence: string;
  readonly values: SwitchValues;
  /** The GEMM passes that it can change; every one where absent. */
  readonly passes?: readonly Pass[];
}

export const SWITCHES: Readonly<Record<OptionName, Switch>> = {
  // It changes no weight gradient, but stored plans of only those have it in their hash: no `passes`.
  weights1d: { label: '1D weights', values: 'flag', sentence: 'Blocks of 1x16 along each contraction instead of 16x16 tiles: finer, but forward and backward then see different weights.' },
  rht: { label: 'Hadamard', values: 'flag', passes: ['wgrad'], sentence: 'Both operands of the weight-gradient GEMM are mixed by a random Hadamard transform in groups of 16 tokens, which spreads outliers.' },
  sr: { label: 'Stochastic rounding', values: 'flag', passes: ['dgrad', 'wgrad'], sentence: 'The arriving gradient is rounded up or down at random with 8 bits, so that its error averages out instead of adding up.' },
  seed: { label: 'Seed', values: 'u32', passes: ['dgrad', 'wgrad'], sentence: 'The key of the random numbers; the same seed gives the same bits on every device.' },
  pow2: { label: 'Power-of-two scales', values: 'flag', sentence: 'Scales are rounded down to powers of two, so that scaling itself rounds nothing.' },
  floor: { label: 'OCP floor scales', values: 'flag', sentence: 'The block scale is rounded down as in the OCP text, which clips the largest values, instead of up as in TransformerEngine.' },
  e5m2Grad: { label: 'E5M2 gradients', values: 'flag', passes: ['dgrad', 'wgrad'], sentence: 'Gradients take E5M2: more range, one mantissa bit less.' },
  out: { label: 'Scaling', values: OUT_SCALINGS, sentence: 'One scale for the whole tensor, one for 128 neighbouring values (weights 128x128), or one for 32 (MXFP8).' },
};

/** Names of all switches, in the order of SWITCHES. */
export const OPTION_NAMES = Object.keys(SWITCHES) as readonly OptionName[];

/** A recipe with its switches set, under a name of its own (formats.md 2.0). */
export interface RecipePreset {
  readonly label: string;
  readonly sentence: string;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
}

export const RECIPE_PRESETS = {
  'nvfp4-te': {
    label: 'NVFP4, TE defaults', recipe: 'nvfp4', options: { rht: true, sr: true },
    sentence: 'NVFP4 as TransformerEngine trains: Hadamard transform in the weight gradient, stochastic rounding of the arriving gradient, 2D weights.',
  },
} as const satisfies Record<string, RecipePreset>;

/** Recipe and switches by the name of a recipe (no switches) or of a preset; null for any other string. */
export function findRecipe(name: string): Pick<RecipePreset, 'recipe' | 'options'> | null {
  const recipe = Object.values(RECIPES).find((row) => row.name === name);
  if (recipe) return { recipe: recipe.name, options: {} };
  const preset: RecipePreset | undefined = Object.entries(RECIPE_PRESETS).find(([known]) => known === name)?.[1];
  return preset ? { recipe: preset.recipe, options: preset.options } : null;
}

/**
 * The options that some of these schemes read, those at their default left out, keys in the order of SWITCHES: equal
 * meaning, equal value. A scheme reads a switch whichever of its passes is low.
 */
export function schemeOptions(schemes: Iterable<RecipeName>, options: PolicyOptions): PolicyOptions {
  const low = [...new Set(schemes)];
  const kept: { -readonly [name in OptionName]?: PolicyOptions[name] } = {};
  const keep = <N extends OptionName>(name: N): void => {
    kept[name] = options[name];
  };
  for (const name of OPTION_NAMES) {
    if (!isDefault(name, options) && low.some((scheme) => reads(scheme, name, options))) keep(name);
  }
  return kept;
}

/** The options a recipe reads, as schemeOptions. */
export function recipeOptions(recipe: RecipeName, options: PolicyOptions): PolicyOptions {
  return schemeOptions([recipe], options);
}

function isDefault(name: OptionName, options: PolicyOptions): boolean {
  const value = options[name];
  const { values } = SWITCHES[name];
  return value === undefined || value === (values === 'flag' ? false : values === 'u32' ? 0 : values[0]);
}

function reads(scheme: RecipeName, name: OptionName, options: PolicyOptions): boolean {
  if (!RECIPES[scheme].switches.includes(name)) return false;
  if (name === 'seed') return options.sr === true; // Nothing is random without sr.
  // Block scales of op groups are powers of two anyway.
  return name !== 'pow2' || scheme !== 'fp8-out' || isDefault('out', options);
}
