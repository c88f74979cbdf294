/**
 * Every file of every target, read back by the target's own rules over golden lists of layer names: each layer of the plan
 * is named exactly once and runs in the plan's format, or in a higher one where the fit says so; nothing else is named.
 * Python reads the same files in read-by-python.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { PASSES } from '../../graph/types';
import { formatOf } from '../cost';
import { contextOf, goldenNames, mixedPlans, plansOf, type Depth } from './golden-plans';
import { readExport, readingFaults } from './golden-readers';
import { elementBits } from './rounding';
import { EXPORT_TARGETS, findTarget } from './targets';
import { viewPlan } from './plan-view';
import type { PassScheme } from '../../graph/policy';

const TARGETS = EXPORT_TARGETS.filter(({ selectors }) => selectors !== null);
const DEPTHS: readonly Depth[] = [12, 48];

describe.each(TARGETS.map(({ id }) => id))('%s', (id) => {
  const target = findTarget(id)!;
  const preset = target.preset!;
  it.each(DEPTHS)('gives every plan of %i layers back, or the listed roundings', (depth) => {
    const real = goldenNames(preset, depth);
    // Names that a pattern without anchors or with bare dots would take.
    const layers = real.filter((name) => /(c_attn|c_proj|c_fc|qkv|proj|fc1|fc2)$/.test(name));
    const names = [...real, ...layers.flatMap((name) => [`x${name}`, `${name}x`, `${name}.x`, name.replaceAll('.', '_')])];
    expect(layers.length).toBe(4 * depth);
    const lows: readonly PassScheme[] = depth === 12 ? ['nvfp4', 'fp8'] : [id === 'torchao-float8' ? 'fp8' : 'nvfp4'];
    let read = 0;
    for (const { plan, recipe } of [...lows.flatMap((low) => plansOf(depth, low).map((plan) => ({ plan, recipe: low }))), ...mixedPlans(depth).map((plan) => ({ plan, recipe: 'nvfp4' as const }))]) {
      const context = contextOf(depth, recipe);
      const fit = target.fits(plan, context);
      expect(fit.reasons.length > 0, plan.name).toBe(fit.badge !== 'exact');
      if (fit.badge === 'cannot') {
        expect(() => target.render(plan, context)).toThrow(/E-EXP-03|expected a plan that it can express/);
        continue;
      }
      const { text } = target.render(plan, context);
      expect(readingFaults(readExport(id, text, names, recipe), plan, context, fit, preset), `${plan.name}, ${recipe}`).toEqual([]);
      expect(target.render(plan, context).text).toBe(text);
      read += 1;
    }
    expect(read).toBeGreaterThan(5);
  });
});

describe('rounding', () => {
  it.each(TARGETS.map(({ id }) => id))('of %s is upwards, and only where some layer needs it', (id) => {
    const target = findTarget(id)!;
    for (const plan of [...plansOf(12, 'mxfp8'), ...mixedPlans(12)]) {
      const context = contextOf(12, 'mxfp8');
      const { rounded } = target.fits(plan, context);
      for (const site of rounded) expect(elementBits(viewFormat(plan.formats, site)), site).toBeLessThan(16);
      expect(new Set(rounded).size).toBe(rounded.length);
    }
  });

  // What a target cannot hold at all, from the table of formats.md 6, by hand.
  it.each([
    ['te-debug', 'nvfp4', []],
    ['te-factory', 'nvfp4', []],
    ['megatron', 'nvfp4', ['Forward passes BF16', 'Input gradients BF16', 'Weight gradients BF16', 'alternating sites']],
    ['torchao', 'nvfp4', ['Forward passes BF16', 'Input gradients BF16', 'Weight gradients BF16', 'alternating sites']],
    ['modelopt', 'nvfp4', ['Forward passes BF16']],
    ['torchao-float8', 'fp8', []],
    ['model-explorer', 'nvfp4', []],
  ] as const)('%s cannot hold these plans in %s: %j', (id, low, cannot) => {
    const target = findTarget(id)!;
    expect(plansOf(12, low).filter((plan) => target.fits(plan, contextOf(12, low)).badge === 'cannot').map(({ name }) => name)).toEqual(cannot);
  });

  it('leaves nothing to the targets that lack a format', () => {
    for (const id of ['te-debug', 'te-factory', 'megatron']) {
      const fits = plansOf(12, 'mxfp4').map((plan) => [plan.name, findTarget(id)!.fits(plan, contextOf(12, 'mxfp4')).badge]);
      expect(fits.filter(([, badge]) => badge !== 'cannot')).toEqual([['All BF16', 'exact']]);
    }
    expect(plansOf(12, 'nvfp4').map((plan) => findTarget('torchao-float8')!.fits(plan, contextOf(12)).badge).filter((badge) => badge !== 'cannot')).toEqual(['exact']);
  });
});

function viewFormat(formats: Parameters<typeof formatOf>[0], site: string): 'bf16' | PassScheme {
  const format = formatOf(formats, site);
  return format === 'fp8-out' ? 'fp8' : format;
}

it('plans are what their names say', () => {
  const [protection] = plansOf(48, 'nvfp4').filter(({ name }) => name === 'block protection');
  const { layers } = viewPlan(protection!, contextOf(48));
  expect(layers.filter(({ formats }) => PASSES.every((pass) => formats[pass] === 'bf16')).map(({ layer }) => layer)).toEqual([0, 1, 42, 43, 44, 45, 46, 47].flatMap((layer) => [layer, layer, layer, layer]));
});
