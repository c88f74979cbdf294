/**
 * One GEMM (or a batch of them, for attention) as a dispatch. Layouts, not passes, name the kernels: nn, nt and tn say
 * which operand is read transposed. A linear's three passes map to them by how its weight is stored:
 *
 *   weight [in, out]: fprop nn, dgrad nt, wgrad tn      weight [out, in] (tied head): fprop nt, dgrad nn, wgrad tn
 *   NVFP4 operands are stored contracted axis last, so all three passes are nt.
 */
import { assert } from '../base/errors';
import { stride, type Binding, type Dispatch } from './program';

export type OperandFormat = 'f32' | 'bf16' | 'e2m1';

export interface Operand {
  readonly data: Binding;
  readonly format: OperandFormat;
  /** Elements between rows; `base` and the batch offsets too. All multiples of 4. */
  readonly stride: number;
  readonly base?: number;
  readonly sequence?: number;
  readonly head?: number;
  /** E2M1: block scales, and whether they serve 16x16 tiles (B only). */
  readonly scales?: Binding;
  readonly tile?: boolean;
}

export interface GemmOutput {
  readonly data: Binding;
  readonly bf16: boolean;
  readonly stride: number;
  readonly base?: number;
  readonly sequence?: number;
  readonly head?: number;
}

export interface Gemm {
  readonly layout: 'nn' | 'nt' | 'tn';
  readonly rows: number;
  readonly cols: number;
  readonly depth: number;
  readonly a: Operand;
  readonly b: Operand;
  readonly c: GemmOutput;
  readonly bias?: Binding;
  readonly alpha?: Binding;
  readonly scale?: number;
  /** Attention: (sequences, heads) batches, and which triangle is exactly zero (lib/gemm.wgsl CAUSAL). */
  readonly sequences?: number;
  readonly heads?: number;
  readonly causal?: 0 | 1 | 2 | 3;
}

const NOTHING: Binding = { resource: 'nothing' };
const FORMAT_CODE: Record<OperandFormat, number> = { f32: 0, bf16: 1, e2m1: 2 };

export function gemmDispatch(g: Gemm): Dispatch {
  const heads = g.heads ?? 1;
  const batches = (g.sequences ?? 1) * heads;
  const quad = (n = 0): number => {
    assert(n % 4 === 0, `gemm: expected offsets and strides in whole quads, got ${n}`);
    return n / 4;
  };
  const tiles = (n: number): number => Math.ceil(n / 4);
  const params = [
    g.rows, g.cols, g.depth, 0, g.rows, heads, batches, { f32: g.scale ?? 1 },
    quad(g.a.base), quad(g.a.stride), quad(g.a.sequence), quad(g.a.head),
    quad(g.b.base), quad(g.b.stride), quad(g.b.sequence), quad(g.b.head),
    4 * quad(g.c.base), 4 * quad(g.c.stride), 4 * quad(g.c.sequence), 4 * quad(g.c.head),
  ];
  const common = { CAUSAL: g.causal ?? 0, OUT_BF16: g.c.bf16 ? 1 : 0 };
  const bias = { BIAS: g.bias ? 1 : 0 };
  const high = { A_BF16: g.a.format === 'bf16' ? 1 : 0, B_BF16: g.b.format === 'bf16' ? 1 : 0 };
  const form =
    g.layout === 'nn'
      ? { kernel: 'gemm_nn' as const, constants: { ...common, ...bias, ...high }, bindings: [g.a.data, g.b.data, g.bias ?? NOTHING, g.c.data] }
      : g.layout === 'tn'
        ? { kernel: 'gemm_tn' as const, constants: { ...common, ...high }, bindings: [g.a.data, g.b.data, g.c.data] }
        : {
            kernel: 'gemm_nt' as const,
            constants: {
              ...common, ...bias,
              A_FORMAT: FORMAT_CODE[g.a.format], B_FORMAT: FORMAT_CODE[g.b.format], B_TILE: g.b.tile ? 1 : 0, ALPHA: g.alpha ? 1 : 0,
            },
            bindings: [g.a.data, g.a.scales ?? NOTHING, g.b.data, g.b.scales ?? NOTHING, g.bias ?? NOTHING, g.alpha ?? NOTHING, g.c.data],
          };
  return {
    ...form,
    params,
    invocations: batches * tiles(g.rows) * tiles(g.cols),
    flops: (2 * batches * g.rows * g.cols * g.depth) / (g.causal ? 2 : 1),
    split: { rowStartIndex: 3, rows: g.rows, invocationsOf: (rows) => batches * tiles(rows) * tiles(g.cols) },
  };
}

/** A [.., cols] tensor in natural order as an operand. */
export function natural(data: Binding, cols: number, bf16: boolean): Operand {
  return { data, format: bf16 ? 'bf16' : 'f32', stride: stride(cols) };
}
