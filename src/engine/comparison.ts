/**
 * A gradient against its reference: the dispatch that takes partial sums on the device, and their FP64 total on the host
 * (engine.md 6.2).
 */
import type { BufferSlice } from '../gpu/gpu';
import type { ResolvedCommand } from './executor';
import { COMPARE_CHUNK, COMPARE_WORDS } from './memory';

/** Sums over one parameter tensor: g.g, r.r, |g-r|^2, (g-r).r in FP64, and the count of Inf and NaN elements of g. */
export interface TensorSums {
  readonly gg: number;
  readonly rr: number;
  readonly dd: number;
  readonly dr: number;
  readonly nonFinite: number;
}

/** g, r: FP32 tensors of `quads` quads; partials go to `sums` from chunk `first` on. */
export function compareCommand(label: string, g: BufferSlice, r: BufferSlice, quads: number, first: number, sums: BufferSlice): ResolvedCommand {
  return {
    label: `gradient_compare/${label}`,
    dispatch: { kernel: 'gradient_compare', constants: {}, params: [quads, first], bindings: [], invocations: Math.ceil((4 * quads) / COMPARE_CHUNK), flops: 40 * quads },
    slices: [g, r, sums],
  };
}

/** |q|^2 of the difference and |r|^2 of two BF16 tensors, in the same places. */
export function outErrorCommand(q: BufferSlice, r: BufferSlice, quads: number, first: number, sums: BufferSlice): ResolvedCommand {
  return {
    label: 'out_error/local-error',
    dispatch: { kernel: 'out_error', constants: {}, params: [quads, first], bindings: [], invocations: Math.ceil((4 * quads) / COMPARE_CHUNK), flops: 20 * quads },
    slices: [q, r, sums],
  };
}

/** Partials of `count` chunks from `first` on, as read back -> their sums in FP64. */
export function addPartials(partials: Float32Array, first: number, count: number): TensorSums {
  const total = [0, 0, 0, 0, 0];
  for (let chunk = first; chunk < first + count; chunk++) {
    for (let i = 0; i < total.length; i++) total[i] = (total[i] ?? 0) + (partials[chunk * COMPARE_WORDS + i] ?? 0);
  }
  const [gg = 0, rr = 0, dd = 0, dr = 0, nonFinite = 0] = total;
  return { gg, rr, dd, dr, nonFinite };
}
