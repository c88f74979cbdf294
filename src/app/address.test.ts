/** The address says what is looked at, and says nothing of what the page opens with. */
import { describe, expect, it } from 'vitest';
import { RECIPE_NAMES } from '../graph/policy';
import { RECIPE_PRESETS } from '../graph/recipes';
import { FILLS } from '../state';
import { addressOf, readAddress } from './address';

const TE = RECIPE_PRESETS['nvfp4-te'].options;

describe('the address', () => {
  it('is empty for what the page opens with', () => {
    expect(addressOf('nvfp4', {}, 'isolated')).toBe('');
    expect(readAddress('')).toEqual({ recipe: null, fill: null, cost: null });
  });
  it('brings back recipe and fill', () => {
    expect(addressOf('fp8-out', {}, 'persistent')).toBe('#recipe=fp8-out&fill=persistent');
    for (const recipe of RECIPE_NAMES) for (const fill of FILLS) {
      if (recipe === 'nvfp4') continue;
      expect(readAddress(addressOf(recipe, {}, fill))).toEqual({ recipe: { recipe, options: null }, fill: fill === 'isolated' ? null : fill, cost: null });
    }
  });
  it('names a preset, whose switches come with it', () => {
    expect(addressOf('nvfp4', TE, 'isolated')).toBe('#recipe=nvfp4-te');
    expect(readAddress('#recipe=nvfp4-te')).toEqual({ recipe: { recipe: 'nvfp4', options: TE }, fill: null, cost: null });
  });
  it('leaves out what it says wrongly', () => {
    expect(readAddress('#recipe=fp3&fill=everything&cost=money&x=1')).toEqual({ recipe: null, fill: null, cost: null });
  });
  it('brings back what plans pay by, where the recipe has it and it is not its own', () => {
    expect(addressOf('nvfp4', {}, 'isolated', 'time')).toBe('#cost=time');
    expect(addressOf('nvfp4', {}, 'isolated', 'gemm')).toBe('');
    expect(addressOf('fp8-out', {}, 'isolated', 'time')).toBe('#recipe=fp8-out');
    expect(addressOf('fp8-out', {}, 'isolated', 'bits')).toBe('#recipe=fp8-out&cost=bits');
    expect(readAddress('#recipe=fp8-out&cost=bits').cost).toBe('bits');
  });
});
