/**
 * RECIPES: what a probe can sweep, one row a recipe: which kind of site it lowers, which switches it has, and how people
 * call it. Chooser, command line and validation read it. Source: method.md 4, formats.md 2.0.
 */
import { OUT_SCALINGS, type OutScaling, type PolicyOptions, type RecipeName } from './policy';

export type OptionName = keyof PolicyOptions;

export interface Recipe {
  readonly name: RecipeName;
  readonly label: string;
  /** `pass`: the three GEMMs of every block linear; `out`: every op group's output. */
  readonly kind: 'pass' | 'out';
  /** One sentence for the chooser. */
  readonly sentence: string;
  readonly switches: readonly OptionName[];
}

export const RECIPES: Readonly<Record<RecipeName, Recipe>> = {
  nvfp4: {
    name: 'nvfp4', label: 'NVFP4', kind: 'pass', switches: ['weights1d', 'rht', 'sr', 'seed'],
    sentence: 'E2M1 elements in blocks of 16 with an E4M3 scale a block and an FP32 scale a tensor; weights in 16x16 tiles.',
  },
  mxfp4: {
    name: 'mxfp4', label: 'MXFP4', kind: 'pass', switches: ['floor'],
    sentence: 'E2M1 elements in blocks of 32 with a power-of-two scale a block.',
  },
  mxfp8: {
    name: 'mxfp8', label: 'MXFP8', kind: 'pass', switches: ['floor', 'e5m2Grad'],
    sentence: 'E4M3 elements in blocks of 32 with a power-of-two scale a block.',
  },
  'fp8-block': {
    name: 'fp8-block', label: 'FP8 blocks', kind: 'pass', switches: [],
    sentence: 'E4M3 elements in blocks of 128, weights in 128x128 tiles, with a power-of-two scale a block.',
  },
  fp8: {
    name: 'fp8', label: 'FP8 per tensor', kind: 'pass', switches: ['pow2'],
    sentence: 'E4M3 activations and weights, E5M2 gradients, each with one FP32 scale from its own largest value.',
  },
  'fp8-out': {
    name: 'fp8-out', label: 'FP8 op groups', kind: 'out', switches: ['out', 'pow2'],
    sentence: 'The output of an op group kept as E4M3 in the activation cache, its arriving gradient E5M2, its GEMM weight E4M3.',
  },
};

/** What a switch can hold: on or off, an unsigned 32-bit integer, or one of some words, the first being the default. */
type SwitchValues = 'flag' | 'u32' | readonly OutScaling[];

export interface Switch {
  readonly label: string;
  /** What it does, in one sentence. */
  readonly sentence: string;
  readonly values: SwitchValues;
}

export const SWITCHES: Readonly<Record<OptionName, Switch>> = {
  weights1d: { label: '1D weights', values: 'flag', sentence: 'Blocks of 1x16 along each contraction instead of 16x16 tiles: finer, but forward and backward then see different weights.' },
  rht: { label: 'Hadamard', values: 'flag', sentence: 'Both operands of the weight-gradient GEMM are mixed by a random Hadamard transform in groups of 16 tokens, which spreads outliers.' },
  sr: { label: 'Stochastic rounding', values: 'flag', sentence: 'The arriving gradient is rounded up or down at random with 8 bits, so that its error averages out instead of adding up.' },
  seed: { label: 'Seed', values: 'u32', sentence: 'The key of the random numbers; the same seed gives the same bits on every device.' },
  pow2: { label: 'Power-of-two scales', values: 'flag', sentence: 'Scales are rounded down to powers of two, so that scaling itself rounds nothing.' },
  floor: { label: 'OCP floor scales', values: 'flag', sentence: 'The block scale is rounded down as in the OCP text, which clips the largest values, instead of up as in TransformerEngine.' },
  e5m2Grad: { label: 'E5M2 gradients', values: 'flag', sentence: 'Gradients take E5M2: more range, one mantissa bit less.' },
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
