/**
 * The static memory plan: every buffer of a session and its bytes, known before anything is allocated. Values exist in
 * one reference set per resident batch and in one work set, except parameter gradients, which a variant run compares
 * while they sit in scratch.
 */
import type { Graph } from '../graph/types';
import { lowScratch } from './low-linear';
import { stride, tensorBytes } from './program';
import { CHUNK_ROWS } from './ops/op';
import { paramBytes, Values, type BatchShape } from './values';

export interface PlannedBuffer {
  readonly key: string;
  readonly role: 'parameter' | 'activation' | 'gradient' | 'parameter gradient' | 'scratch' | 'batch';
  /** `work`, `shared`, or the number of a resident batch's reference set. */
  readonly set: 'shared' | 'work' | number;
  readonly bytes: number;
}

export interface MemoryPlan {
  readonly buffers: readonly PlannedBuffer[];
  readonly totalBytes: number;
}

/** Elements per gradient_compare partial, and FP32 words of one partial. */
export const COMPARE_CHUNK = 1024;
export const COMPARE_WORDS = 8;

/** Where each parameter's partial sums start, in chunks; `localError` is the last entry's first chunk. */
export function comparePlan(graph: Graph, localErrorBytes: number): { first: Map<string, number>; chunks: Map<string, number>; localErrorFirst: number; total: number } {
  const first = new Map<string, number>();
  const chunks = new Map<string, number>();
  let at = 0;
  for (const param of graph.params) {
    const count = Math.ceil(paramBytes(param.shape) / 4 / COMPARE_CHUNK);
    first.set(param.name, at);
    chunks.set(param.name, count);
    at += count;
  }
  return { first, chunks, localErrorFirst: at, total: at + Math.ceil(localErrorBytes / 4 / COMPARE_CHUNK) };
}

/** Bytes of the largest FP32 output of any linear's pass: the scratch of a local error. */
export function localErrorBytes(graph: Graph, shape: BatchShape): number {
  const n = shape.sequences * shape.tokens;
  return Math.max(...graph.nodes.filter((node) => node.op === 'linear' && node.layer !== null).map((node) =>
    Math.max(tensorBytes(n, node.cols, false), tensorBytes(n, node.inCols, false), tensorBytes(node.inCols, node.cols, false))), 16);
}

/** batches: reference sets held at once, one per resident batch. */
export function planMemory(graph: Graph, shape: BatchShape, bf16: boolean, batches = 1): MemoryPlan {
  const values = new Values(graph);
  const n = shape.sequences * shape.tokens;
  const buffers: PlannedBuffer[] = [];
  const shared = (key: string, role: PlannedBuffer['role'], bytes: number): void => {
    buffers.push({ key, role, set: 'shared', bytes: Math.max(16, Math.ceil(bytes / 16) * 16) });
  };
  const gemmWeights = new Set(graph.nodes.filter((node) => node.op === 'linear').map((node) => node.params['weight'] ?? ''));
  const floatParams = new Set(graph.nodes.flatMap((node) => Object.entries(node.params).filter(([role]) => !(node.op === 'linear' && role === 'weight')).map(([, name]) => name)));
  for (const param of graph.params) {
    if (!bf16 || floatParams.has(param.name)) shared(`param:${param.name}`, 'parameter', paramBytes(param.shape));
    if (bf16 && gemmWeights.has(param.name)) shared(`bf16:${param.name}`, 'parameter', paramBytes(param.shape) / 2);
  }
  for (const spec of values.specs(shape, bf16)) {
    const bytes = Math.max(16, Math.ceil(spec.bytes / 16) * 16);
    for (let k = 0; k < batches; k++) buffers.push({ key: spec.key, role: spec.role, set: k, bytes });
    if (!spec.key.startsWith('dw:')) buffers.push({ key: spec.key, role: spec.role, set: 'work', bytes });
  }
  for (let k = 0; k < batches; k++) {
    for (const [key, words] of [['ids', n], ['targets', n], ['starts', graph.vocabulary + 1], ['order', n]] as const) {
      buffers.push({ key, role: 'batch', set: k, bytes: Math.max(16, Math.ceil(words / 4) * 16) });
    }
  }
  shared('nothing', 'scratch', 16);
  const heads = Math.max(1, ...graph.nodes.map((node) => node.heads));
  const square = shape.sequences * heads * shape.tokens * stride(shape.tokens);
  shared('scratch:p', 'scratch', square * 4);
  shared('scratch:dp', 'scratch', square * 4);
  shared('scratch:pr', 'scratch', square * (bf16 ? 2 : 4));
  const widest = Math.max(...graph.nodes.filter((node) => node.op !== 'cross_entropy').map((node) => stride(node.cols)));
  shared('scratch:partial', 'scratch', Math.ceil(n / CHUNK_ROWS) * 2 * widest * 4);
  // Gradients of one step side by side, each at a binding's alignment: two vectors of a norm, or one tensor.
  const aligned = (shape: readonly number[]): number => Math.ceil(paramBytes(shape) / 256) * 256;
  shared('scratch:dw', 'scratch', Math.max(...graph.params.map((param) => (param.shape.length === 1 ? 2 : 1) * aligned(param.shape))));
  const local = localErrorBytes(graph, shape);
  if (bf16) {
    shared('scratch:local-low', 'scratch', local);
    shared('scratch:local-high', 'scratch', local);
    for (const { key, bytes } of lowScratch(graph, shape)) shared(key, 'scratch', bytes);
  }
  shared('sums', 'scratch', comparePlan(graph, local).total * COMPARE_WORDS * 4);
  return { buffers, totalBytes: buffers.reduce((sum, buffer) => sum + buffer.bytes, 0) };
}

/** Reference runs stay on the device below this; beyond it they are run again per group of sites, with the same bits. */
const RESIDENT_BYTES = 1 << 30;

/** How many of a probe's batches keep their reference run resident: all of them, or one. */
export function residentBatches(graph: Graph, shape: BatchShape, batches: number): number {
  return planMemory(graph, shape, true, batches).totalBytes <= RESIDENT_BYTES ? batches : 1;
}
