/**
 * The float64 reference of an op: what the kernels are held against. It rounds exactly where method.md 2 rounds and
 * nowhere else, so under `none` it is the mathematical op. Simple on purpose; nothing here is shared with the kernels.
 */
import type { PassScheme, PolicyOptions, RandomDraw } from '../../graph/policy';
import type { GraphNode, Pass } from '../../graph/types';

/** `bf16`: outputs and input gradients are rounded to BF16, and what method.md 2 names inside an op; `none`: `fp32` policy. */
export type Rounding = 'bf16' | 'none';

export type NodeAttributes = Pick<GraphNode, 'cols' | 'inCols' | 'weightTransposed' | 'heads' | 'eps'>;

/** One call of an op. Tensors are row-major Float64Array; N = sequences * tokens rows, row b * T + t. */
export interface ReferenceCall {
  readonly attrs: NodeAttributes;
  readonly sequences: number;
  readonly tokens: number;
  /** One tensor [N, its cols] a port. Under `bf16` they must hold BF16 values, as a node's output does. */
  readonly inputs: readonly Float64Array[];
  /** By role, in the checkpoint's shape, FP32 values: a GEMM operand is rounded inside. */
  readonly params: Readonly<Record<string, Float64Array>>;
  readonly rounding: Rounding;
  /** [N] token ids (embed) and targets (cross_entropy). */
  readonly ids?: ArrayLike<number>;
  readonly targets?: ArrayLike<number>;
  /** Passes of a linear that run low, and the recipe's switches; only under `bf16`. */
  readonly low?: Readonly<Partial<Record<Pass, PassScheme>>>;
  readonly options?: PolicyOptions;
  /** Whether the node's op group is low: then the weights of its passes that are not low are E4M3. */
  readonly lowGroup?: boolean;
  /** What addresses the random bytes of a low pass: index of the node in graph order, batch or step, and draw; 0 unless given. */
  readonly tensorNumber?: number;
  readonly draw?: RandomDraw;
}

export interface ReferenceGradients {
  /** One tensor a port, rounded under `bf16`. */
  readonly dx: readonly Float64Array[];
  /** By role, in the parameter's shape, never rounded. */
  readonly dparams: Readonly<Record<string, Float64Array>>;
}

export interface ReferenceOp {
  /** -> y [N, cols], rounded under `bf16`. */
  fprop(call: ReferenceCall): Float64Array;
  /** dy [N, cols], the gradient that arrived at y, already rounded under `bf16`. */
  bprop(call: ReferenceCall, dy: Float64Array): ReferenceGradients;
}
