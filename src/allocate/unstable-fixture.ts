/** Test support: all solves of a plan's flips at once, and the sites that they flag. */
import type { SiteId } from '../graph/policy';
import type { SiteChoice } from './choices';
import type { Formats } from './cost';
import { FLIPS_TO_FLAG, flipSolves, type NoiseWidth } from './unstable';

/** flipSolves after all of its solves. */
export function countFlips(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[], plan: Formats, width: NoiseWidth): ReadonlyMap<SiteId, number> {
  let flips: ReadonlyMap<SiteId, number> = new Map();
  for (const now of flipSolves(sites, groups, plan, width)) flips = now;
  return flips;
}

/** The unstable sites, in site order. */
export function unstableSites(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[], plan: Formats, width: NoiseWidth): SiteId[] {
  const flips = countFlips(sites, groups, plan, width);
  return sites.map((site) => site.id).filter((id) => (flips.get(id) ?? 0) >= FLIPS_TO_FLAG);
}
