/**
 * y [N, out] = x [N, in] w [in, out] + bias: three GEMMs, each high (BF16 operands, or unrounded under `none`) or in a
 * low scheme on its own. A weight stored [out, in] (the tied head) is transposed on the way in and its gradient back.
 */
import { assert } from '../../base/errors';
import type { Pass } from '../../graph/types';
import { inputOf, paramOf } from './inputs';
import { lowProduct } from './low-operand';
import { columnSums, multiply, transpose } from './matrix';
import type { ReferenceCall, ReferenceOp } from './op';
import { rounded, roundInPlace } from './rounding';

/** The GEMM operand w [in, out], rounded under `bf16`. */
function weightOf(call: ReferenceCall): Float64Array {
  const { cols, inCols, weightTransposed } = call.attrs;
  const stored = rounded(paramOf(call, 'weight'), call.rounding);
  assert(stored.length === cols * inCols, `reference: expected a weight of ${inCols} x ${cols}, got ${stored.length} elements`);
  return weightTransposed ? transpose(stored, cols, inCols) : stored;
}

/**
 * One pass alone, its output unrounded and without bias: fprop [N, out], dgrad [N, in], wgrad [in, out]. What the local
 * error of a site compares (method.md 7). `dy` is read by dgrad and wgrad.
 */
export function linearPass(call: ReferenceCall, pass: Pass, dy?: Float64Array): Float64Array {
  const { cols, inCols } = call.attrs;
  const rows = call.sequences * call.tokens;
  const scheme = call.low?.[pass];
  assert(scheme === undefined || call.rounding === 'bf16', `reference: ${pass} in ${String(scheme)} needs the bf16 policy`);
  const options = call.options ?? {};
  if (pass === 'fprop') {
    const [x, w] = [rounded(inputOf(call, 0), call.rounding), weightOf(call)];
    if (scheme === undefined) return multiply(x, w, rows, inCols, cols);
    return lowProduct(scheme, options, { values: x, rows, role: 'x' }, { values: transpose(w, inCols, cols), rows: cols, role: 'w' }, inCols);
  }
  assert(dy && dy.length === rows * cols, `reference: expected dy of ${rows} x ${cols}, got ${dy?.length ?? 'none'} elements`);
  const g = rounded(dy, call.rounding);
  if (pass === 'dgrad') {
    const w = weightOf(call);
    if (scheme === undefined) return multiply(g, transpose(w, inCols, cols), rows, cols, inCols);
    return lowProduct(scheme, options, { values: g, rows, role: 'dy' }, { values: w, rows: inCols, role: 'w' }, cols);
  }
  const xColumns = transpose(rounded(inputOf(call, 0), call.rounding), rows, inCols);
  if (scheme === undefined) return multiply(xColumns, g, inCols, rows, cols);
  return lowProduct(scheme, options, { values: xColumns, rows: inCols, role: 'x' }, { values: transpose(g, rows, cols), rows: cols, role: 'dy' }, rows);
}

export const linear: ReferenceOp = {
  fprop: (call) => {
    const { cols } = call.attrs;
    const y = linearPass(call, 'fprop');
    const bias = call.params['bias'];
    if (bias) for (let i = 0; i < y.length; i++) y[i] = (y[i] as number) + (bias[i % cols] as number);
    return roundInPlace(y, call.rounding);
  },
  // dx = dy w^T; dw = x^T dy; dbias = sum over rows of dy
  bprop: (call, dy) => {
    const { cols, inCols, weightTransposed } = call.attrs;
    const dx = roundInPlace(linearPass(call, 'dgrad', dy), call.rounding);
    const dw = linearPass(call, 'wgrad', dy);
    const weight = weightTransposed ? transpose(dw, inCols, cols) : dw;
    const bias = call.params['bias'] ? { bias: columnSums(rounded(dy, call.rounding), cols) } : {};
    return { dx: [dx], dparams: { weight, ...bias } };
  },
};
