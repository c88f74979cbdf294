/**
 * The facts that an allocation.json carries: what evidence says of a plan's cells, and what a file says of them to those who
 * read it apart from the run that made it (exports and checks of the command line). What a file does not hold (angles by
 * parameter, single batches) is then empty.
 */
import { BendscopeError } from '../base/errors';
import type { RecipeName, SiteId } from '../graph/policy';
import type { Provenance, SiteResult } from '../graph/probe-record';
import type { AllocationFacts, ImportedAllocation } from './allocation-file';
import type { AllocationFile, AllocationRow } from './allocation-schema';
import { formatOf, resultIn, type CostedSite, type Evidence, type Formats } from './cost';

/**
 * Each cell's result in the format it runs in, of a cell in BF16 that in the recipe's; of a plan of several low formats also
 * every cell's angles in each of them. `low`: the recipe, then the plan's further formats.
 */
export function cellFacts(sites: readonly CostedSite[], formats: Formats, evidence: Evidence, low: readonly [RecipeName, ...RecipeName[]]): Pick<AllocationFacts, 'sites' | 'otherAngles'> {
  const results = sites.flatMap(({ id }): [SiteId, SiteResult][] => {
    const format = formatOf(formats, id);
    const result = resultIn(evidence, id, format === 'bf16' ? low[0] : format);
    return result === undefined ? [] : [[id, result]];
  });
  const angles = (id: SiteId, key: 'angleDeg' | 'cleanAngleDeg'): Partial<Record<RecipeName, number>> =>
    Object.fromEntries(low.flatMap((format): [RecipeName, number][] => {
      const result = resultIn(evidence, id, format);
      return result?.status === 'measured' && Number.isFinite(result.angleDeg) && Number.isFinite(result.cleanAngleDeg) ? [[format, result[key]]] : [];
    }));
  return {
    sites: Object.fromEntries(results),
    ...(low.length === 1 ? {} : { otherAngles: Object.fromEntries(sites.map(({ id }) => [id, { angleDeg: angles(id, 'angleDeg'), cleanDeg: angles(id, 'cleanAngleDeg') }])) }),
  };
}

/**
 * An imported file -> its facts. A joint angle counts only in a file that names its plan's hash. Throws E-FILE-07 for a
 * measured site without its figures.
 */
export function allocationFacts({ file, recipe, planHash }: ImportedAllocation, fileName: string): AllocationFacts {
  const { floorDeg, totals, plan } = file;
  const rows = Object.entries(file.sites);
  const resultOf = (id: string, row: AllocationRow): SiteResult | null => siteResult(row, row.format === 'bf16' ? recipe : row.format, `${fileName} is damaged: ${id}`);
  return {
    sites: Object.fromEntries(rows.flatMap(([id, row]) => {
      const result = resultOf(id, row);
      return result === null ? [] : [[id, result]];
    })),
    otherAngles: Object.fromEntries(rows.map(([id, { angleDeg, cleanDeg }]) => [id, { angleDeg, cleanDeg }])),
    floor: floorDeg === null ? null : { forwardDeg: floorDeg.forward, backwardDeg: floorDeg.backward, perRun: [] },
    provenance: provenanceOf(file),
    joint: plan.hash === undefined || totals.measuredDeg === null ? {} : { [planHash]: { result: { status: 'measured', angleDeg: totals.measuredDeg } } },
  };
}

function siteResult(row: AllocationRow, own: Exclude<AllocationRow['format'], 'bf16'>, where: string): SiteResult | null {
  if (row.status === 'unmeasured') return null;
  if (row.status === 'failed') {
    const [errorName = '', ...reason] = (row.reason ?? 'E-RUN-01: no reason given').split(': ');
    return { status: 'failed', errorName, reason: reason.join(': ') };
  }
  const present = <T>(name: string, value: T | null | undefined): T => {
    if (value === null || value === undefined) throw new BendscopeError('E-FILE-07', `${where}: expected ${name} of a measured site, got none.`, 'Export the plan again.');
    return value;
  };
  return {
    status: 'measured',
    angleDeg: present(`angleDeg.${own}`, row.angleDeg[own]), cleanAngleDeg: present(`cleanDeg.${own}`, row.cleanDeg[own]), angleSeDeg: row.standardErrorDeg, belowNoise: present('belowNoise', row.belowNoise),
    relativeShift: present('relativeShift', row.relativeShift), lengthRatio: present('lengthRatio', row.lengthRatio), rotationShare: present('rotationShare', row.rotationShare), lossChange: present('lossChange', row.lossChange),
    localError: row.localError, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 0,
  };
}

function provenanceOf({ measuredOn, model }: AllocationFile): Provenance | null {
  if (measuredOn === null) return null;
  const { data, ...facts } = measuredOn;
  const { name, sha256, ...counts } = data;
  return { ...facts, ...counts, modelSha256: model.sha256, modelName: model.name, tokensSha256: sha256, dataName: name };
}
