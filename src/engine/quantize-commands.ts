/**
 * A tensor to the packed form of any row of SCHEMES, and back: the dispatches of the quantizer's kernels as data, over
 * buffers the caller names. One path for every scheme: amax and non-finite count of the tensor, its scale, amax and scale
 * of every block, codes. All of it is integer work on the device. Oracle: src/numerics/quantize.ts. Source: formats.md 1.6, 2.
 */
import type { OperandFormat } from '../numerics/schemes';
import type { Binding, Clear, Dispatch } from './program';

/** What is quantized: [rows, length] with the blocked (contracted) axis last, read from a tensor in natural order. */
export interface Source {
  readonly data: Binding;
  readonly sourceFormat: 'bf16' | 'f32';
  /** The stored tensor: its rows and columns; rows are padded with zeros to whole quads. */
  readonly sourceRows: number;
  readonly cols: number;
  /** Element (r, l) is stored at (l, r). */
  readonly transposed: boolean;
  readonly rows: number;
  readonly length: number;
}

/** Buffers of a quantized tensor; sizes by `placeBytes`. Without blocks `scales` and `multipliers` are not touched. */
export interface Places {
  /** The tensor record, 8 words: amax, non-finite count, encode scale, decode scale, fl(S_enc / 6). */
  readonly record: Binding;
  readonly codes: Binding;
  readonly scales: Binding;
  /** Scratch: FP32 factor of every block before the cast. */
  readonly multipliers: Binding;
}

/** Address of the random bytes of stochastic rounding (formats.md 2.8). */
export interface RandomKey {
  readonly seed: number;
  readonly stream: number;
  readonly step: number;
  readonly draw: number;
}

/** `operand`: what a GEMM multiplies, FP32 (formats.md 1.6); `f32`: the whole decode; `bf16`: the same rounded, packed x2. */
export type DecodeMode = 'operand' | 'f32' | 'bf16';

export declare function placeBytes(format: OperandFormat, rows: number, length: number): Readonly<Record<keyof Places, number>>;
/** random: stochastic rounding instead of nearest even; E2M1 only. */
export declare function quantizeCommands(source: Source, format: OperandFormat, places: Places, random?: RandomKey): (Dispatch | Clear)[];
/** Packed [rows, length] -> out [rows, length] in natural order, rows padded with zeros to whole quads. */
export declare function dequantizeCommands(format: OperandFormat, rows: number, length: number, places: Omit<Places, 'multipliers'>, out: Binding, mode: DecodeMode): Dispatch[];
/** Adds the record's non-finite count to the run's (`low:alpha` word 1): for tensors that no low GEMM reads. */
export declare function countCommand(record: Binding): Dispatch;
