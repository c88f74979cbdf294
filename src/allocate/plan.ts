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
import { poseQuestion, type FormatOffer, type Question, type SiteChoice } from './choices';
import { cleanTan2, floorTan2, formatOf } from './cost';
import type { CostedSite, Formats } from './cost';
import type { CostTable } from './costs';
import { solveChoices, type ChoiceFrontier } from './frontier';
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
  /** Must cover `low`. */
  readonly costs: CostTable;
  /** Sites that must share a format. */
  readonly groups: readonly (readonly SiteId[])[];
}

/**
 * Every efficient plan under the plan's locks. With `part` (a row, a layer) only the sites inside are asked about and no
 * floor is added: the frontier is that of the marginal bar's own angle and cost.
 * Throws E-PLAN-08 where locks contradict the groups, or hold a format that has no cost.
 */
export function planFrontier(asked: PlanQuestion, plan: Plan, part?: ReadonlySet<SiteId>): ChoiceFrontier {
  return solveChoices(questionFor(asked, plan, part));
}

/** The optimal plan within a limit on cost or angle, proven; locks, `part` and errors as planFrontier. */
export function planWithin(asked: PlanQuestion, plan: Plan, limit: Limit, part?: ReadonlySet<SiteId>): Solution {
  return solveWithin(questionFor(asked, plan, part), limit);
}

/** The question itself, for those who ask for several budgets: posed once (locks, `part` and errors as planFrontier), solved as often as one likes. */
export function questionFor(asked: PlanQuestion, plan: Plan, part?: ReadonlySet<SiteId>): Question {
  const { choices, groups } = choicesFor(asked, plan, part);
  return poseQuestion(choices, groups);
}

/**
 * The same as offers by site. A locked site keeps its format even if that was not measured, and its group with it; of a
 * group that reaches out of the part, only the sites inside share.
 */
export function choicesFor({ sites, low, costs, groups }: PlanQuestion, plan: Plan, part?: ReadonlySet<SiteId>): { readonly choices: SiteChoice[]; readonly groups: readonly (readonly SiteId[])[] } {
  const inside = part === undefined ? sites : sites.filter(({ id }) => part.has(id));
  const shared = part === undefined ? groups : groups.map((group) => group.filter((id) => part.has(id))).filter((group) => group.length > 0);
  const locks = Object.fromEntries(inside.flatMap(({ id }): [SiteId, SiteFormat][] => (plan.locked[id] ? [[id, formatOf(plan.formats, id)]] : [])));
  const choices = withHeldFormats(offeredChoices(inside, low, costs, locks), shared, { sites: inside, low, costs });
  return { groups: shared, choices: part === undefined ? choices : choices.map((choice) => ({ ...choice, offers: choice.offers.map((offer) => ({ ...offer, floorTan2: 0 })) })) };
}

/** Formats that a lock holds and the question does not offer, offered to the sites that the lock binds; measured only if `byFormat` of the evidence names them. */
function withHeldFormats(choices: SiteChoice[], groups: readonly (readonly SiteId[])[], { sites, low, costs }: Pick<PlanQuestion, 'sites' | 'low' | 'costs'>): SiteChoice[] {
  const bound = new Map<SiteId, Set<RecipeName>>();
  for (const { id, lock, offers } of choices) {
    if (lock === null || lock === 'bf16' || offers.some(({ format }) => format === lock) || !costs.formats.includes(lock)) continue;
    for (const fellow of groups.find((group) => group.includes(id)) ?? [id]) bound.set(fellow, (bound.get(fellow) ?? new Set()).add(lock));
  }
  if (bound.size === 0) return choices;
  const evidence = low[0]?.evidence ?? { sites: {}, floor: null };
  return choices.map((choice, s) => {
    const extra = [...(bound.get(choice.id) ?? [])].map((format): FormatOffer => ({
      format, cost: costs.of(choice.id, format), floorTan2: floorTan2(evidence, sites[s]!.pass),
      tan2: evidence.byFormat ? cleanTan2(evidence, choice.id, format) : null,
    }));
    return extra.length === 0 ? choice : { ...choice, offers: [...choice.offers, ...extra] };
  });
}

/** The plan with other formats; locked sites and sites outside `part` stay, and so do sites that `formats` does not name. */
export function withFormats(plan: Plan, formats: Formats, part?: ReadonlySet<SiteId>): Plan {
  const next: Record<SiteId, SiteFormat> = { ...plan.formats };
  for (const id of Object.keys(formats)) if (plan.locked[id] !== true && (part === undefined || part.has(id))) next[id] = formats[id]!;
  return { ...plan, formats: next };
}

/** The plan with what the solver found of it, or of a part of it: that of the whole names every site and keeps the locks. */
export function withSolution(plan: Plan, formats: Formats, part?: ReadonlySet<SiteId>): Plan {
  return part === undefined ? { ...plan, formats } : withFormats(plan, formats, part);
}

/** The plan with a frontier's point taken over; locked sites and sites outside `part` stay. */
export function planAt(plan: Plan, frontier: ChoiceFrontier, index: number, part?: ReadonlySet<SiteId>): Plan {
  return withSolution(plan, frontier.formatsAt(index), part);
}
