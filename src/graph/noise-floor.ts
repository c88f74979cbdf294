/** Which noise floor an angle carries (method.md 1): one rule for what is measured and for what is predicted. */
import type { NoiseFloor } from './probe-record';
import type { SitePart } from './sites';

/** Degrees: fprop and out change the forward pass, dgrad only the backward one, wgrad nothing downstream. */
export function floorOf(pass: SitePart, floor: NoiseFloor): number {
  return pass === 'fprop' || pass === 'out' ? floor.forwardDeg : pass === 'dgrad' ? floor.backwardDeg : 0;
}

/** Of a whole policy: the largest floor among its low passes, once; 0 when nothing is low. */
export function floorOfPasses(passes: Iterable<SitePart>, floor: NoiseFloor): number {
  let largest = 0;
  for (const pass of passes) largest = Math.max(largest, floorOf(pass, floor));
  return largest;
}
