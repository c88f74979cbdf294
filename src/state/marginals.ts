/**
 * How much rows and layers of a plan bend by their own low cells: the figures of the marginal bars (ux.md 3.4), of all parts
 * in one pass over the sites, because a drag asks for them at every step.
 */
import { angleOfTanSquared } from '../base/angle';
import { cleanTan2, formatOf, type CostedSite, type Evidence, type Marginal } from '../allocate/cost';
import type { Plan } from '../allocate/plan';
import type { SiteId } from '../graph/policy';
import { memo } from './memo';
import { evidenceOf } from './selectors';
import type { Shown } from './shown';
import { sitesOf } from './sites';

const marginalsMemo = memo((sites: readonly CostedSite[], formats: Plan['formats'], evidence: Evidence, parts: readonly ReadonlySet<SiteId>[]): readonly Marginal[] => {
  const bends = new Map<SiteId, number>();
  let all = 0;
  for (const { id } of sites) {
    const format = formatOf(formats, id);
    const tan2 = format === 'bf16' ? 0 : (cleanTan2(evidence, id, format) ?? 0);
    if (tan2 === 0) continue;
    bends.set(id, tan2);
    all += tan2;
  }
  return parts.map((part) => {
    let inside = 0;
    for (const id of part) inside += bends.get(id) ?? 0;
    return { angleDeg: angleOfTanSquared(inside), share: all === 0 ? 0 : inside / all };
  });
}, 16);

/** One row a part, in the order of `parts`; the same object as long as formats, evidence and parts are. */
export function marginalsOf(shown: Pick<Shown, 'graph' | 'recipe' | 'sites' | 'floor' | 'others'>, plan: Plan, parts: readonly ReadonlySet<SiteId>[]): readonly Marginal[] {
  return shown.graph === null ? [] : marginalsMemo(sitesOf(shown.graph, shown.recipe), plan.formats, evidenceOf(shown), parts);
}
