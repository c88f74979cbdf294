/** What stands beside a plan in a file: each cell's angle in the format it runs in, the joint angle, and where they come from. */
import type { AllocationFacts } from '../allocate/allocation-file';
import { formatOf, resultIn } from '../allocate/cost';
import type { Plan } from '../allocate/plan';
import type { RecipeName, SiteId } from '../graph/policy';
import type { SiteResult } from '../graph/probe-record';
import { furtherFormats } from './format-use';
import { originOf } from './results';
import { evidenceOf, jointOf } from './selectors';
import type { Shown } from './shown';

/** Facts of exactly this plan; without any figure of its recipe they claim no floor and no origin. */
export function allocationFactsOf(shown: Shown, plan: Plan): AllocationFacts {
  const evidence = evidenceOf(shown);
  const result = jointOf(shown, plan);
  const joint = result === null ? {} : { [result.planHash]: result };
  const provenance = originOf(shown, joint);
  const further = furtherFormats(plan, shown.recipe);
  const ids = Object.keys(plan.formats);
  const sites = further.length === 0 ? evidence.sites : Object.fromEntries(ids.flatMap((id): [SiteId, SiteResult][] => {
    const format = formatOf(plan.formats, id);
    const own = resultIn(evidence, id, format === 'bf16' ? shown.recipe : format);
    return own === undefined ? [] : [[id, own]];
  }));
  const angles = (id: SiteId, key: 'angleDeg' | 'cleanAngleDeg'): Partial<Record<RecipeName, number>> =>
    Object.fromEntries([shown.recipe, ...further].flatMap((format): [RecipeName, number][] => {
      const own = resultIn(evidence, id, format);
      return own?.status === 'measured' && Number.isFinite(own.angleDeg) && Number.isFinite(own.cleanAngleDeg) ? [[format, own[key]]] : [];
    }));
  return {
    sites, provenance, joint,
    // Without a cell or joint of this recipe the floor is another one's, and no origin stands beside it.
    floor: provenance === null ? null : evidence.floor,
    ...(further.length === 0 ? {} : { otherAngles: Object.fromEntries(ids.map((id) => [id, { angleDeg: angles(id, 'angleDeg'), cleanDeg: angles(id, 'cleanAngleDeg') }])) }),
  };
}
