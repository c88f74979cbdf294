/** Residual sum: y = a + b. */
import { inputOf } from './inputs';
import type { ReferenceOp } from './op';
import { rounded, roundInPlace } from './rounding';

export const add: ReferenceOp = {
  fprop: (call) => {
    const b = inputOf(call, 1);
    return roundInPlace(inputOf(call, 0).map((x, i) => x + (b[i] as number)), call.rounding);
  },
  // da = dy, db = dy
  bprop: (call, dy) => ({ dx: [rounded(dy, call.rounding), rounded(dy, call.rounding)], dparams: {} }),
};
