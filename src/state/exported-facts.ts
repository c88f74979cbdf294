/** What stands beside a plan in a file: each cell's angle in the format it runs in, the joint angle, and where they come from. */
import { cellFacts } from '../allocate/allocation-facts';
import type { AllocationFacts } from '../allocate/allocation-file';
import type { Plan } from '../allocate/plan';
import type { RecipeName } from '../graph/policy';
import type { Provenance } from '../graph/probe-record';
import { resultsKey, resultsUnder } from './facts';
import { furtherFormats } from './format-use';
import { originOf } from './results';
import { evidenceOf, jointOf } from './selectors';
import type { Shown } from './shown';
import { sitesOf } from './sites';
import { formatName } from './words';

/** Facts of exactly this plan; without any figure of its recipe they claim no floor and no origin. */
export function allocationFactsOf(shown: Shown, plan: Plan): AllocationFacts {
  const evidence = evidenceOf(shown);
  const result = jointOf(shown, plan);
  const joint = result === null ? {} : { [result.planHash]: result };
  const further = furtherFormats(plan, shown.recipe);
  const provenance = withFurther(originOf(shown, joint), shown, further);
  const sites = shown.graph === null ? [] : sitesOf(shown.graph, shown.recipe);
  return {
    ...cellFacts(sites, plan.formats, evidence, [shown.recipe, ...further]), provenance, joint,
    // Without a cell or joint of this recipe the floor is another one's, and no origin stands beside it.
    floor: provenance === null ? null : evidence.floor,
  };
}

/** A plan's origin, honest about cells in a further format that were measured on another device. */
function withFurther(own: Provenance | null, shown: Shown, further: readonly RecipeName[]): Provenance | null {
  if (own === null) return null;
  const elsewhere = further.flatMap((format) => {
    const results = resultsUnder(shown, resultsKey(shown.data, format, shown.options));
    const device = Object.keys(results.sites).length === 0 ? undefined : originOf(results, {})?.device;
    return device === undefined || device === own.device ? [] : [`${formatName(format)} cells on ${device}`];
  });
  return elsewhere.length === 0 ? own : { ...own, device: `mixed: ${formatName(shown.recipe)} cells on ${own.device}; ${elsewhere.join('; ')}` };
}
