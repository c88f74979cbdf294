/**
 * The noise floor (method.md 1): how far one flipped BF16 ulp turns the gradient. Nodes at different depths, once each;
 * `y` for the forward floor, `dy` for the backward one; pooled over nodes and batches as the RMS of tan(angle).
 */
import { poolAngles } from '../base/angle';
import type { Flip } from '../engine/compile';
import type { Graph } from '../graph/types';
import type { NoiseFloor } from '../graph/probe-record';

const FLIPPED_ELEMENT = 12345;

/** wte, the ln_1 of the middle and of the last block (once, if they are the same), ln_f; first y, then dy. */
export function floorFlips(graph: Graph): Flip[] {
  const nodes = [...new Set(['wte', `h.${Math.floor(graph.layers / 2)}.ln_1`, `h.${graph.layers - 1}.ln_1`, 'ln_f'])];
  return (['y', 'dy'] as const).flatMap((what) => nodes.map((node) => ({ node, what, index: FLIPPED_ELEMENT })));
}

export function poolFloor(perRun: NoiseFloor['perRun']): NoiseFloor {
  const of = (what: 'y' | 'dy'): number => poolAngles(perRun.filter((run) => run.what === what).map((run) => run.angleDeg)).angleDeg;
  return { forwardDeg: of('y'), backwardDeg: of('dy'), perRun };
}
