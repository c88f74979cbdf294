/**
 * R.json: what a probe found, as the page's ProbeRecord without what two equal runs do not share (wall times, dates), so
 * that equal runs are equal files. Keys stand in graph order; numbers are written in full.
 */
import { costedSites, predict } from '../allocate/cost';
import type { Ledger } from '../graph/ledger';
import type { Policy, PolicyOptions, SiteId } from '../graph/policy';
import { PROBE_SCHEMA, type JointResult, type Measured, type NoiseFloor, type ProbeRecord, type Provenance, type SiteResult, type SiteScores } from '../graph/probe-record';
import { sites } from '../graph/sites';
import type { Graph } from '../graph/types';
import { isMeasuredAs, lowSites, type Isolated } from '../probe/low-sites';

/** Left out of every result of the file; the other one where it was not asked for, since a journal may hold more. */
const WALL_TIME = 'elapsedMs' satisfies keyof Measured;
const EXTRA = 'persistent' satisfies keyof Measured;

export interface ReportedJoint {
  readonly planHash: string;
  readonly lowSites: number;
  readonly passes: Policy['passes'];
  readonly outs: readonly string[];
  readonly options: PolicyOptions;
  /** From the clean angles of this file, the floor once; null when a low site was not measured, or not as it runs here. */
  readonly predictedDeg: number | null;
  readonly result: SiteResult;
}

export interface ProbeReport extends Omit<ProbeRecord, 'provenance' | 'joint'> {
  readonly provenance: Omit<Provenance, 'startedAt'> & { readonly configSha256: string; readonly versions: Readonly<Record<string, string>> };
  /** Bytes on the device, predicted from the graph and really allocated. */
  readonly memory: { readonly predicted: Ledger; readonly allocated: Ledger };
  /** By plan hash, in the order of --joint. */
  readonly joint: Readonly<Record<string, ReportedJoint>>;
}

export interface JointFound {
  readonly policy: Policy;
  readonly joint: JointResult;
}

/** What was measured, apart from what it was measured with. */
export interface ProbeFound extends Pick<ProbeReport, 'referenceLoss' | 'sites' | 'leaveOneOut'> {
  readonly scores: Readonly<Record<SiteId, SiteScores>>;
  /** Whether it was asked for. */
  readonly persistent: boolean;
  readonly floor: NoiseFloor;
  readonly joints: readonly JointFound[];
}

/** Everything -> the text of the file. */
export function probeReport(graph: Graph, about: Pick<ProbeReport, 'recipe' | 'options' | 'provenance' | 'memory'> & ProbeFound): string {
  const { recipe, options, provenance, memory, referenceLoss, floor, leaveOneOut, joints } = about;
  const report: ProbeReport = {
    schema: PROBE_SCHEMA, recipe, options, provenance, memory, referenceLoss, floor,
    sites: inGraphOrder(graph, about.sites),
    ...(leaveOneOut ? { leaveOneOut: inGraphOrder(graph, leaveOneOut) } : {}),
    scores: inGraphOrder(graph, about.scores),
    joint: Object.fromEntries(joints.map(({ policy, joint }) => [joint.planHash, {
      planHash: joint.planHash,
      lowSites: joint.lowSites,
      passes: policy.passes,
      outs: policy.outs ?? [],
      options: policy.options,
      predictedDeg: predictedDeg(graph, policy, { recipe, options, sites: about.sites }, floor),
      result: joint.result,
    }])),
  };
  return `${JSON.stringify(report, (name, value: unknown) => (name === WALL_TIME || (name === EXTRA && !about.persistent) ? undefined : value), 1)}\n`;
}

/** Joint angle by additivity (method.md 5); null where some low site was not measured as it runs in the policy. */
function predictedDeg(graph: Graph, policy: Policy, isolated: Isolated, floor: NoiseFloor): number | null {
  const low = lowSites(policy);
  if (!low.every(([, scheme]) => isMeasuredAs(isolated, scheme, policy.options))) return null;
  return predict(costedSites(graph, isolated.recipe), Object.fromEntries(low), { sites: isolated.sites, floor }).predictedDeg;
}

function inGraphOrder<T>(graph: Graph, results: Readonly<Record<SiteId, T>>): Record<SiteId, T> {
  return Object.fromEntries(sites(graph).flatMap(({ id }) => {
    const result = results[id];
    return result ? [[id, result] as const] : [];
  }));
}
