/** Which noise floor an angle carries (method.md 1): one rule for what is measured and for what is predicted. */
import type { NoiseFloor } from './probe-record';
import type { Pass } from './types';

/** Degrees: fprop changes the forward pass, dgrad only the backward one, wgrad nothing downstream. */
export function floorOf(pass: Pass, floor: NoiseFloor): number {
  return pass === 'fprop' ? floor.forwardDeg : pass === 'dgrad' ? floor.backwardDeg : 0;
}

/** Of a whole policy: the largest floor among its low passes, once; 0 when nothing is low. */
export function floorOfPasses(passes: Iterable<Pass>, floor: NoiseFloor): number {
  let largest = 0;
  for (const pass of passes) largest = Math.max(largest, floorOf(pass, floor));
  return largest;
}
