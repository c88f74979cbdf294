/**
 * The low-precision form of a linear's pass: quantize both operands from their BF16 values along the contracted axis,
 * then one GEMM on packed codes (formats.md 2.6, 2.7, 3). Codes and scales are integer work on the device.
 */
import type { PassScheme, PolicyOptions } from '../graph/policy';
import type { Graph, GraphNode, Pass } from '../graph/types';
import type { Gemm } from './gemm';
import type { Clear, Dispatch } from './program';
import type { BatchShape, Values } from './values';

export interface LowLinear {
  /** Distinguishes the step from the reference's: scheme and switches. */
  readonly variant: string;
  gemm(g: Pick<Gemm, 'rows' | 'cols' | 'depth' | 'c' | 'bias'>): (Dispatch | Clear)[];
}

export function lowLinear(_scheme: PassScheme, _pass: Pass, _values: Values, _node: GraphNode, _options: PolicyOptions, _shape: BatchShape): LowLinear {
  throw new Error('not yet');
}

export function lowScratch(_graph: Graph, _shape: BatchShape): { key: string; bytes: number }[] {
  return [];
}
