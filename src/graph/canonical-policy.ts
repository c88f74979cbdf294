/**
 * One string a policy: what plan hashes are made of. Two policies that mean the same give the same string, whatever the
 * order of their keys, whether a default is written out and whether an option is set that no low site reads (`weights1d`
 * excepted, which stays while NVFP4 or nothing is low).
 */
import { OUT_SCHEME, type Policy, type PolicyOptions, type RecipeName } from './policy';
import { RECIPES, schemeOptions, SWITCHES, type OptionName } from './recipes';

/** Policy -> JSON without spaces, keys and op groups sorted by code unit; `outs` only where an op group is low. */
export function canonicalPolicy(policy: Policy): string {
  const options = byKey(Object.fromEntries(Object.entries(policyOptions(policy)).filter(([name]) => isRead(name as OptionName, policy))));
  const outs = [...(policy.outs ?? [])].sort();
  return JSON.stringify({ options, ...(outs.length > 0 ? { outs } : {}), passes: byKey(policy.passes), reference: policy.reference });
}

/**
 * The options that the low schemes of a policy read in any of their passes, defaults left out. Where nothing is low `weights1d` stays: strings of
 * plans stored before there were other schemes hold it.
 */
export function policyOptions({ passes, outs = [], options }: Pick<Policy, 'passes' | 'outs' | 'options'>): PolicyOptions {
  const schemes: RecipeName[] = Object.values(passes);
  if (outs.length > 0) schemes.push(OUT_SCHEME);
  if (schemes.length === 0) return options.weights1d ? { weights1d: true } : {};
  return schemeOptions(schemes, options);
}

/** Whether one of the passes that a switch can change is low in a scheme that has the switch. */
function isRead(name: OptionName, { passes }: Pick<Policy, 'passes'>): boolean {
  const { passes: among } = SWITCHES[name];
  if (among === undefined) return true;
  return Object.entries(passes).some(([id, scheme]) => RECIPES[scheme].switches.includes(name) && among.some((pass) => id.endsWith(`:${pass}`)));
}

function byKey<T extends object>(record: T): object {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
