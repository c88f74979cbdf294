/** plan.json for the model at hand: an allocation.json of this command line or of the page, with any pass formats. */
import { allocationFacts } from '../allocate/allocation-facts';
import { importAllocation, type AllocationFacts, type ImportedAllocation } from '../allocate/allocation-file';
import { readText } from './local-files';
import type { OpenedFolder } from './open-folder';

export interface PlanFile extends ImportedAllocation {
  readonly facts: AllocationFacts;
}

/** Throws E-FILE-09 and what importAllocation does: E-FILE-07, E-VER-01, E-PLAN-01 to -03, E-PLAN-06. */
export async function readPlan(path: string, { graph, sha256 }: OpenedFolder): Promise<PlanFile> {
  const imported = importAllocation(await readText(path), { graph, modelSha256: sha256 }, path);
  return { ...imported, facts: allocationFacts(imported, path) };
}
