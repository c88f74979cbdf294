/**
 * A program: the dispatches of one gradient under one policy, as data, grouped in steps. A step names the values it
 * reads and writes, so that a variant run executes exactly the steps that a change of format can reach (engine.md 6.1):
 * a step is dirty if its variant differs from the reference program's step in the same slot, or if it reads a dirty value.
 *
 * Values are tensors of one run; each has a place in the reference set and one in the work set. Resources are the same
 * for both sets: parameters, token ids, scratch.
 */
import type { FormatName } from '../numerics/formats';
import type { KernelName } from './kernels';

/**
 * `y:h.0.ln_1`, `dx:lm_head:0`, `dy:h.0.res_1`, `stats:ln_f`, `dw:wte.weight`, `dwpart:wte.weight`; of a low op group
 * `y8:` codes, `yr:` record, `ys:` block scales (`yq:` values, unpacked), `dyq:` the quantized gradient.
 */
export type ValueKey = string;
/** `param:NAME` FP32, `bf16:NAME` packed, `low:a:codes`, `low:a:scales`, .. of a quantized operand, `scratch:NAME`, ... */
export type ResourceKey = string;

/** `from: 'reference'` reads the reference set even where the work set holds a newer value (the flipped ulp's source). */
export type Binding = { readonly value: ValueKey; readonly from?: 'reference' } | { readonly resource: ResourceKey };

/** 32-bit words of a Params struct; {f32} marks a float. */
export type Word = number | { readonly f32: number };

export interface Dispatch {
  readonly kernel: KernelName;
  readonly constants: Readonly<Record<string, number>>;
  readonly params: readonly Word[];
  readonly bindings: readonly Binding[];
  readonly invocations: number;
  /** Floating-point operations, or element visits for kernels that are not GEMMs: what the scheduler budgets. */
  readonly flops: number;
  /** For GEMMs: how to cut the dispatch by output rows; params[index] is the first row, params[index + 1] the count. */
  readonly split?: { readonly rowStartIndex: number; readonly rows: number; readonly invocationsOf: (rows: number) => number };
}

/** A buffer fill with zeros before a dispatch: atomics need it. A cleared value counts as written. */
export interface Clear {
  readonly clear: Binding;
}

export interface Step {
  /** Unique within a program: `h.0.attn.c_attn/fprop`. */
  readonly slot: string;
  /** What distinguishes formats in one slot: `bf16`, `nvfp4`, `nvfp4 weights1d`. */
  readonly variant: string;
  readonly reads: readonly ValueKey[];
  readonly writes: readonly ValueKey[];
  readonly commands: readonly (Dispatch | Clear)[];
}

export type StoredFormat = FormatName | 'FP32';

export interface ValueSpec {
  readonly key: ValueKey;
  readonly role: 'activation' | 'gradient' | 'parameter gradient';
  readonly format: StoredFormat;
  readonly bytes: number;
}

export interface Program {
  readonly steps: readonly Step[];
}

export function isClear(command: Dispatch | Clear): command is Clear {
  return 'clear' in command;
}

/** Elements of a row on the device: padded to whole quads, the padding zero. */
export function stride(cols: number): number {
  return Math.ceil(cols / 4) * 4;
}

/** Bytes of [rows, cols] as BF16 x2 or FP32 words. */
export function tensorBytes(rows: number, cols: number, bf16: boolean): number {
  return rows * stride(cols) * (bf16 ? 2 : 4);
}
