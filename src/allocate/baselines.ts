/**
 * BASELINES: every plan and method that ours is compared with (method.md 7; formats.md 4.1 and 7), a row each, those first
 * that look at nothing. None of them knows the locks of a plan.
 */
import { philox4x32 } from '../base/random';
import type { RecipeName, SiteFormat, SiteId } from '../graph/policy';
import { sites } from '../graph/sites';
import { BLOCK_METHODS } from './baseline-blocks';
import type { BaselineInputs, BaselineMethod } from './baseline-method';
import { SCORE_METHODS } from './baseline-scores';
import { planCost } from './costs';
import { formatsWhere, presets, type Preset } from './plan';

export { isReason, type BaselineInputs, type BaselineMethod } from './baseline-method';

const SENTENCES: Readonly<Record<string, string>> = {
  'all-low': 'Every site runs in the low format.',
  'all-high': 'Every site stays in BF16.',
  'fprop-high': 'Every forward pass stays in BF16, a third of the work.',
  'dgrad-high': 'Every input gradient stays in BF16, a third of the work.',
  'wgrad-high': 'Every weight gradient stays in BF16, a third of the work.',
  fixed: 'Token embedding, head and every norm stay in BF16.',
};

/** A preset of plans as a method; of the two kinds of recipe, those that list it. */
function presetMethod(preset: Preset): BaselineMethod {
  return {
    id: preset.id, name: preset.name, sentence: SENTENCES[preset.id] ?? preset.name, kind: 'fixed', scoreName: null,
    appliesTo: (recipe) => presets(recipe).some(({ id }) => id === preset.id),
    formats: ({ sites: costed, recipe }) => formatsWhere(costed, (site) => preset.high(site), recipe),
    score: () => null,
  };
}

const MIXED: BaselineMethod = {
  id: 'mixed', name: 'MLP NVFP4, attention MXFP8', kind: 'fixed', scoreName: null,
  sentence: 'Linears of the MLP run in NVFP4, those of attention in MXFP8, as torchao trains; nothing stays in BF16.',
  appliesTo: (recipe) => recipe === 'nvfp4',
  formats({ graph, sites: costed }) {
    const groups = new Map(sites(graph).map(({ id, group }) => [id, group]));
    return Object.fromEntries(costed.map(({ id }): [SiteId, SiteFormat] => [id, /^mlp(\.|$)/.test(groups.get(id) ?? '') ? 'nvfp4' : 'mxfp8']));
  },
  score: () => null,
};

/** Key of the random order; a plan of another seed would be another baseline. */
export const RANDOM_SEED = 1;

const RANDOM: BaselineMethod = {
  id: 'random', name: `Random, seed ${RANDOM_SEED}`, kind: 'budget', scoreName: null,
  sentence: `Sites stay in BF16 in a random order (seed ${RANDOM_SEED}), each that still fits into the budget.`,
  appliesTo: () => true,
  formats(inputs, budget) {
    const { sites: costed, recipe, costs } = inputs;
    const formats: Record<SiteId, SiteFormat> = { ...formatsWhere(costed, () => false, recipe) };
    let left = budget - planCost(costs, costed, formats);
    if (left < 0) return { reason: 'even everything low costs more than the budget' };
    for (const unit of randomOrder(inputs)) {
      const more = unit.reduce((sum, id) => sum + costs.of(id, 'bf16') - costs.of(id, recipe), 0);
      if (more > left) continue;
      left -= more;
      for (const id of unit) formats[id] = 'bf16';
    }
    return formats;
  },
  score: () => null,
};

/** Sites, and groups that share a format, by a random number addressed by the place of their first site. */
function randomOrder({ sites: costed, groups }: BaselineInputs): readonly (readonly SiteId[])[] {
  const groupOf = new Map(groups.flatMap((group) => group.map((id) => [id, group] as const)));
  const taken = new Set<SiteId>();
  const units: { readonly unit: readonly SiteId[]; readonly draw: number; readonly place: number }[] = [];
  costed.forEach(({ id }, place) => {
    if (taken.has(id)) return;
    const unit = groupOf.get(id) ?? [id];
    for (const fellow of unit) taken.add(fellow);
    units.push({ unit, place, draw: philox4x32([place, 0, 0, 0], [RANDOM_SEED, 0])[0] });
  });
  return units.sort((a, b) => a.draw - b.draw || a.place - b.place).map(({ unit }) => unit);
}

const PASS_PRESETS = presets('nvfp4');

export const BASELINES: readonly BaselineMethod[] = [
  ...PASS_PRESETS.map(presetMethod),
  ...presets('fp8-out').filter(({ id }) => !PASS_PRESETS.some((preset) => preset.id === id)).map(presetMethod),
  ...BLOCK_METHODS,
  MIXED,
  ...SCORE_METHODS,
  RANDOM,
];

/** The methods that can make plans of a recipe, in the order of BASELINES. */
export function baselinesFor(recipe: RecipeName): readonly BaselineMethod[] {
  return BASELINES.filter((method) => method.appliesTo(recipe));
}
