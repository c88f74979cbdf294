/**
 * One string a policy: what plan hashes are made of. Two policies that mean the same give the same string, whatever the
 * order of their keys, whether a default is written out and whether an option is set that no low site reads.
 */
import { OUT_SCHEME, type Policy, type PolicyOptions, type RecipeName } from './policy';
import { schemeOptions } from './recipes';

/** Policy -> JSON without spaces, keys and op groups sorted by code unit; `outs` only where an op group is low. */
export function canonicalPolicy(policy: Policy): string {
  const options = byKey(policyOptions(policy));
  const outs = [...(policy.outs ?? [])].sort();
  return JSON.stringify({ options, ...(outs.length > 0 ? { outs } : {}), passes: byKey(policy.passes), reference: policy.reference });
}

/**
 * The options that the low sites of a policy read, defaults left out. Where nothing is low `weights1d` stays: strings of
 * plans stored before there were other schemes hold it.
 */
export function policyOptions({ passes, outs = [], options }: Pick<Policy, 'passes' | 'outs' | 'options'>): PolicyOptions {
  const schemes: RecipeName[] = Object.values(passes);
  if (outs.length > 0) schemes.push(OUT_SCHEME);
  if (schemes.length === 0) return options.weights1d ? { weights1d: true } : {};
  return schemeOptions(schemes, options);
}

function byKey<T extends object>(record: T): object {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
