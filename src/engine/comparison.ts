/**
 * A gradient against its reference: the dispatch that takes partial sums on the device, and their FP64 total on the host
 * (engine.md 6.2).
 */
import type { SiteId } from '../graph/policy';
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

/** |r|^2 of a BF16 tensor and |q-r|^2 of its rounding, in the same places. */
export function outErrorCommand(q: BufferSlice, r: BufferSlice, quads: number, first: number, sums: BufferSlice): ResolvedCommand {
  return {
    label: 'out_error/local-error',
    dispatch: { kernel: 'out_error', constants: {}, params: [quads, first], bindings: [], invocations: Math.ceil((4 * quads) / COMPARE_CHUNK), flops: 20 * quads },
    slices: [q, r, sums],
  };
}

/** What the difference q - r changes the loss by, weighed by the BF16 gradient g, in the places that both leave free. */
export function firstOrderCommand(q: BufferSlice, r: BufferSlice, g: BufferSlice, bf16: boolean, quads: number, first: number, sums: BufferSlice): ResolvedCommand {
  return {
    label: 'first_order/local-error',
    dispatch: { kernel: 'first_order', constants: { BF16: bf16 ? 1 : 0 }, params: [quads, first], bindings: [], invocations: Math.ceil((4 * quads) / COMPARE_CHUNK), flops: 40 * quads },
    slices: [q, r, g, sums],
  };
}

/** The words of `count` chunks from `first` on, as read back -> their sums in FP64. */
function addWords(partials: Float32Array, first: number, count: number): Float64Array {
  const total = new Float64Array(COMPARE_WORDS);
  for (let chunk = first; chunk < first + count; chunk++) {
    for (let i = 0; i < COMPARE_WORDS; i++) total[i] = (total[i] ?? 0) + (partials[chunk * COMPARE_WORDS + i] ?? 0);
  }
  return total;
}

export function addPartials(partials: Float32Array, first: number, count: number): TensorSums {
  const [gg = 0, rr = 0, dd = 0, dr = 0, nonFinite = 0] = addWords(partials, first, count);
  return { gg, rr, dd, dr, nonFinite };
}

/** Sums over the output y of one site, low against high, both from the reference's inputs; FP64 totals of FP32 partials. */
export interface OutputSums {
  readonly site: SiteId;
  /** |y_low - y|^2 and |y|^2. */
  readonly dd: number;
  readonly rr: number;
  /** With the gradient g that arrives at y: sum of clamp(g (y_low - y), +-1e10)^2, and |g|^2. null where y is itself a gradient. */
  readonly arriving: { readonly gd: number; readonly gg: number } | null;
  readonly elements: number;
  /** Inf and NaN elements of y_low, of g and of quantized operands: where there are any, no sum counts. */
  readonly nonFinite: number;
}

export function addOutput(partials: Float32Array, first: number, count: number): Pick<OutputSums, 'dd' | 'rr' | 'nonFinite'> & { readonly gd: number; readonly gg: number } {
  const [, rr = 0, dd = 0, , ofLow = 0, gd = 0, gg = 0, ofBoth = 0] = addWords(partials, first, count);
  return { dd, rr, gd, gg, nonFinite: ofLow + ofBoth };
}
