/** Sites that must share a format become one decision; locks of one bind all of it. */
import { BendscopeError } from '../base/errors';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { SiteChoice } from './choices';

/** A site, or the sites that share a format. */
export interface Decision {
  /** Those that all its sites are offered, in the order of the first one's. */
  readonly formats: readonly SiteFormat[];
  readonly sites: readonly SiteId[];
  /** Indices of the sites among all. */
  readonly members: readonly number[];
  readonly lock: SiteFormat | null;
}

/**
 * Decisions in the order of their first sites. Throws E-PLAN-08 for locks that no plan can satisfy, E-BUG-02 for groups that
 * overlap or name no site.
 */
export function gatherDecisions(sites: readonly SiteChoice[], groups: readonly (readonly SiteId[])[]): Decision[] {
  const groupOf = new Map<SiteId, number>();
  groups.forEach((group, g) => {
    for (const id of group) {
      if (groupOf.has(id)) throw new BendscopeError('E-BUG-02', `solver: expected ${id} in one group`);
      groupOf.set(id, g);
    }
  });
  const byGroup = new Map<number, number[]>();
  const gathered: number[][] = [];
  sites.forEach(({ id }, s) => {
    const group = groupOf.get(id);
    groupOf.delete(id);
    const known = group === undefined ? undefined : byGroup.get(group);
    if (known) {
      known.push(s);
      return;
    }
    const members = [s];
    gathered.push(members);
    if (group !== undefined) byGroup.set(group, members);
  });
  for (const id of groupOf.keys()) throw new BendscopeError('E-BUG-02', `solver: expected groups of known sites, got ${id}`);
  return gathered.map((members) => decisionOf(sites, members));
}

function decisionOf(sites: readonly SiteChoice[], members: readonly number[]): Decision {
  const first = sites[members[0]!]!;
  if (members.length === 1) {
    const formats = first.offers.map(({ format }) => format);
    checkLock(first.id, formats, first.lock);
    return { formats, sites: [first.id], members, lock: first.lock };
  }
  const own = members.map((s) => sites[s]!);
  const shared = first.offers.map(({ format }) => format).filter((format) => own.every(({ offers }) => offers.some((offer) => offer.format === format)));
  const names = own.map(({ id }) => id).join(', ');
  const locks = [...new Set(own.flatMap(({ lock }) => lock ?? []))];
  if (locks.length > 1) throw new BendscopeError('E-PLAN-08', `plan: expected ${names} to share a format, got locks to ${locks.join(' and ')}`, 'Unlock one of them, or lock all to the same format.');
  const lock = locks[0] ?? null;
  checkLock(names, shared, lock);
  return { formats: shared, sites: own.map(({ id }) => id), members, lock };
}

function checkLock(names: string, offered: readonly SiteFormat[], lock: SiteFormat | null): void {
  if (lock === null || offered.includes(lock)) return;
  throw new BendscopeError('E-PLAN-08', `plan: expected ${names} locked to ${offered.join(' or ') || 'a format they share'}, got ${lock}`, 'Unlock it, or measure that format first.');
}
