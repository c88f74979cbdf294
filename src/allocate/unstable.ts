/**
 * Decisions that flip within noise (ux.md 3.1): the plan at the same budget is solved 100 times with every clean angle
 * shifted by a normal draw of width max(standard error, noise floor of its pass); a site whose format then differs from the
 * plan's in at least 5 solves is unstable. The draws are addressed by site, format and solve (Philox), so the same plan
 * has the same unstable sites, whatever else is on the page.
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { assert } from '../base/errors';
import { philox4x32 } from '../base/random';
import { floorOf } from '../graph/noise-floor';
import type { SiteFormat, SiteId } from '../graph/policy';
import { anglesOf, frameQuestion, poseAngles, type SiteChoice } from './choices';
import { formatOf, resultIn, type CostedSite, type Formats } from './cost';
import type { MeasuredFormat } from './offers';
import { solveRanks } from './within';

export const SOLVES = 100;
export const FLIPS_TO_FLAG = 5;
const SEED = 20240501;

/** Degrees by which the clean angle of a site in a format is uncertain. */
export type NoiseWidth = (id: SiteId, format: SiteFormat) => number;

/** max(standard error over batches, floor of the pass); 0 for what was not measured and for high precision. */
export function noiseWidth(sites: readonly CostedSite[], low: readonly MeasuredFormat[]): NoiseWidth {
  const passes = new Map(sites.map(({ id, pass }) => [id, pass]));
  return (id, format) => {
    const evidence = low.find((measured) => measured.format === format)?.evidence;
    const result = evidence && resultIn(evidence, id, format);
    const pass = passes.get(id);
    if (evidence === undefined || pass === undefined || result?.status !== 'measured') return 0;
    return Math.max(result.angleSeDeg ?? 0, evidence.floor === null ? 0 : floorOf(pass, evidence.floor));
  };
}

/**
 * How often each site took another format than the plan's, solve by solve: yields after each of the SOLVES what there is by
 * then, always the same map, so that a page can do a few at a time. Sites that never did are left out. Costs, groups and
 * locks are read once: only angles change from solve to solve.
 */
export function* flipSolves(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[], plan: Formats, width: NoiseWidth): Generator<ReadonlyMap<SiteId, number>, void> {
  const budget = sites.reduce((sum, { id, offers }) => {
    const offer = offers.find(({ format }) => format === formatOf(plan, id));
    assert(offer, `flipSolves: the plan has ${id} in ${formatOf(plan, id)}, which is not offered`);
    return sum + offer.cost;
  }, 0);
  const frame = frameQuestion(sites, groups);
  const noisy = noisyOffers(sites, width);
  const angles = anglesOf(sites);
  const flips = new Map<SiteId, number>();
  for (let solve = 0; solve < SOLVES; solve++) {
    for (const { index, angleDeg, widthDeg, site, offer } of noisy) angles.tan2[index] = shifted(angleDeg + widthDeg * normal(site, offer, solve));
    const { ranks } = solveRanks(poseAngles(frame, angles), { cost: budget });
    frame.decisions.forEach((decision, d) => {
      const format = decision.formats[ranks[d]!];
      for (const id of decision.sites) if (formatOf(plan, id) !== format) flips.set(id, (flips.get(id) ?? 0) + 1);
    });
    yield flips;
  }
}

/** An offer whose angle is uncertain; `site` and `offer` address its draws, `index` is its place among all offers. */
interface NoisyOffer {
  readonly index: number;
  readonly site: number;
  readonly offer: number;
  readonly angleDeg: number;
  readonly widthDeg: number;
}

function noisyOffers(sites: readonly SiteChoice[], width: NoiseWidth): NoisyOffer[] {
  let count = 0;
  return sites.flatMap(({ id, offers }, site) => offers.flatMap(({ format, tan2 }, offer): NoisyOffer[] => {
    const index = count++;
    const widthDeg = width(id, format);
    return widthDeg === 0 || tan2 === null || !Number.isFinite(tan2) ? [] : [{ index, site, offer, angleDeg: angleOfTanSquared(tan2), widthDeg }];
  }));
}

/** tan^2 of a shifted clean angle: below 0 it counts as 0, as in a measurement (method.md 1), and it stays short of the pole at 90. */
function shifted(angleDeg: number): number {
  return tanSquared(Math.min(89.9, Math.max(0, angleDeg)));
}

/** A standard normal draw by its address (Box and Muller 1958). */
function normal(site: number, format: number, solve: number): number {
  const [a, b] = philox4x32([site, format, solve, 0], [SEED, 0]);
  return Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32)) * Math.cos((2 * Math.PI * b) / 2 ** 32);
}
