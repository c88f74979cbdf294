/**
 * R.json: what a probe found, as the page's ProbeRecord without what two equal runs do not share (wall times, dates), so
 * that equal runs are equal files. Keys stand in graph order; numbers are written in full.
 */
import type { Policy, PolicyOptions, SiteId } from '../graph/policy';
import { PROBE_SCHEMA, type JointResult, type Measured, type ProbeRecord, type Provenance, type SiteResult } from '../graph/probe-record';
import { sites } from '../graph/sites';
import type { Graph } from '../graph/types';

/** Left out of every result of the file. */
const WALL_TIME = 'elapsedMs' satisfies keyof Measured;

export interface ReportedJoint {
  readonly planHash: string;
  readonly lowSites: number;
  readonly passes: Policy['passes'];
  readonly options: PolicyOptions;
  /** From the clean angles of this file, the floor once; null when a low site was not measured under the same options. */
  readonly predictedDeg: number | null;
  readonly result: SiteResult;
}

export interface ProbeReport extends Omit<ProbeRecord, 'provenance' | 'joint'> {
  readonly provenance: Omit<Provenance, 'startedAt'> & { readonly configSha256: string; readonly versions: Readonly<Record<string, string>> };
  /** By plan hash, in the order of --joint. */
  readonly joint: Readonly<Record<string, ReportedJoint>>;
}

export interface JointFound {
  readonly policy: Policy;
  readonly predictedDeg: number | null;
  readonly joint: JointResult;
}

/** Everything found -> the text of the file. */
export function probeReport(
  graph: Graph,
  head: Pick<ProbeReport, 'recipe' | 'options' | 'provenance' | 'referenceLoss' | 'floor'>,
  found: Readonly<Record<SiteId, SiteResult>>,
  joints: readonly JointFound[],
): string {
  const inOrder = sites(graph).flatMap(({ id }) => {
    const result = found[id];
    return result ? [[id, result] as const] : [];
  });
  const report: ProbeReport = {
    schema: PROBE_SCHEMA,
    ...head,
    sites: Object.fromEntries(inOrder),
    joint: Object.fromEntries(joints.map(({ policy, predictedDeg, joint: { planHash, lowSites, result } }) => [
      planHash, { planHash, lowSites, passes: policy.passes, options: policy.options, predictedDeg, result },
    ])),
  };
  return `${JSON.stringify(report, (name, value: unknown) => (name === WALL_TIME ? undefined : value), 1)}\n`;
}
