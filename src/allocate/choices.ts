/**
 * The allocator's question (method.md 7): every site takes one of the formats offered for it, each with a cost and the
 * squared tangent of its clean angle; squared tangents add. Sites that must share a format are one decision. Here the
 * question becomes integers, so that sums are exact, ties are real ties, and the same input gives the same plan: costs are
 * divided by their gcd, tan^2 is rounded to units of 2^-52 of the largest possible sum. That rounding moves the tan^2 of a
 * plan of N sites by at most N / 2 units; costs are not rounded here (costs.ts says what it rounds).
 */
import { BendscopeError } from '../base/errors';
import type { SiteFormat, SiteId } from '../graph/policy';
import { gatherDecisions, type Decision } from './decisions';
import { efficientOptions, leastValue, leastWeight, type OptionTable } from './options';
import { mirrored, relax, type RelaxedQuestion } from './relaxation';

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

/** What the decisions may take when a plan's floor is at most `floor`. */
export interface Level {
  /** tan^2 of the floor, in units. */
  readonly floor: number;
  /** Cost is the weight and bend the value. */
  readonly options: OptionTable;
  readonly leastCost: number;
  readonly leastBend: number;
  readonly byCost: () => RelaxedQuestion;
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

/** Angles of every offer of every site, in order. */
export interface OfferAngles {
  /** NaN where there is none. */
  readonly tan2: Float64Array;
  readonly floorTan2: Float64Array;
}

/** A question without its angles: what stays when only they change. Decisions, and their formats, in flat arrays. */
export interface QuestionFrame extends Pick<Question, 'decisions' | 'costUnit' | 'unpredicted' | 'totalCost'> {
  /** The formats of decision d are those from starts[d] to starts[d + 1], by rank. */
  readonly starts: Int32Array;
  readonly costs: Float64Array;
  /** Whether the solver may take it. */
  readonly usable: Uint8Array;
  /** Which offers a format adds up: indices among those of all sites, from memberStarts[format] on. */
  readonly memberStarts: Int32Array;
  readonly members: Int32Array;
  /** Where the offers of a site begin among those of all sites. */
  readonly siteStarts: Int32Array;
}

/**
 * Sites, and lists of sites that must share a format -> the question in integers.
 * Throws E-PLAN-08 for locks that no plan can satisfy and for sites left without a format; E-BUG-02 for a cost that is no
 * integer >= 0, a negative tan^2 or floor, or groups that overlap or name no site.
 */
export function poseQuestion(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[] = []): Question {
  return poseAngles(frameQuestion(sites, groups), anglesOf(sites));
}

/** The first step of poseQuestion, with its errors. */
export function frameQuestion(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[]): QuestionFrame {
  for (const site of sites) checkSite(site);
  const siteStarts = new Int32Array(sites.length + 1);
  sites.forEach(({ offers }, s) => (siteStarts[s + 1] = siteStarts[s]! + offers.length));
  let costUnit = 0;
  for (const { offers } of sites) for (const { cost } of offers) costUnit = gcd(cost, costUnit);
  costUnit ||= 1;
  const decisions = gatherDecisions(sites, groups);
  const starts = Int32Array.from([0, ...decisions.map(({ formats }) => formats.length)]);
  for (let d = 1; d < starts.length; d++) starts[d]! += starts[d - 1]!;
  const count = starts.at(-1)!;
  const [costs, usable, memberStarts] = [new Float64Array(count), new Uint8Array(count), new Int32Array(count + 1)];
  const members: number[] = [];
  let dearest = 0;
  decisions.forEach((decision, d) => {
    let most = 0;
    decision.formats.forEach((format, rank) => {
      const o = starts[d]! + rank;
      let isMeasured = true;
      for (const s of decision.members) {
        const place = sites[s]!.offers.findIndex((offer) => offer.format === format);
        const offer = sites[s]!.offers[place]!;
        members.push(siteStarts[s]! + place);
        costs[o]! += offer.cost / costUnit;
        isMeasured &&= isNumber(offer.tan2);
      }
      memberStarts[o + 1] = members.length;
      usable[o] = (decision.lock === null ? isMeasured : decision.lock === format) ? 1 : 0;
      most = Math.max(most, costs[o]!);
    });
    dearest += most;
    if (!usable.subarray(starts[d], starts[d + 1]).includes(1)) {
      throw new BendscopeError('E-PLAN-08', `plan: expected a measured format for ${decision.sites.join(', ')}, got none`, 'Measure it, or lock it to a format.');
    }
  });
  if (!Number.isSafeInteger(dearest)) throw new BendscopeError('E-BUG-02', `solver: expected costs that add up below 2^53 units of their gcd, got ${dearest}`);
  const unpredicted = sites.flatMap(({ id, offers, lock }) => {
    const formats = offers.filter((offer) => !isNumber(offer.tan2)).map((offer) => offer.format);
    return formats.length === 0 ? [] : [{ id, formats, kept: lock !== null && formats.includes(lock) ? lock : null }];
  });
  return { decisions, costUnit, unpredicted, totalCost: dearest * costUnit, starts, costs, usable, memberStarts, members: Int32Array.from(members), siteStarts };
}

export function anglesOf(sites: readonly SiteChoice[]): OfferAngles {
  const offers = sites.flatMap((site) => site.offers);
  return { tan2: Float64Array.from(offers, ({ tan2 }) => (isNumber(tan2) ? tan2 : NaN)), floorTan2: Float64Array.from(offers, ({ floorTan2 }) => floorTan2) };
}

/** The second step: the question with these angles. What the frame's own sites have no measurement of stays so. */
export function poseAngles(frame: QuestionFrame, angles: OfferAngles): Question {
  const { decisions, costUnit, unpredicted, totalCost, starts, costs, memberStarts, members, usable } = frame;
  const { tan2, floorTan2 } = angles;
  const scale = integerScale(frame, angles);
  const [bends, floors] = [new Float64Array(costs.length), new Float64Array(costs.length)];
  for (let o = 0; o < bends.length; o++) {
    for (let m = memberStarts[o]!; m < memberStarts[o + 1]!; m++) {
      const offer = members[m]!;
      bends[o]! += Math.round((tan2[offer]! || 0) * scale);
      floors[o] = Math.max(floors[o]!, Math.round(floorTan2[offer]! * scale));
    }
  }
  const steps = new Set([0]);
  for (let o = 0; o < floors.length; o++) if (usable[o] === 1) steps.add(floors[o]!);
  const levels = [...steps].sort((a, b) => a - b).flatMap((floor) => {
    const options = efficientOptions({ starts, costs, bends }, (o) => usable[o] === 1 && floors[o]! <= floor);
    return options === null ? [] : [levelOf(floor, options)];
  });
  return { decisions, levels, costUnit, scale, unpredicted, totalCost };
}

/** A chain is made when a budget first asks for it. */
function levelOf(floor: number, options: OptionTable): Level {
  let known: RelaxedQuestion | null = null;
  let turned: RelaxedQuestion | null = null;
  const byCost = (): RelaxedQuestion => (known ??= { options, relaxation: relax(options) });
  return { floor, options, leastCost: leastWeight(options), leastBend: leastValue(options), byCost, byBend: () => (turned ??= mirrored(byCost())) };
}

/** The format of every site, from the rank each decision takes. */
export function formatsOf({ decisions }: Pick<Question, 'decisions'>, ranks: ArrayLike<number>): Record<SiteId, SiteFormat> {
  const formats: Record<SiteId, SiteFormat> = {};
  decisions.forEach((decision, i) => {
    const format = decision.formats[ranks[i]!]!;
    for (const id of decision.sites) formats[id] = format;
  });
  return formats;
}

/** The tie rule: at the first decision where two equal plans differ, the plan with the lower rank (higher precision) wins. */
export function winsTie(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}

function isNumber(tan2: number | null): tan2 is number {
  return tan2 !== null && Number.isFinite(tan2);
}

/** Power of two that brings the largest possible tan^2 to at most 2^52: every sum of rounded values is then an exact integer. */
function integerScale({ siteStarts }: QuestionFrame, { tan2, floorTan2 }: OfferAngles): number {
  let total = 0;
  for (const floor of floorTan2) if (floor > total) total = floor;
  for (let s = 0; s + 1 < siteStarts.length; s++) {
    let most = 0;
    for (let o = siteStarts[s]!; o < siteStarts[s + 1]!; o++) if (tan2[o]! > most) most = tan2[o]!;
    total += most;
  }
  return total === 0 ? 1 : 2 ** Math.min(1000, 51 - Math.floor(Math.log2(total)));
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
