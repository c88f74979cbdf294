/**
 * One GEMM (or a batch of them, for attention) as a dispatch. Layouts, not passes, name the kernels: nn, nt and tn say
 * which operand is read transposed. A linear's three passes map to them by how its weight is stored:
 *
 *   weight [in, out]: fprop nn, dgrad nt, wgrad tn      weight [out, in] (tied head): fprop nt, dgrad nn, wgrad tn
 *   Packed operands are stored contracted axis last, so all three passes are nt.
 */
import { assert } from '../base/errors';
import { FORMATS } from '../numerics/formats';
import { elementsPerWord, packedSize, SCALE_RULES, type OperandFormat } from '../numerics/schemes';
import { elementWord } from './format-words';
import { stride, type Binding, type Dispatch } from './program';

export interface Operand {
  readonly data: Binding;
  /** FP32 or BF16 in natural order, or codes (nt only). */
  readonly format: 'f32' | 'bf16' | OperandFormat;
  /** Elements between rows; `base` and the batch offsets too. All multiples of 4. */
  readonly stride: number;
  readonly base?: number;
  readonly sequence?: number;
  readonly head?: number;
  /** Codes with block scales: their bytes, and u32 words between rows of them. */
  readonly scales?: Binding;
  readonly scaleStride?: number;
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
/** ELEMENT of gemm_nt for what is no code, and SCALE of lib/unpack by how a scale is stored. */
const PLAIN_ELEMENT = { f32: 0, bf16: 1 } as const;
const SCALE_KIND = { E4M3: 1, E8M0: 2 } as const;

/** Override constants of one operand of gemm_nt; what an operand does not need stays at its default. */
function storage(side: 'A' | 'B', { format }: Operand): Record<string, number> {
  if (typeof format === 'string') return { [`${side}_ELEMENT`]: PLAIN_ELEMENT[format] };
  const element = { [`${side}_ELEMENT`]: elementWord(format.element) };
  const { stored } = SCALE_RULES[format.scale];
  if (stored === null) return element;
  const [rows, length] = format.block;
  assert(stored !== 'F32' && length % 16 === 0 && (rows === 1 || rows % 4 === 0), `gemm: no loader for ${format.scale} scales of ${rows}x${length} blocks`);
  return { ...element, [`${side}_SCALE`]: SCALE_KIND[stored], [`${side}_TILE`]: rows, [`${side}_BLOCK`]: length };
}

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
    g.a.scaleStride ?? 0, g.b.scaleStride ?? 0,
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
            constants: { ...common, ...bias, ...storage('A', g.a), ...storage('B', g.b), ALPHA: g.alpha ? 1 : 0 },
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

/** Packed [rows, length], contracted axis last, as an operand. `scales` is read where the format has blocks. */
export function packed(data: Binding, scales: Binding, format: OperandFormat, rows: number, length: number): Operand {
  const { codeRowWords, scaleRowWords } = packedSize(format, rows, length);
  const codes = { data, format, stride: codeRowWords * elementsPerWord(FORMATS[format.element]) };
  return scaleRowWords === 0 ? codes : { ...codes, scales, scaleStride: scaleRowWords };
}

/** A [.., cols] tensor in natural order as an operand. */
export function natural(data: Binding, cols: number, bf16: boolean): Operand {
  return { data, format: bf16 ? 'bf16' : 'f32', stride: stride(cols) };
}
