/**
 * The allocator's question (method.md 7): every site takes one of the formats offered for it, each with a cost and the
 * squared tangent of its clean angle; squared tangents add. Sites that must share a format are one decision. Here the
 * question becomes integers, so that sums are exact, ties are real ties, and the same input gives the same plan: costs are
 * divided by their gcd, tan^2 is rounded to units of 2^-52 of the largest possible sum. That rounding moves the tan^2 of a
 * plan of N sites by at most N / 2 units; costs are not rounded here (costs.ts says what it rounds).
 */
import { BendscopeError } from '../base/errors';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { Entry } from './pareto';
import { mirrored, relax, type RelaxedQuestion, type Relaxation } from './relaxation';

export interface FormatOffer {
  readonly format: SiteFormat;
  /** What this format costs the plan, an integer >= 0. */
  readonly cost: number;
  /** tan^2 of the site's clean angle in this format, 0 for high precision; null where it failed or was not measured. */
  readonly tan2: number | null;
  /** tan^2 of the noise floor that a plan carries once a site has this format (method.md 1); 0 for high precision. */
  readonly floorTan2: number;
}

export interface SiteChoice {
  readonly id: SiteId;
  /** In the order of preference among formats that are equal in cost and tan^2: highest precision first. */
  readonly offers: readonly FormatOffer[];
  /** The format it must keep, or null. Only a lock can give a site a format that was not measured. */
  readonly lock: SiteFormat | null;
}

/** What a format of a decision costs and bends, in integers. */
interface Offer {
  /** Its place among the decision's formats; the lower one wins a tie. */
  readonly rank: number;
  readonly cost: number;
  /** Sum of the measured tan^2. */
  readonly bend: number;
  /** The largest floor. */
  readonly floor: number;
  /** Whether the solver may take it. */
  readonly usable: boolean;
}

/** A site, or the sites that share a format. */
interface Decision {
  readonly formats: readonly SiteFormat[];
  readonly sites: readonly SiteId[];
  readonly offers: readonly Offer[];
}

/** What the decisions may take when a plan's floor is at most `floor`. */
export interface Level {
  /** tan^2 of the floor, in units. */
  readonly floor: number;
  /**
   * By decision, cost ascending (the weight) and bend descending (the value): formats that another one beats, or equals with
   * a lower rank, are left out.
   */
  readonly entries: readonly (readonly Entry[])[];
  readonly relaxation: () => Relaxation;
  /** The same with bend as the weight and cost as the value. */
  readonly byBend: () => RelaxedQuestion;
}

/** A question to be solved: for every efficient plan (frontier.ts) or within one budget (within.ts), as often as one likes. */
export interface Question {
  /** In the order of their first sites. */
  readonly decisions: readonly Decision[];
  /** By floor ascending; those at which some decision is left with nothing are left out. Never empty. */
  readonly levels: readonly Level[];
  /** An integer cost is this many of the caller's; an integer bend is tan^2 times `scale`. */
  readonly costUnit: number;
  readonly scale: number;
  /** Offers without a measurement; `kept`: the lock that takes one of them all the same. */
  readonly unpredicted: readonly { readonly id: SiteId; readonly formats: readonly SiteFormat[]; readonly kept: SiteFormat | null }[];
  /** Cost of everything in its dearest format, in the caller's unit. */
  readonly totalCost: number;
}

/**
 * Sites, and lists of sites that must share a format -> the question in integers.
 * Throws E-PLAN-08 for locks that no plan can satisfy and for sites left without a format; E-BUG-02 for a cost that is no
 * integer >= 0, a negative tan^2 or floor, or groups that overlap or name no site.
 */
export function poseQuestion(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[] = []): Question {
  for (const site of sites) checkSite(site);
  const offers = sites.flatMap((site) => site.offers);
  const costUnit = offers.reduce((divisor, offer) => gcd(divisor, offer.cost), 0) || 1;
  const scale = integerScale(sites);
  const decisions = gather(sites, groups).map((members) => decisionOf(members, costUnit, scale));
  const dearest = decisions.reduce((sum, decision) => sum + Math.max(...decision.offers.map((offer) => offer.cost)), 0);
  if (!Number.isSafeInteger(dearest)) throw new BendscopeError('E-BUG-02', `solver: expected costs that add up below 2^53 units of their gcd, got ${dearest}`);
  const floors = new Set([0, ...decisions.flatMap((decision) => decision.offers.filter((offer) => offer.usable).map((offer) => offer.floor))]);
  return {
    decisions,
    levels: [...floors].sort((a, b) => a - b).flatMap((floor) => levelOf(decisions, floor) ?? []),
    costUnit,
    scale,
    unpredicted: sites.flatMap(({ id, offers: own, lock }) => {
      const formats = own.filter((offer) => !isMeasured(offer)).map((offer) => offer.format);
      return formats.length === 0 ? [] : [{ id, formats, kept: lock !== null && formats.includes(lock) ? lock : null }];
    }),
    totalCost: dearest * costUnit,
  };
}

