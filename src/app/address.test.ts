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
    expect(readAddress('')).toEqual({ recipe: null, fill: null });
  });
  it('brings back recipe and fill', () => {
    expect(addressOf('fp8-out', {}, 'persistent')).toBe('#recipe=fp8-out&fill=persistent');
    for (const recipe of RECIPE_NAMES) for (const fill of FILLS) {
      if (recipe === 'nvfp4') continue;
      expect(readAddress(addressOf(recipe, {}, fill))).toEqual({ recipe: { recipe, options: null }, fill: fill === 'isolated' ? null : fill });
    }
  });
  it('names a preset, whose switches come with it', () => {
    expect(addressOf('nvfp4', TE, 'isolated')).toBe('#recipe=nvfp4-te');
    expect(readAddress('#recipe=nvfp4-te')).toEqual({ recipe: { recipe: 'nvfp4', options: TE }, fill: null });
  });
  it('leaves out what it says wrongly', () => {
    expect(readAddress('#recipe=fp3&fill=everything&x=1')).toEqual({ recipe: null, fill: null });
  });
});
