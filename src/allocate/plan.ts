/**
 * A plan: which format every site runs in, what is locked, and its name. Plans are immutable values that a person edits;
 * the engine sees them as a Policy. Presets and solver results are plans like any other.
 */
import { hashOf } from '../base/canonical-json';
import { canonicalPolicy } from '../graph/canonical-policy';
import { assert } from '../base/errors';
import { OUT_SCHEME, type PassScheme, type Policy, type PolicyOptions, type RecipeName, type SiteFormat, type SiteId } from '../graph/policy';
import { RECIPES, type Recipe } from '../graph/recipes';
import { PASSES } from '../graph/types';
import { cleanTan2, floorTan2, formatOf } from './cost';
import type { CostedSite, Evidence, Formats } from './cost';
import { solveFrontier } from './knapsack';
import type { Frontier, KnapsackItem } from './knapsack';

export interface Plan {
  readonly name: string;
  /** A format for every site of the recipe. */
  readonly formats: Formats;
  /** Sites that brushes and the solver leave alone. */
  readonly locked: Readonly<Record<SiteId, true>>;
  readonly notes: string;
}

export interface Preset {
  readonly id: string;
  readonly name: string;
  high(site: CostedSite): boolean;
}

const EVERYTHING: readonly Preset[] = [
  { id: 'all-low', name: 'All low', high: () => false },
  { id: 'all-high', name: 'All BF16', high: () => true },
];
const PRESETS: Readonly<Record<Recipe['kind'], readonly Preset[]>> = {
  pass: [
    ...EVERYTHING,
    ...PASSES.map((pass) => ({
      id: `${pass}-high`,
      name: { fprop: 'Forward passes BF16', dgrad: 'Input gradients BF16', wgrad: 'Weight gradients BF16' }[pass],
      high: (site: CostedSite) => site.pass === pass,
    })),
  ],
  out: [...EVERYTHING, { id: 'fixed', name: 'Embedding, head, norms BF16', high: (site) => site.inFixedPolicy }],
};

/**
 * Plans everyone compares with (method.md 7): everything low, everything high, then each pass HP, or the fixed FP8 policy
 * for op groups.
 */
export function presets(recipe: RecipeName): readonly Preset[] {
  return PRESETS[RECIPES[recipe].kind];
}

export function presetPlan(preset: Preset, sites: readonly CostedSite[], low: RecipeName): Plan {
  return { name: preset.name, formats: formatsWhere(sites, preset.high, low), locked: {}, notes: '' };
}

/** BF16 where `high` holds, the low format elsewhere. */
export function formatsWhere(sites: readonly CostedSite[], high: (site: CostedSite) => boolean, low: RecipeName): Formats {
  return Object.fromEntries(sites.map((site): [SiteId, SiteFormat] => [site.id, high(site) ? 'bf16' : low]));
}

/** The plan with some sites in a format; locked ones stay, and are counted so that the page can say so. */
export function paint(plan: Plan, ids: Iterable<SiteId>, format: SiteFormat): { readonly plan: Plan; readonly changed: readonly SiteId[]; readonly lockedUnchanged: number } {
  const formats: Record<SiteId, SiteFormat> = { ...plan.formats };
  const changed: SiteId[] = [];
  let lockedUnchanged = 0;
  for (const id of ids) {
    if (formats[id] === format) continue;
    if (plan.locked[id]) lockedUnchanged += 1;
    else {
      formats[id] = format;
      changed.push(id);
    }
  }
  return { plan: changed.length > 0 ? { ...plan, formats } : plan, changed, lockedUnchanged };
}

/** Sites whose format differs, in site order. */
export function differences(sites: readonly CostedSite[], a: Formats, b: Formats): SiteId[] {
  return sites.map((site) => site.id).filter((id) => formatOf(a, id) !== formatOf(b, id));
}

/** The policy the engine runs for a plan: its low passes and its low op groups, in site order. */
export function planPolicy(formats: Formats, sites: readonly CostedSite[], options: PolicyOptions): Policy {
  const passes: Record<SiteId, PassScheme> = {};
  const outs: string[] = [];
  for (const { id, node, pass } of sites) {
    const format = formatOf(formats, id);
    if (format === 'bf16') continue;
    assert((format === OUT_SCHEME) === (pass === 'out'), `planPolicy: ${id} cannot run in ${format}`);
    if (format === OUT_SCHEME) outs.push(node);
    else passes[id] = format;
  }
  return { reference: 'bf16', passes, ...(outs.length > 0 ? { outs } : {}), options };
}

export interface PlanContext {
  readonly modelSha256: string;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
}

/** `sha256:<hex>` of model, recipe, options and which sites run low; name, locks and notes do not matter. */
export function planHash(formats: Formats, sites: readonly CostedSite[], context: PlanContext): string {
  return policyHash(planPolicy(formats, sites, context.options), context);
}

/** The plan hash of a policy, for the worker and the command line: equal to planHash of a plan that means the same. */
export function policyHash(policy: Policy, context: Pick<PlanContext, 'modelSha256' | 'recipe'>): string {
  return hashOf({ model: context.modelSha256, recipe: context.recipe, policy: canonicalPolicy(policy) });
}

/**
 * The solver's question for a plan: cost is the recipe's, locked sites stay as they are. With `part` (a row, a layer) only the
 * sites inside are asked about and no floor is added: the frontier is that of the marginal bar's own angle and cost.
 */
export function planFrontier(sites: readonly CostedSite[], plan: Plan, evidence: Evidence, part?: ReadonlySet<SiteId>): Frontier {
  const items = sites.filter(({ id }) => part === undefined || part.has(id)).map((site): KnapsackItem => {
    const locked = plan.locked[site.id] === true;
    return {
      id: site.id,
      cost: site.cost,
      tan2: cleanTan2(evidence, site.id),
      floorTan2: part === undefined ? floorTan2(evidence, site.pass) : 0,
      lock: locked ? (formatOf(plan.formats, site.id) === 'bf16' ? 'high' : 'low') : null,
    };
  });
  return solveFrontier(items);
}

/** The plan with a frontier's point taken over; sites outside `part` and locked sites keep their format. */
export function planAt(plan: Plan, sites: readonly CostedSite[], frontier: Frontier, index: number, low: RecipeName, part?: ReadonlySet<SiteId>): Plan {
  const high = new Set(frontier.highAt(index));
  const formats: Record<SiteId, SiteFormat> = {};
  for (const { id } of sites) {
    const asked = (part === undefined || part.has(id)) && plan.locked[id] !== true;
    formats[id] = asked ? (high.has(id) ? 'bf16' : low) : formatOf(plan.formats, id);
  }
  return { ...plan, formats };
}
