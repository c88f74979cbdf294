/**
 * 200 random plans of two formats and 200 of three a target, in every spelling the target is used with: each layer of a
 * golden list of names is taken exactly once by the target's own rules, read from the file's text alone, and runs in the
 * plan's format or, where the fit lists it, in a higher one. Rules: golden-readers.ts; plans of other shapes: round-trip.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { philox4x32 } from '../../base/random';
import { PASS_SCHEMES, type PassScheme, type SiteFormat } from '../../graph/policy';
import { contextOf, goldenNames, planOf } from './golden-plans';
import { readExport, readingFaults } from './golden-readers';
import type { NamePresetId } from './names';
import { EXPORT_TARGETS, findTarget } from './targets';

const PLANS = 200;
const TE: readonly NamePresetId[] = ['te', 'te-unfused', 'te-attributes', 'te-documents'];
/** Spellings a target is used with; Model Explorer shows any model. */
const SPELLINGS: Readonly<Record<string, readonly NamePresetId[]>> = {
  'te-debug': TE, 'te-factory': TE, megatron: ['megatron'], torchao: ['hf-gpt2'], 'torchao-float8': ['hf-gpt2'], modelopt: ['hf-gpt2'], 'model-explorer': ['hf-gpt2', 'te', 'megatron'],
};
/** The share of BF16 sites goes from none to all over the plans, so that sparse and dense patterns both occur. */
function randomPlan(seed: number, lows: readonly PassScheme[]) {
  const words = (i: number): readonly number[] => philox4x32([i, seed, lows.length, 0], [7, 11]);
  const at = seed / (PLANS - 1);
  // Every fourth plan sets whole layers, as targets without passes hold them.
  const isByLayer = seed % 4 === 0;
  return planOf(`random ${seed}`, 12, ({ node }, i): SiteFormat => {
    const [which = 0, high = 0] = words(isByLayer ? Array.from(node).reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) >>> 0 : i);
    return high / 2 ** 32 < at ? 'bf16' : (lows[which % lows.length] ?? 'bf16');
  });
}

const TARGETS = EXPORT_TARGETS.filter(({ selectors }) => selectors !== null).map(({ id }) => id);

it('every target with layer names is in the table', () => {
  expect(Object.keys(SPELLINGS).sort()).toEqual([...TARGETS].sort());
});

describe.each(TARGETS)('%s', (id) => {
  const target = findTarget(id)!;
  it.each([2, 3])(`holds ${PLANS} random plans of %i formats, each layer once`, (count) => {
    let read = 0;
    let rounded = 0;
    const spellings = SPELLINGS[id] ?? [];
    const lists = new Map(spellings.map((preset) => [preset, goldenNames(preset, 12)]));
    for (let seed = 0; seed < PLANS; seed += 1) {
      // FP8 for the one target that has nothing else; else the low formats in turn.
      const first: PassScheme = id === 'torchao-float8' ? 'fp8' : (PASS_SCHEMES[seed % PASS_SCHEMES.length] ?? 'nvfp4');
      const second = PASS_SCHEMES[(PASS_SCHEMES.indexOf(first) + 1 + (seed % (PASS_SCHEMES.length - 1))) % PASS_SCHEMES.length] ?? 'mxfp8';
      const lows = count === 2 ? [first] : [first, second];
      const plan = randomPlan(seed, lows);
      const preset = spellings[seed % spellings.length] ?? 'hf-gpt2';
      const context = { ...contextOf(12, first), names: { preset } };
      const fit = target.fits(plan, context);
      if (fit.badge === 'cannot') continue;
      const { text } = target.render(plan, context);
      expect(readingFaults(readExport(id, text, lists.get(preset) ?? [], runRecipe(text) ?? first), plan, context, fit, preset), `${plan.name} of ${lows.join()} as ${preset}`).toEqual([]);
      read += 1;
      rounded += fit.rounded.length;
    }
    expect(read).toBeGreaterThan(PLANS / 10);
    if (id !== 'model-explorer' && (count === 3 || ['megatron', 'modelopt', 'torchao'].includes(id))) expect(rounded).toBeGreaterThan(0);
  });
});

/** What the header of a file that knows one low format says to train in: the plan's recipe, if the plan uses it. */
function runRecipe(text: string): PassScheme | undefined {
  const names: Readonly<Record<string, PassScheme>> = { NVFP4BlockScaling: 'nvfp4', MXFP8BlockScaling: 'mxfp8', Float8BlockScaling: 'fp8-block', Float8CurrentScaling: 'fp8' };
  return names[/recipe=(\w+)\(/.exec(text)?.[1] ?? ''];
}
