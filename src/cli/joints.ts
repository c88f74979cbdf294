/**
 * Whole plans measured one after the other in one session: reference runs and noise floor once, and a plan that was measured
 * before (same hash) not again. Shared by verify, compare and how-much.
 */
import { costedSites, type CostedSite, type Formats } from '../allocate/cost';
import { planPolicy, policyHash } from '../allocate/plan';
import { formatDegrees, formatPercent, significant } from '../base/units';
import { OUT_SCHEME, type PolicyOptions, type RecipeName } from '../graph/policy';
import type { JointResult, Measured, Provenance, SiteResult } from '../graph/probe-record';
import type { StoredReference } from '../worker/run-store';
import type { Flag, Flags } from './command-line';
import type { Devices } from './devices';
import { say } from './say';
import { withStoredSession, type MeasuringProvenance, type SessionAsked } from './stored-session';

export const JOURNAL_FLAG: Flag = { name: 'journal', value: 'FILE', help: 'keeps finished measurements for other commands too' };

export interface JointsAsked extends Omit<SessionAsked, 'measuring'> {
  /** Names the run and every plan's hash; of plans of several formats the one they are compared under. */
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
}

export interface Joints {
  readonly sites: readonly CostedSite[];
  readonly reference: StoredReference;
  readonly provenance: MeasuringProvenance;
  hashOf(formats: Formats): string;
  /** Whether the journal holds this plan. */
  isStored(formats: Formats): Promise<boolean>;
  measure(formats: Formats): Promise<JointResult>;
}

/** In a session of its own. Throws as withStoredSession does. */
export async function withJoints<T>({ model, tokensPath, tokens, recipe, options, journal }: JointsAsked, flags: Flags, devices: Devices, work: (joints: Joints) => Promise<T>): Promise<T> {
  const measuring = { recipe, options, persistent: false, ...(recipe === OUT_SCHEME ? { outs: options } : {}) };
  return withStoredSession({ model, tokensPath, tokens, measuring, journal }, flags, devices, async ({ stored, provenance }) => {
    const known = Object.keys((await stored.found()).joint).length;
    if (known > 0) say(`continuing: ${known} ${known === 1 ? 'plan is' : 'plans are'} in ${journal?.path ?? 'memory'}`);
    const reference = await stored.reference();
    // No local error of a plan: it would depend on which isolated sites a shared journal happens to hold.
    await stored.measureSites([], { persistent: false });
    const sites = costedSites(model.graph, recipe);
    const hashOf = (formats: Formats): string => policyHash(planPolicy(formats, sites, options), { modelSha256: model.sha256, recipe });
    return work({
      sites, reference, provenance, hashOf,
      isStored: async (formats) => (await stored.found()).joint[hashOf(formats)]?.result.status === 'measured',
      measure: (formats) => stored.measureJoint(planPolicy(formats, sites, options), hashOf(formats)),
    });
  });
}

/** Says where predictions stand on other data or another device than what is measured now. `whose`: "the plan's angles". */
export function noteOrigins(whose: string, origin: Pick<Provenance, 'tokensSha256' | 'dataName' | 'device'>, here: MeasuringProvenance): void {
  if (origin.tokensSha256 !== here.tokensSha256) say(`note: ${whose} are of other data, ${origin.dataName}`);
  if (origin.device !== here.device) say(`note: ${whose} are of another device, ${origin.device}`);
}

/** Measured over predicted: null where there is no prediction, or none to divide by. */
export interface Gap {
  readonly gapDeg: number | null;
  readonly relativeGap: number | null;
}

export function gapOf(result: SiteResult | null, predictedDeg: number | null): Gap {
  if (predictedDeg === null || result?.status !== 'measured') return { gapDeg: null, relativeGap: null };
  const gapDeg = result.angleDeg - predictedDeg;
  return { gapDeg, relativeGap: predictedDeg === 0 ? null : gapDeg / predictedDeg };
}

/** `6.80 deg +- 0.0812 deg over batches`. */
export function spelledAngle({ angleDeg, angleSeDeg }: Pick<Measured, 'angleDeg' | 'angleSeDeg'>): string {
  return `${formatDegrees(angleDeg)}${angleSeDeg === null ? '' : ` +- ${formatDegrees(angleSeDeg)} over batches`}`;
}

/** `gap +0.312 deg (4.8 %)`, or empty where there is none. */
export function spelledGap({ gapDeg, relativeGap }: Gap): string {
  if (gapDeg === null) return '';
  return `gap ${gapDeg < 0 ? '-' : '+'}${significant(Math.abs(gapDeg))} deg${relativeGap === null ? '' : ` (${formatPercent(relativeGap)})`}`;
}
