/**
 * Causal multi-head attention on qkv [N, 3C] -> context [N, C]; a head is HS = C / NH columns of each third. P is
 * rounded for its products, unrounded in the softmax derivative (method.md 2, attention line).
 */
import { inputOf } from './inputs';
import { multiply, scale, transpose } from './matrix';
import type { ReferenceCall, ReferenceOp } from './op';
import { rounded, roundInPlace } from './rounding';

/** What one head of one sequence works on: q, k, v [T, HS] and the softmax P [T, T], lower triangular. */
interface Head {
  readonly q: Float64Array;
  readonly k: Float64Array;
  readonly v: Float64Array;
  readonly p: Float64Array;
  /** Column of the head inside C. */
  readonly at: number;
  readonly firstRow: number;
}

interface Sizes {
  readonly size: number;
  readonly scale: number;
}

function sizes(call: ReferenceCall): Sizes {
  const size = call.attrs.cols / call.attrs.heads;
  return { size, scale: 1 / Math.sqrt(size) };
}

/** [T, width] out of x [N, cols]. */
function slice(x: Float64Array, cols: number, firstRow: number, column: number, rows: number, width: number): Float64Array {
  const out = new Float64Array(rows * width);
  for (let t = 0; t < rows; t++) {
    const from = (firstRow + t) * cols + column;
    out.set(x.subarray(from, from + width), t * width);
  }
  return out;
}

function place(part: Float64Array, out: Float64Array, cols: number, firstRow: number, column: number, width: number): void {
  for (let t = 0; t * width < part.length; t++) out.set(part.subarray(t * width, (t + 1) * width), (firstRow + t) * cols + column);
}

function softmaxRows(s: Float64Array, T: number, factor: number): Float64Array {
  const p = new Float64Array(T * T);
  for (let t = 0; t < T; t++) {
    const row = s.subarray(t * T, t * T + t + 1).map((x) => x * factor);
    const top = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const e = row.map((x) => Math.exp(x - top));
    const sum = e.reduce((a, b) => a + b, 0);
    p.set(e.map((x) => x / sum), t * T);
  }
  return p;
}

function* headsOf(call: ReferenceCall): Generator<Head> {
  const qkv = inputOf(call, 0);
  const { cols, inCols, heads } = call.attrs;
  const { size, scale: factor } = sizes(call);
  const T = call.tokens;
  for (let b = 0; b < call.sequences; b++) {
    for (let h = 0; h < heads; h++) {
      const [q, k, v] = [0, 1, 2].map((third) => slice(qkv, inCols, b * T, third * cols + h * size, T, size)) as [Float64Array, Float64Array, Float64Array];
      const s = multiply(q, transpose(k, T, size), T, size, T);
      yield { q, k, v, p: softmaxRows(s, T, factor), at: h * size, firstRow: b * T };
    }
  }
}

export const attention: ReferenceOp = {
  fprop: (call) => {
    const { cols } = call.attrs;
    const { size } = sizes(call);
    const T = call.tokens;
    const y = new Float64Array(call.sequences * T * cols);
    for (const head of headsOf(call)) place(multiply(rounded(head.p, call.rounding), head.v, T, T, size), y, cols, head.firstRow, head.at, size);
    return roundInPlace(y, call.rounding);
  },
  // dv = P^T do; dP = do v^T; dS = P (dP - rowsum(dP P)); dq = scale dS k; dk = scale dS^T q
  bprop: (call, dy) => {
    const { cols, inCols } = call.attrs;
    const { size, scale: factor } = sizes(call);
    const T = call.tokens;
    const dx = new Float64Array(call.sequences * T * inCols);
    for (const { q, k, v, p, at, firstRow } of headsOf(call)) {
      const g = slice(dy, cols, firstRow, at, T, size);
      const dv = multiply(transpose(rounded(p, call.rounding), T, T), g, T, T, size);
      const dp = multiply(g, transpose(v, T, size), T, size, T);
      const ds = new Float64Array(T * T);
      for (let t = 0; t < T; t++) {
        let sum = 0;
        for (let i = t * T; i <= t * T + t; i++) sum += (dp[i] as number) * (p[i] as number);
        for (let i = t * T; i <= t * T + t; i++) ds[i] = (p[i] as number) * ((dp[i] as number) - sum);
      }
      roundInPlace(ds, call.rounding);
      place(scale(multiply(ds, k, T, T, size), factor), dx, inCols, firstRow, at, size);
      place(scale(multiply(transpose(ds, T, T), q, T, T, size), factor), dx, inCols, firstRow, cols + at, size);
      place(dv, dx, inCols, firstRow, 2 * cols + at, size);
    }
    return { dx: [roundInPlace(dx, call.rounding)], dparams: {} };
  },
};
