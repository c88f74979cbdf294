/** Which button is filled: one at a time, the next step of the way (ux.md 6.4 note 1). */
import { jointOf, sitesOf, type Shown } from '../../state';
import type { Plan } from '../../allocate/plan';

export type PrimaryAction = 'run' | 'verify' | 'export' | 'none';

/** Run until every cell is measured here, then Verify until this plan is, then Export; without a usable GPU Export at once. */
export function primaryAction(facts: Shown, plan: Plan | null): PrimaryAction {
  const { graph, recipe, run, device, checking, measuredHere } = facts;
  if (!graph || !plan) return 'none';
  if (run) return 'none';
  if (!checking && device?.status !== 'ready') return 'export';
  if (!sitesOf(graph, recipe).every((site) => measuredHere.has(site.id))) return 'run';
  return jointOf(facts, plan) ? 'export' : 'verify';
}
