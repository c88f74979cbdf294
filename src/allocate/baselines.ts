/**
 * BASELINES: every plan and method that ours is compared with (method.md 7; formats.md 4.1 and 7), a row each.
 */
import type { RecipeName } from '../graph/policy';
import { RECIPES, type Recipe } from '../graph/recipes';
import type { BaselineMethod } from './baseline-method';
import { formatsWhere, presets, type Preset } from './plan';

export { isReason, type BaselineInputs, type BaselineMethod } from './baseline-method';

const SENTENCES: Readonly<Record<string, string>> = {
  'all-low': 'Every site runs in the low format.',
  'all-high': 'Every site stays in BF16.',
  'fprop-high': 'Every forward pass stays in BF16, a third of the work.',
  'dgrad-high': 'Every input gradient stays in BF16, a third of the work.',
  'wgrad-high': 'Every weight gradient stays in BF16, a third of the work.',
  fixed: 'Token embedding, head and every norm stay in BF16, whatever was measured.',
};

function presetRow(preset: Preset, kinds: readonly Recipe['kind'][]): BaselineMethod {
  return {
    id: preset.id, name: preset.name, sentence: SENTENCES[preset.id] ?? preset.name, kind: 'fixed', scoreName: null,
    appliesTo: (recipe) => kinds.includes(RECIPES[recipe].kind),
    formats: ({ sites, recipe }) => formatsWhere(sites, (site) => preset.high(site), recipe),
    score: () => null,
  };
}

const PASS_PRESETS = presets('nvfp4');
const OUT_PRESETS = presets('fp8-out');

export const BASELINES: readonly BaselineMethod[] = [
  ...PASS_PRESETS.map((preset) => presetRow(preset, OUT_PRESETS.some(({ id }) => id === preset.id) ? ['pass', 'out'] : ['pass'])),
  ...OUT_PRESETS.filter(({ id }) => id === 'fixed').map((preset) => presetRow(preset, ['out'])),
];

/** The methods that can make plans of a recipe, in the order of BASELINES. */
export function baselinesFor(recipe: RecipeName): readonly BaselineMethod[] {
  return BASELINES.filter((method) => method.appliesTo(recipe));
}
