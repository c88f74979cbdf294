/** allocation.json as a row of the table: the plan with everything it rests on, to be imported again (allocation-file.ts). */
import { exportAllocation } from '../allocation-file';
import { costedSites } from '../cost';
import type { ExportTarget } from './export-target';
import { fileName } from './layer-target';
import { planSites } from './plan-view';

export const allocation: ExportTarget = {
  id: 'allocation',
  label: 'allocation.json',
  sentence: 'The plan with every angle it rests on; Bendscope opens it again.',
  preset: null,
  // Sites of the recipe's kind are in the file, passes or outputs; a plan that lowers some of the other kind too loses those.
  fits: (plan, { graph, recipe }) => {
    const own = new Set(costedSites(graph, recipe).map(({ id }) => id));
    const rounded = planSites(graph, plan.formats, recipe).map(({ id }) => id).filter((id) => !own.has(id));
    return { badge: rounded.length > 0 ? 'rounded' : 'exact', rounded, reasons: rounded.length > 0 ? [`allocation.json holds the sites of one kind of recipe, here ${recipe}`] : [], warnings: [] };
  },
  selectors: null,
  render: (plan, context) => ({ fileName: fileName({ plan, context }, 'allocation.json'), mediaType: 'application/json', text: exportAllocation(plan, context.facts, context) }),
};
