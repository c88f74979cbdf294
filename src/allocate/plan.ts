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
import { poseQuestion, type Question } from './choices';
import { cleanTan2, floorTan2, formatOf } from './cost';
import type { CostedSite, Evidence, Formats } from './cost';
import type { CostTable } from './costs';
import { solveChoices, type ChoiceFrontier } from './frontier';
import { solveFrontier } from './knapsack';
import type { Frontier, KnapsackItem } from './knapsack';
import { offeredChoices, type MeasuredFormat } from './offers';
import { solveWithin, type Limit, type Solution } from './within';

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

/** What the solver is asked about a model, whatever plan is in hand: sites, the low formats they may take, costs, groups. */
export interface PlanQuestion {
  readonly sites: readonly CostedSite[];
  /** Highest precision first: the order of preference among formats equal in cost and angle. */
  readonly low: readonly MeasuredFormat[];
  /** Must cover `low` and the formats of locked sites. */
  readonly costs: CostTable;
  /** Sites that must share a format. */
  readonly groups: readonly (readonly SiteId[])[];
}

/**
 * Every efficient plan under the plan's locks. With `part` (a row, a layer) only the sites inside are asked about and no
 * floor is added: the frontier is that of the marginal bar's own angle and cost.
 * Throws E-PLAN-08 where locks contradict the groups.
 */
export function planFrontier(asked: PlanQuestion, plan: Plan, part?: ReadonlySet<SiteId>): ChoiceFrontier;
export function planFrontier(sites: readonly CostedSite[], plan: Plan, evidence: Evidence, part?: ReadonlySet<SiteId>): Frontier;
export function planFrontier(asked: PlanQuestion | readonly CostedSite[], plan: Plan, third?: ReadonlySet<SiteId> | Evidence, fourth?: ReadonlySet<SiteId>): ChoiceFrontier | Frontier {
  if ('low' in asked) return solveChoices(questionFor(asked, plan, third as ReadonlySet<SiteId> | undefined));
  return twoFormatFrontier(asked, plan, third as Evidence, fourth);
}

/** The optimal plan within a limit on cost or angle, proven; locks and `part` as planFrontier. */
export function planWithin(asked: PlanQuestion, plan: Plan, limit: Limit, part?: ReadonlySet<SiteId>): Solution {
  return solveWithin(questionFor(asked, plan, part), limit);
}

/** The question itself, for those who ask for several budgets: posed once (locks and `part` as planFrontier), solved as often as one likes. */
export function questionFor({ sites, low, costs, groups }: PlanQuestion, plan: Plan, part?: ReadonlySet<SiteId>): Question {
  const inside = part === undefined ? sites : sites.filter(({ id }) => part.has(id));
  const locks = Object.fromEntries(inside.flatMap(({ id }): [SiteId, SiteFormat][] => (plan.locked[id] ? [[id, formatOf(plan.formats, id)]] : [])));
  return poseQuestion(offeredChoices(inside, low, costs, locks), groups);
}

/** The plan with other formats; locked sites and sites outside `part` stay, and so do sites that `formats` does not name. */
export function withFormats(plan: Plan, formats: Formats, part?: ReadonlySet<SiteId>): Plan {
  const free = Object.entries(formats).filter(([id]) => plan.locked[id] !== true && (part === undefined || part.has(id)));
  return { ...plan, formats: { ...plan.formats, ...Object.fromEntries(free) } };
}

/** The plan with a frontier's point taken over; locked sites and sites outside `part` stay. */
export function planAt(plan: Plan, frontier: ChoiceFrontier, index: number, part?: ReadonlySet<SiteId>): Plan;
export function planAt(plan: Plan, sites: readonly CostedSite[], frontier: Frontier, index: number, low: RecipeName, part?: ReadonlySet<SiteId>): Plan;
export function planAt(plan: Plan, second: ChoiceFrontier | readonly CostedSite[], third: Frontier | number, fourth?: number | ReadonlySet<SiteId>, low?: RecipeName, part?: ReadonlySet<SiteId>): Plan {
  if ('formatsAt' in second) return withFormats(plan, second.formatsAt(third as number), fourth as ReadonlySet<SiteId> | undefined);
  const high = new Set((third as Frontier).highAt(fourth as number));
  const formats: Record<SiteId, SiteFormat> = {};
  for (const { id } of second) {
    const asked = (part === undefined || part.has(id)) && plan.locked[id] !== true;
    formats[id] = asked ? (high.has(id) ? 'bf16' : low!) : formatOf(plan.formats, id);
  }
  return { ...plan, formats };
}

function twoFormatFrontier(sites: readonly CostedSite[], plan: Plan, evidence: Evidence, part?: ReadonlySet<SiteId>): Frontier {
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
