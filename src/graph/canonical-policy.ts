/**
 * One string a policy: what plan hashes are made of. Two policies that mean the same give the same string, whatever the
 * order of their keys and whether a default is written out.
 */
import type { Policy } from './policy';

/** Policy -> JSON without spaces, keys sorted by code unit, options at their default left out. */
export function canonicalPolicy(policy: Policy): string {
  const passes = Object.fromEntries(Object.entries(policy.passes).sort(([a], [b]) => (a < b ? -1 : 1)));
  const options = policy.options.weights1d ? { weights1d: true } : {};
  return JSON.stringify({ options, passes, reference: policy.reference });
}
