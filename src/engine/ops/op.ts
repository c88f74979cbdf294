/**
 * What an op implementation is given and gives: names of its values, never a device, a format table or a cache.
 */
import type { GraphNode } from '../../graph/types';
import type { Binding, Step, ValueKey } from '../program';
import type { BatchShape } from '../values';
import type { LowLinear } from '../low-linear';
import type { OutWeight } from '../packed-cache';

export interface OpContext {
  readonly node: GraphNode;
  readonly shape: BatchShape;
  /** N = B T rows of every activation. */
  readonly rows: number;
  /** Activations packed BF16 (the bf16 reference) or FP32 (fp32 policy). */
  readonly bf16: boolean;
  readonly vocabulary: number;
  readonly maxTokens: number;
  x(port: number): ValueKey;
  readonly y: ValueKey;
  dy(): ValueKey;
  dx(port: number): ValueKey;
  /** dw of the parameter in this role. */
  dw(role: string): ValueKey;
  /** FP32 parameter in this role. */
  param(role: string): Binding;
  /** The GEMM weight: packed BF16 under the bf16 reference, else FP32. */
  gemmWeight(): Binding;
  /** Whether the tied head's share has to be added to the table's gradient. */
  readonly tied: boolean;
  /** The low-precision form of a pass, or null where it runs high. */
  low(pass: 'fprop' | 'dgrad' | 'wgrad'): LowLinear | null;
  /** The GEMM weight of a pass that runs high in a low op group, or null where the group is high. */
  lowWeight(pass: 'fprop' | 'dgrad'): OutWeight | null;
}

export interface OpImplementation {
  fprop(c: OpContext): Step[];
  /** The derivative is stated in one comment line above each implementation. */
  bprop(c: OpContext): Step[];
}

export const value = (key: ValueKey): Binding => ({ value: key });
export const resource = (key: string): Binding => ({ resource: key });

/** Rows of a partial column sum: fixed, so that the order of the sum never depends on the device. */
export const CHUNK_ROWS = 64;
