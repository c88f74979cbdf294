/** RECIPES, SWITCHES and the presets agree with each other and with the policies that name them. */
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { PASS_SCHEMES, RECIPE_NAMES, type PolicyOptions } from './policy';
import { findRecipe, OPTION_NAMES, RECIPE_PRESETS, recipeOptions, RECIPES, schemeOptions, SWITCHES } from './recipes';
import { paintableSites } from './sites';
import { isPassScheme, isRecipeName, validateOptions } from './validate';

const EVERYTHING: PolicyOptions = { weights1d: true, rht: true, sr: true, seed: 5, pow2: true, floor: true, e5m2Grad: true, out: 'block' };

describe('recipes', () => {
  it('have a row each, of the kind of their sites, with switches that exist', () => {
    const graph = gpt2Graph({ model: 'm', layers: 1, width: 8, heads: 2, positions: 4, vocabulary: 10, eps: 1e-5 });
    expect(Object.keys(RECIPES).sort()).toEqual([...RECIPE_NAMES].sort());
    for (const recipe of RECIPE_NAMES) {
      expect(RECIPES[recipe].name).toBe(recipe);
      expect(RECIPES[recipe].kind).toBe(isPassScheme(recipe) ? 'pass' : 'out');
      expect(new Set(paintableSites(graph, recipe).map((site) => site.kind))).toEqual(new Set([RECIPES[recipe].kind]));
      expect(RECIPES[recipe].switches.every((name) => OPTION_NAMES.includes(name))).toBe(true);
    }
    // Every switch belongs to some recipe, and says what it does in one sentence.
    expect([...new Set(Object.values(RECIPES).flatMap((row) => row.switches))].sort()).toEqual([...OPTION_NAMES].sort());
    for (const { sentence } of [...Object.values(RECIPES), ...Object.values(SWITCHES), ...Object.values(RECIPE_PRESETS)]) expect(sentence).toMatch(/^[A-Z0-9][^\n]*\.$/);
  });

  it('are found by name, presets with their switches', () => {
    for (const recipe of RECIPE_NAMES) expect(findRecipe(recipe)).toEqual({ recipe, options: {} });
    expect(findRecipe('nvfp4-te')).toEqual({ recipe: 'nvfp4', options: { rht: true, sr: true } });
    for (const name of ['', 'nvfp4-TE', 'int4', 'constructor', 'toString']) expect(findRecipe(name)).toBeNull();
    for (const [name, { recipe, options }] of Object.entries(RECIPE_PRESETS)) {
      expect(isRecipeName(name)).toBe(false);
      expect(recipeOptions(recipe, options)).toEqual(options);
      expect(validateOptions(options)).toEqual(options);
    }
  });
});

describe('the options a recipe reads', () => {
  it.each([
    ['nvfp4', { weights1d: true, rht: true, sr: true, seed: 5 }],
    ['mxfp4', { floor: true }],
    ['mxfp8', { floor: true, e5m2Grad: true }],
    ['fp8-block', {}],
    ['fp8', { pow2: true }],
    ['fp8-out', { out: 'block' }],
  ] as const)('%s', (recipe, options) => expect(recipeOptions(recipe, EVERYTHING)).toEqual(options));

  it('lose what is at its default or means nothing', () => {
    expect(recipeOptions('nvfp4', { ...EVERYTHING, sr: false })).toEqual({ weights1d: true, rht: true });
    expect(recipeOptions('nvfp4', { seed: 0, sr: true, weights1d: false })).toEqual({ sr: true });
    expect(recipeOptions('fp8-out', { pow2: true, out: 'tensor' })).toEqual({ pow2: true });
    expect(recipeOptions('fp8-out', { pow2: true })).toEqual({ pow2: true });
    expect(recipeOptions('fp8-out', { pow2: true, out: 'mx' })).toEqual({ out: 'mx' });
  });

  it('of several schemes are those of each, keys in one order', () => {
    expect(schemeOptions([], EVERYTHING)).toEqual({});
    expect(schemeOptions(['fp8', 'fp8-out'], EVERYTHING)).toEqual({ pow2: true, out: 'block' });
    expect(Object.keys(schemeOptions(PASS_SCHEMES, { floor: true, sr: true, weights1d: true }))).toEqual(['weights1d', 'sr', 'floor']);
  });
});
