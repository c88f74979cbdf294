/**
 * What can fill the grid. All fills are angles on the one fixed scale, so that a colour means the same in each: the
 * gradient's turn when a cell alone is low; the turn that goes away when it alone is left out of everything low (negative
 * where more comes); the part of the shift that persists over batches, and the error of the op's own output, both as the
 * angle that a shift of that length makes at right angles. Definitions: method.md 1, 5 and 7.
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { formatDegrees } from '../base/units';
import type { SiteId } from '../graph/policy';
import { floorOf } from '../graph/noise-floor';
import type { Failed, NoiseFloor, SiteResult } from '../graph/probe-record';
import { findSite } from '../graph/sites';
import type { Graph } from '../graph/types';
import type { Results } from './results';

export const FILLS = ['isolated', 'leave-one-out', 'persistent', 'local-error'] as const;
export type Fill = (typeof FILLS)[number];

export interface FillWords {
  /** In the list of fills. */
  readonly name: string;
  /** Above the grid; `low` is the recipe's format. */
  subtitle(low: string): string;
  /** Before the figure, for a screen reader. */
  readonly figure: string;
}

export const FILL_WORDS: Readonly<Record<Fill, FillWords>> = {
  isolated: { name: 'Bending alone', figure: 'bending', subtitle: (low) => `Turn of the whole gradient if only that cell is ${low}` },
  'leave-one-out': { name: 'Leave one out', figure: 'left out takes away', subtitle: () => 'Turn that goes away if only that cell is BF16' },
  persistent: { name: 'What persists', figure: 'persistent', subtitle: () => 'Part of the shift that stays, as an angle' },
  'local-error': { name: 'Local error', figure: 'local error', subtitle: () => 'Error of the op’s own output, as an angle' },
};

/** A cell of a fill: its angle, or why there is none. */
export interface FillCell {
  readonly state: 'value' | 'failed' | 'missing';
  /** Negative, of a cell left out, where everything low bends more without it: it has no colour. */
  readonly angleDeg: number | null;
  readonly belowNoise: boolean;
  /** Why there is no angle; null where there is one, or where nothing was measured. */
  readonly reason: string | null;
}

const missing = (reason: string | null = null): FillCell => ({ state: 'missing', angleDeg: null, belowNoise: false, reason });
const failed = (reason: string): FillCell => ({ state: 'failed', angleDeg: null, belowNoise: false, reason });
const value = (angleDeg: number, belowNoise = false): FillCell => ({ state: 'value', angleDeg, belowNoise, reason: null });

/** Why a measured cell has no local error: nothing to hold the error against, or a figure past FP32 (engine/session). */
export const NO_LOCAL_ERROR = 'its own output is zero or overflows';

export interface FillFacts extends Pick<Results, 'sites' | 'floor'> {
  readonly graph: Graph | null;
  /** Those that may be shown (results.ts leaveOneOutShown). */
  readonly leaveOneOut: Results['leaveOneOut'];
  /** The joint measurement of everything low, which the left-out cells are held against. */
  readonly allLow: SiteResult | null;
}

export function fillCell(fill: Fill, facts: FillFacts, id: SiteId): FillCell {
  const result = facts.sites[id];
  if (fill === 'leave-one-out') return leftOut(facts, id);
  if (result === undefined) return missing();
  if (result.status === 'failed') return failed(failure(result));
  switch (fill) {
    case 'isolated':
      return value(result.cleanAngleDeg, result.belowNoise);
    case 'persistent': {
      const stays = result.persistent?.overBatches;
      if (stays === undefined) return missing();
      return 'reason' in stays ? missing(stays.reason) : value(angleOfTanSquared(stays.relative ** 2), stays.relative < 2 * stays.standardError);
    }
    case 'local-error':
      return result.localError === null ? missing(NO_LOCAL_ERROR) : value(angleOfTanSquared(result.localError));
  }
}

/** tan^2 of everything low minus tan^2 without the cell: its own tan^2 alone, if squared tangents add exactly. */
function leftOut({ graph, leaveOneOut, allLow, floor }: FillFacts, id: SiteId): FillCell {
  const result = leaveOneOut[id];
  if (result === undefined) return missing();
  if (result.status === 'failed') return failed(failure(result));
  if (allLow?.status !== 'measured') return missing(allLowMissing(allLow));
  const goesAway = tanSquared(allLow.angleDeg) - tanSquared(result.angleDeg);
  const angleDeg = angleOfTanSquared(Math.abs(goesAway));
  return value(goesAway < 0 ? -angleDeg : angleDeg, angleDeg < 2 * floorOfSite(graph, id, floor));
}

const failure = ({ errorName, reason }: Failed): string => `${errorName}: ${reason}`;
const allLowMissing = (allLow: Failed | null): string => (allLow === null ? 'All low is not verified jointly' : `All low failed: ${failure(allLow)}`);

/** A cell's angle in words, its sign with it: "0.120 deg", "−0.120 deg". */
export function fillDegrees(angleDeg: number): string {
  return angleDeg < 0 ? `−${formatDegrees(-angleDeg)}` : formatDegrees(angleDeg);
}

/** What a negative angle means. */
export const BENDS_MORE = 'bends more without it';

/** Why a fill has no angle at all, and what to do about it. */
export function fillNote(fill: Fill, facts: FillFacts): string {
  const { sites, leaveOneOut, allLow } = facts;
  const hasLeftOut = Object.keys(leaveOneOut).length > 0;
  if (fill === 'leave-one-out' && hasLeftOut && allLow === null) return 'Verify All low jointly to see it';
  if (fill === 'leave-one-out' && hasLeftOut && allLow?.status === 'failed') return allLowMissing(allLow);
  const reason = Object.keys(sites).map((id) => fillCell(fill, facts, id)).find((cell) => cell.state === 'missing' && cell.reason !== null)?.reason;
  return reason == null ? NOT_MEASURED[fill] : `Not known: ${reason}`;
}

const NOT_MEASURED: Readonly<Record<Fill, string>> = {
  isolated: 'Not measured: run the probe',
  'leave-one-out': 'Not measured: tick “Leave one out” and run',
  persistent: 'Not measured: tick “What persists” and run',
  'local-error': 'Not measured: run the probe',
};

function floorOfSite(graph: Graph | null, id: SiteId, floor: NoiseFloor | null): number {
  const site = graph === null ? undefined : findSite(graph, id);
  return site === undefined || floor === null ? 0 : floorOf(site.pass, floor);
}