function levelOf(decisions: readonly Decision[], floor: number): Level | null {
  const entries: Entry[][] = [];
  for (const { offers } of decisions) {
    const allowed = offers.filter((offer) => offer.usable && offer.floor <= floor).sort((a, b) => a.cost - b.cost || a.bend - b.bend || a.rank - b.rank);
    const kept: Entry[] = [];
    for (const { rank, cost, bend } of allowed) if (bend < (kept.at(-1)?.value ?? Infinity)) kept.push({ rank, weight: cost, value: bend });
    if (kept.length === 0) return null;
    entries.push(kept);
  }
  let known: Relaxation | null = null;
  let turned: RelaxedQuestion | null = null;
  const relaxation = (): Relaxation => (known ??= relax(entries));
  return { floor, entries, relaxation, byBend: () => (turned ??= mirrored(entries, relaxation())) };
}

/** The format of every site, from the rank each decision takes. */
export function formatsOf(question: Question, ranks: ArrayLike<number>): Record<SiteId, SiteFormat> {
  const formats: Record<SiteId, SiteFormat> = {};
  question.decisions.forEach((decision, i) => {
    for (const id of decision.sites) formats[id] = decision.formats[ranks[i]!]!;
  });
  return formats;
}

/** The tie rule: at the first decision where two equal plans differ, the plan with the lower rank (higher precision) wins. */
export function winsTie(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}

function isMeasured(offer: FormatOffer): boolean {
  return offer.tan2 !== null && Number.isFinite(offer.tan2);
}

/** Sites by decision: a group stands where its first site does. */
function gather(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[]): SiteChoice[][] {
  const groupOf = new Map<SiteId, number>();
  groups.forEach((group, g) => {
    for (const id of group) {
      if (groupOf.has(id)) throw new BendscopeError('E-BUG-02', `solver: expected ${id} in one group`);
      groupOf.set(id, g);
    }
  });
  const byGroup = new Map<number, SiteChoice[]>();
  const gathered: SiteChoice[][] = [];
  for (const site of sites) {
    const group = groupOf.get(site.id);
    groupOf.delete(site.id);
    const known = group === undefined ? undefined : byGroup.get(group);
    if (known) known.push(site);
    else {
      const members = [site];
      gathered.push(members);
      if (group !== undefined) byGroup.set(group, members);
    }
  }
  for (const id of groupOf.keys()) throw new BendscopeError('E-BUG-02', `solver: expected groups of known sites, got ${id}`);
  return gathered;
}

function decisionOf(members: readonly SiteChoice[], costUnit: number, scale: number): Decision {
  const [first] = members;
  const shared = first!.offers.map((offer) => offer.format).filter((format) => members.every((site) => site.offers.some((offer) => offer.format === format)));
  const names = members.map((site) => site.id).join(', ');
  const locks = [...new Set(members.flatMap((site) => site.lock ?? []))];
  if (locks.length > 1) throw new BendscopeError('E-PLAN-08', `plan: expected ${names} to share a format, got locks to ${locks.join(' and ')}`, 'Unlock one of them, or lock all to the same format.');
  const [lock] = locks;
  if (lock !== undefined && !shared.includes(lock)) {
    throw new BendscopeError('E-PLAN-08', `plan: expected ${names} locked to ${shared.join(' or ') || 'a format they share'}, got ${lock}`, 'Unlock it, or measure that format first.');
  }
  const offers = shared.map((format, rank) => {
    const own = members.map((site) => site.offers.find((offer) => offer.format === format)!);
    return {
      rank,
      cost: own.reduce((sum, offer) => sum + offer.cost / costUnit, 0),
      bend: own.reduce((sum, offer) => sum + (isMeasured(offer) ? Math.round(offer.tan2! * scale) : 0), 0),
      floor: Math.max(...own.map((offer) => Math.round(offer.floorTan2 * scale))),
      usable: lock === undefined ? own.every(isMeasured) : format === lock,
    };
  });
  if (!offers.some((offer) => offer.usable)) throw new BendscopeError('E-PLAN-08', `plan: expected a measured format for ${names}, got none`, 'Measure it, or lock it to a format.');
  return { formats: shared, sites: members.map((site) => site.id), offers };
}

/** Power of two that brings the largest possible tan^2 to at most 2^52: every sum of rounded values is then an exact integer. */
function integerScale(sites: readonly SiteChoice[]): number {
  let total = 0;
  let floor = 0;
  for (const { offers } of sites) {
    total += Math.max(0, ...offers.map((offer) => (isMeasured(offer) ? offer.tan2! : 0)));
    floor = Math.max(floor, ...offers.map((offer) => offer.floorTan2));
  }
  return total + floor === 0 ? 1 : 2 ** Math.min(1000, 51 - Math.floor(Math.log2(total + floor)));
}

function checkSite({ id, offers }: SiteChoice): void {
  for (const { cost, tan2, floorTan2 } of offers) {
    if (!Number.isSafeInteger(cost) || cost < 0) throw new BendscopeError('E-BUG-02', `solver ${id}: expected an integer cost >= 0, got ${cost}`);
    if (tan2 !== null && tan2 < 0) throw new BendscopeError('E-BUG-02', `solver ${id}: expected tan^2 >= 0, got ${tan2}`);
    if (!(floorTan2 >= 0 && Number.isFinite(floorTan2))) throw new BendscopeError('E-BUG-02', `solver ${id}: expected a floor >= 0, got ${floorTan2}`);
  }
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
