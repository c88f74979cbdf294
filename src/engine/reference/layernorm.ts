/** y = h w + b, h = (x - mean) / sqrt(var + eps), mean and (biased) variance over a row. */
import { inputOf, paramOf } from './inputs';
import type { ReferenceCall, ReferenceOp } from './op';
import { roundInPlace } from './rounding';

/** The normalized input h [N, C] and 1 / sqrt(var + eps) [N]. */
function normalize(call: ReferenceCall): { h: Float64Array; rstd: Float64Array } {
  const x = inputOf(call, 0);
  const { cols, eps } = call.attrs;
  const h = new Float64Array(x.length);
  const rstd = new Float64Array(x.length / cols);
  for (let r = 0; r < rstd.length; r++) {
    const row = x.subarray(r * cols, (r + 1) * cols);
    const mean = row.reduce((a, b) => a + b, 0) / cols;
    const inverse = 1 / Math.sqrt(row.reduce((a, b) => a + (b - mean) ** 2, 0) / cols + eps);
    rstd[r] = inverse;
    for (let j = 0; j < cols; j++) h[r * cols + j] = ((row[j] as number) - mean) * inverse;
  }
  return { h, rstd };
}

export const layernorm: ReferenceOp = {
  fprop: (call) => {
    const { cols } = call.attrs;
    const [w, b] = [paramOf(call, 'weight'), paramOf(call, 'bias')];
    return roundInPlace(normalize(call).h.map((h, i) => h * (w[i % cols] as number) + (b[i % cols] as number)), call.rounding);
  },
  // with e = dy w: dx = rstd (e - mean(e) - h mean(e h)); dw = sum over rows of dy h; db = sum over rows of dy
  bprop: (call, dy) => {
    const { cols } = call.attrs;
    const w = paramOf(call, 'weight');
    const { h, rstd } = normalize(call);
    const dx = new Float64Array(h.length);
    const dw = new Float64Array(cols);
    const db = new Float64Array(cols);
    for (let r = 0; r < rstd.length; r++) {
      let meanE = 0;
      let meanEh = 0;
      for (let j = 0; j < cols; j++) {
        const i = r * cols + j;
        const g = dy[i] as number;
        const e = g * (w[j] as number);
        meanE += e / cols;
        meanEh += (e * (h[i] as number)) / cols;
        dw[j] = (dw[j] as number) + g * (h[i] as number);
        db[j] = (db[j] as number) + g;
      }
      for (let j = 0; j < cols; j++) {
        const i = r * cols + j;
        dx[i] = (rstd[r] as number) * ((dy[i] as number) * (w[j] as number) - meanE - (h[i] as number) * meanEh);
      }
    }
    return { dx: [roundInPlace(dx, call.rounding)], dparams: { weight: dw, bias: db } };
  },
};
