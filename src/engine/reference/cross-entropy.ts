/** Loss of each token, [N, 1]: y[n] = logsumexp(z[n]) - z[n, target]. The mean is taken by whoever calls: dy = 1 / N. */
import { idsOf, inputOf } from './inputs';
import type { ReferenceOp } from './op';
import { roundInPlace } from './rounding';

function logSumExp(z: Float64Array): number {
  const top = z.reduce((a, b) => Math.max(a, b), -Infinity);
  return top + Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0));
}

export const crossEntropy: ReferenceOp = {
  fprop: (call) => {
    const z = inputOf(call, 0);
    const targets = idsOf(call, 'targets');
    const V = call.attrs.inCols;
    return Float64Array.from(targets, (target, n) => logSumExp(z.subarray(n * V, (n + 1) * V)) - (z[n * V + target] as number));
  },
  // dz = dy (softmax(z) - onehot(target))
  bprop: (call, dy) => {
    const z = inputOf(call, 0);
    const targets = idsOf(call, 'targets');
    const V = call.attrs.inCols;
    const dz = new Float64Array(z.length);
    for (let n = 0; n < targets.length; n++) {
      const lse = logSumExp(z.subarray(n * V, (n + 1) * V));
      for (let v = 0; v < V; v++) {
        const p = Math.exp((z[n * V + v] as number) - lse);
        dz[n * V + v] = (dy[n] as number) * (v === targets[n] ? p - 1 : p);
      }
    }
    return { dx: [roundInPlace(dz, call.rounding)], dparams: {} };
  },
};
