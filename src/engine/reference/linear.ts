/**
 * y [N, out] = x [N, in] w [in, out] + bias: three GEMMs, each high (BF16 operands, or unrounded under `none`) or in a
 * low scheme on its own. A weight stored [out, in] (the tied head) is transposed on the way in and its gradient back.
 */
import { assert } from '../../base/errors';
import { FIRST_DRAW, OUT_SCHEME } from '../../graph/policy';
import { recipeOptions } from '../../graph/recipes';
import type { Pass } from '../../graph/types';
import { streamOf, type RandomKey } from '../../numerics/stochastic';
import { inputOf, paramOf } from './inputs';
import { lowProduct, outTensor, type LowSource } from './low-operand';
import { columnSums, multiply, transpose } from './matrix';
import type { ReferenceCall, ReferenceOp } from './op';
import { rounded, roundInPlace } from './rounding';

/** The weight [in, out], rounded under `bf16`. */
function weightOf(call: ReferenceCall): Float64Array {
  const { cols, inCols, weightTransposed } = call.attrs;
  const stored = rounded(paramOf(call, 'weight'), call.rounding);
  assert(stored.length === cols * inCols, `reference: expected a weight of ${inCols} x ${cols}, got ${stored.length} elements`);
  return weightTransposed ? transpose(stored, cols, inCols) : stored;
}

/** The weight of a pass that is not low, [in, out]; of a low op group E4M3, blocks along the pass's contracted axis. */
function highWeight(call: ReferenceCall, pass: 'fprop' | 'dgrad'): Float64Array {
  const { cols, inCols } = call.attrs;
  const w = weightOf(call);
  if (!call.lowGroup) return w;
  const options = recipeOptions(OUT_SCHEME, call.options ?? {});
  if (pass === 'dgrad') return outTensor(w, inCols, cols, 'w', options);
  return transpose(outTensor(transpose(w, inCols, cols), cols, inCols, 'w', options), cols, inCols);
}

/** The random bytes of a copy of dy: its stream is the node's (formats.md 2.8). */
function randomKey(call: ReferenceCall, copy: 'row' | 'col'): RandomKey {
  return { seed: call.options?.seed ?? 0, stream: streamOf(call.tensorNumber ?? 0, copy), ...(call.draw ?? FIRST_DRAW) };
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
  const options = scheme ? recipeOptions(scheme, call.options ?? {}) : {};
  if (pass === 'fprop') {
    const x = rounded(inputOf(call, 0), call.rounding);
    if (scheme === undefined) return multiply(x, highWeight(call, pass), rows, inCols, cols);
    return lowProduct(scheme, options, { values: x, rows, role: 'x' }, { values: transpose(weightOf(call), inCols, cols), rows: cols, role: 'w' }, inCols);
  }
  assert(dy && dy.length === rows * cols, `reference: expected dy of ${rows} x ${cols}, got ${dy?.length ?? 'none'} elements`);
  const g = rounded(dy, call.rounding);
  const gradient = (values: Float64Array, itsRows: number, copy: 'row' | 'col'): LowSource => ({
    values, rows: itsRows, role: 'dy', random: options.sr ? randomKey(call, copy) : undefined,
  });
  if (pass === 'dgrad') {
    if (scheme === undefined) return multiply(g, transpose(highWeight(call, pass), inCols, cols), rows, cols, inCols);
    return lowProduct(scheme, options, gradient(g, rows, 'row'), { values: weightOf(call), rows: inCols, role: 'w' }, cols);
  }
  const xColumns = transpose(rounded(inputOf(call, 0), call.rounding), rows, inCols);
  if (scheme === undefined) return multiply(xColumns, g, inCols, rows, cols);
  return lowProduct(scheme, options, { values: xColumns, rows: inCols, role: 'x' }, gradient(transpose(g, rows, cols), cols, 'col'), rows, options.rht);
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
