/**
 * What can fill the grid. All layers are angles on the one fixed scale, so that a colour means the same in each: the
 * gradient's turn when a cell alone is low; the turn that goes away when it alone is left out of everything low; the part
 * of the shift that persists over batches, and the error of the op's own output, both as the angle that a shift of that
 * length makes at right angles. Definitions: method.md 1, 5 and 7.
 */
import { angleOfTanSquared, tanSquared } from '../base/angle';
import type { SiteId } from '../graph/policy';
import { floorOf } from '../graph/noise-floor';
import type { NoiseFloor, SiteResult } from '../graph/probe-record';
import { findSite } from '../graph/sites';
import type { Graph } from '../graph/types';
import type { Results } from './results';

export const LAYERS = ['isolated', 'leave-one-out', 'persistent', 'local-error'] as const;
export type Layer = (typeof LAYERS)[number];

export interface LayerWords {
  /** In the list of layers. */
  readonly name: string;
  /** Above the grid; `low` is the recipe's format. */
  subtitle(low: string): string;
  /** Before the figure, for a screen reader. */
  readonly figure: string;
}

export const LAYER_WORDS: Readonly<Record<Layer, LayerWords>> = {
  isolated: { name: 'Bending alone', figure: 'bending', subtitle: (low) => `Turn of the whole gradient if only that cell is ${low}` },
  'leave-one-out': { name: 'Bending if left out', figure: 'left out takes away', subtitle: () => 'Turn that goes away if only that cell is BF16' },
  persistent: { name: 'What persists', figure: 'persistent', subtitle: () => 'Part of the shift that stays, as an angle' },
  'local-error': { name: 'Local error', figure: 'local error', subtitle: () => 'Error of the op’s own output, as an angle' },
};

/** A cell of a layer: its angle, or why there is none. */
export interface LayerCell {
  readonly state: 'value' | 'failed' | 'missing';
  readonly angleDeg: number | null;
  readonly belowNoise: boolean;
}

const NONE: LayerCell = { state: 'missing', angleDeg: null, belowNoise: false };
const value = (angleDeg: number, belowNoise = false): LayerCell => ({ state: 'value', angleDeg, belowNoise });

export interface LayerFacts extends Pick<Results, 'sites' | 'floor'> {
  readonly graph: Graph | null;
  /** Those that may be shown (results.ts leaveOneOutShown). */
  readonly leaveOneOut: Results['leaveOneOut'];
  /** The joint measurement of everything low, which the left-out cells are held against. */
  readonly allLow: SiteResult | null;
}

export function layerCell(layer: Layer, facts: LayerFacts, id: SiteId): LayerCell {
  const result = facts.sites[id];
  if (layer === 'leave-one-out') return leftOut(facts, id);
  if (result === undefined) return NONE;
  if (result.status === 'failed') return { state: 'failed', angleDeg: null, belowNoise: false };
  switch (layer) {
    case 'isolated':
      return value(result.cleanAngleDeg, result.belowNoise);
    case 'persistent': {
      const stays = result.persistent?.overBatches;
      return stays === undefined || 'reason' in stays ? NONE : value(angleOfTanSquared(stays.relative ** 2), stays.relative < 2 * stays.standardError);
    }
    case 'local-error':
      return result.localError === null ? NONE : value(angleOfTanSquared(result.localError));
  }
}

/** tan^2 of everything low minus tan^2 without the cell: its own tan^2 alone, if squared tangents add exactly. */
function leftOut({ graph, leaveOneOut, allLow, floor }: LayerFacts, id: SiteId): LayerCell {
  const result = leaveOneOut[id];
  if (result?.status === 'failed') return { state: 'failed', angleDeg: null, belowNoise: false };
  if (result === undefined || allLow?.status !== 'measured') return NONE;
  const angleDeg = angleOfTanSquared(Math.max(0, tanSquared(allLow.angleDeg) - tanSquared(result.angleDeg)));
  return value(angleDeg, angleDeg < 2 * floorOfSite(graph, id, floor));
}

/** Why a layer has no cell at all, and what to do about it. */
export function layerNote(layer: Layer, { sites, leaveOneOut, allLow }: LayerFacts): string {
  if (layer === 'leave-one-out') return Object.keys(leaveOneOut).length > 0 && allLow === null ? 'Verify All low jointly to see it' : 'Not measured: tick “Leave one out” and run';
  if (layer !== 'persistent') return 'Not measured: run the probe';
  const stays = Object.values(sites).flatMap((result) => (result.status === 'measured' && result.persistent ? [result.persistent.overBatches] : []))[0];
  return stays && 'reason' in stays ? `Not known: ${stays.reason}` : 'Not measured: tick “What persists” and run';
}

function floorOfSite(graph: Graph | null, id: SiteId, floor: NoiseFloor | null): number {
  const site = graph === null ? undefined : findSite(graph, id);
  return site === undefined || floor === null ? 0 : floorOf(site.pass, floor);
}
