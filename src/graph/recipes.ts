/**
 * RECIPES: what a probe can sweep, one row a recipe: which kind of site it lowers, which switches it has, and how people
 * call it. Chooser, command line and validation read it. Source: method.md 4, formats.md 2.0.
 */
import type { PolicyOptions, RecipeName } from './policy';

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

/** What each switch does, one sentence each. */
export const SWITCHES: Readonly<Record<OptionName, { readonly label: string; readonly sentence: string }>> = {
  weights1d: { label: '1D weights', sentence: 'Blocks of 1x16 along each contraction instead of 16x16 tiles: finer, but forward and backward then see different weights.' },
  rht: { label: 'Hadamard', sentence: 'Both operands of the weight-gradient GEMM are mixed by a random Hadamard transform in groups of 16 tokens, which spreads outliers.' },
  sr: { label: 'Stochastic rounding', sentence: 'The arriving gradient is rounded up or down at random with 8 bits, so that its error averages out instead of adding up.' },
  seed: { label: 'Seed', sentence: 'The key of the random numbers; the same seed gives the same bits on every device.' },
  pow2: { label: 'Power-of-two scales', sentence: 'Scales are rounded down to powers of two, so that scaling itself rounds nothing.' },
  floor: { label: 'OCP floor scales', sentence: 'The block scale is rounded down as in the OCP text, which clips the largest values, instead of up as in TransformerEngine.' },
  e5m2Grad: { label: 'E5M2 gradients', sentence: 'Gradients take E5M2: more range, one mantissa bit less.' },
  out: { label: 'Scaling', sentence: 'One scale for the whole tensor, one for 128 neighbouring values (weights 128x128), or one for 32 (MXFP8).' },
};

/** NVFP4 as TransformerEngine trains: Hadamard, stochastic rounding, 2D weights (formats.md 2.0). */
export const TE_OPTIONS: PolicyOptions = { rht: true, sr: true };

/** The options a recipe reads, those at their default left out, keys in the order of SWITCHES: equal meaning, equal value. */
export function recipeOptions(recipe: RecipeName, options: PolicyOptions): PolicyOptions {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(SWITCHES) as OptionName[]) {
    const given = options[name];
    if (!RECIPES[recipe].switches.includes(name) || given === undefined || given === false || given === 0 || given === 'tensor') continue;
    if (name === 'seed' && !options.sr) continue; // Nothing is random without sr.
    if (name === 'pow2' && (options.out ?? 'tensor') !== 'tensor' && recipe === 'fp8-out') continue; // Block scales are powers of two anyway.
    kept[name] = given;
  }
  return kept;
}
