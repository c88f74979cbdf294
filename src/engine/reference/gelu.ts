/** GPT-2's gelu_new: y = 0.5 x (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3). */
import { inputOf } from './inputs';
import type { ReferenceOp } from './op';
import { roundInPlace } from './rounding';

const ROOT = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

export const gelu: ReferenceOp = {
  fprop: (call) => roundInPlace(inputOf(call, 0).map((x) => 0.5 * x * (1 + Math.tanh(ROOT * (x + CUBIC * x ** 3)))), call.rounding),
  // dx = dy * (0.5 (1 + tanh u) + 0.5 x (1 - tanh^2 u) sqrt(2/pi) (1 + 3 * 0.044715 x^2))
  bprop: (call, dy) => {
    const dx = inputOf(call, 0).map((x, i) => {
      const t = Math.tanh(ROOT * (x + CUBIC * x ** 3));
      return (dy[i] as number) * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * ROOT * (1 + 3 * CUBIC * x * x));
    });
    return { dx: [roundInPlace(dx, call.rounding)], dparams: {} };
  },
};
