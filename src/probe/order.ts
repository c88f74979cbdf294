/** A policy's low sites in one order. */
import type { Policy, SiteId } from '../graph/policy';

/** Low sites of a policy, sorted: the same policy has one order. */
export function canonicalSites(policy: Policy): SiteId[] {
  return Object.keys(policy.passes).sort();
}
