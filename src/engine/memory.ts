/**
 * The static memory plan: every buffer of a session and its bytes, known before anything is allocated. A probe has one
 * reference set per resident batch, and one work set for what a variant changes; parameter gradients have none there,
 * a variant run compares them while they sit in scratch. A plan session runs one policy whole: no work set, and the
 * output of a low op group is kept packed only, its BF16 value passing through a scratch (method.md 4).
 */
import { OUT_SCHEME, REFERENCE_POLICY, type Policy, type PolicyOptions } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import type { Graph } from '../graph/types';
import { PARAMS_BLOCK_BYTES } from './executor';
import { lowScratch } from './low-linear';
import { outScratch, transientPlaces } from './packed-cache';
import { stride, tensorBytes, type StoredFormat, type ValueKey, type ValueSpec } from './program';
import { CHUNK_ROWS } from './ops/op';
import { paramBytes, Values, type BatchShape, type CacheForm } from './values';

/** What a session is for; it decides which buffers there are. */
export interface SessionUse {
  /** Whole runs of this policy and no variants. Absent: a probe, whose reference policy is BF16. */
  readonly plan?: Policy;
  /** Of a probe: its variants may lower op groups, under these options. Absent: none may, and nothing is paid for it. */
  readonly outs?: PolicyOptions;
  /** How many batches keep their reference run on the device; 1 by default. */
  readonly batches?: number;
  /** Of a probe: how many shifts of variants can be kept for `readGram`; 0 by default. */
  readonly shiftSets?: number;
  /** `unpacked` keeps the values of low outputs instead of their codes: the proof that packing changes no bit. */
  readonly cache?: CacheForm;
}

export type BufferSet = 'shared' | 'work' | `batch ${number}` | `shift ${number}`;

export interface PlannedBuffer {
  readonly key: string;
  readonly role: ValueSpec['role'] | 'parameter' | 'scratch' | 'batch';
  readonly format: StoredFormat | null;
  readonly set: BufferSet;
  readonly bytes: number;
}

/** The buffer that is mapped for reading; shared, like every scratch. */
export const STAGING = 'staging';
/** Its least size: gradients are read through it in pieces, and each piece costs a map. */
const STAGING_BYTES = 1 << 16;

export interface MemoryPlan {
  readonly buffers: readonly PlannedBuffer[];
  /** Of the buffers and the first block of the executor's uniform arena. */
  readonly totalBytes: number;
  /** Values that have no buffer of their own -> the key of the one they take. */
  readonly places: ReadonlyMap<ValueKey, string>;
}

/** Elements per partial of gradient_compare and dot, and FP32 words of one partial of the former. */
export const COMPARE_CHUNK = 1024;
export const COMPARE_WORDS = 8;

/** Where each parameter's partial sums start, in chunks; `localErrorFirst` follows the last parameter's. */
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

/** Partial sums of a session: of its parameters, and of the largest tensor a local error is taken of. */
export function sessionSums(graph: Graph, shape: BatchShape, use: SessionUse): ReturnType<typeof comparePlan> {
  const n = shape.sequences * shape.tokens;
  if (use.plan) return comparePlan(graph, 0);
  const outputs = use.outs ? graph.nodes.map((node) => tensorBytes(n, node.cols, false)) : [];
  return comparePlan(graph, Math.max(localErrorBytes(graph, shape), ...outputs));
}

/** The values a session's runs have: of its own policy, and of variants with every op group low. */
export function sessionValues(graph: Graph, { plan = REFERENCE_POLICY, outs, cache }: SessionUse): { readonly own: Values; readonly widest: Values } {
  const own = new Values(graph, plan, cache);
  const every = paintableSites(graph, OUT_SCHEME).map(({ node }) => node);
  return { own, widest: outs ? new Values(graph, { outs: every, options: outs }, cache) : own };
}

export function planMemory(graph: Graph, shape: BatchShape, use: SessionUse = {}): MemoryPlan {
  const bf16 = (use.plan ?? REFERENCE_POLICY).reference === 'bf16';
  const { own, widest } = sessionValues(graph, use);
  const buffers: PlannedBuffer[] = [];
  const add = (set: BufferSet, role: PlannedBuffer['role'], format: StoredFormat | null, key: string, bytes: number): void => {
    buffers.push({ key, role, format, set, bytes: Math.max(16, Math.ceil(bytes / 16) * 16) });
  };
  const places = transientPlaces(widest, !use.plan);
  const ofRun = own.specs(shape, bf16).filter(({ key }) => !places.has(key));
  for (let k = 0; k < (use.batches ?? 1); k++) {
    for (const { key, role, format, bytes } of ofRun) add(`batch ${k}`, role, format, key, bytes);
    for (const { key, bytes } of batchWords(graph, shape)) add(`batch ${k}`, 'batch', null, key, bytes);
  }
  if (!use.plan) {
    for (const { key, role, format, bytes } of widest.specs(shape, bf16)) if (!places.has(key) && !key.startsWith('dw:')) add('work', role, format, key, bytes);
  }
  for (let k = 0; k < (use.shiftSets ?? 0); k++) {
    for (const { name, shape: dims } of graph.params) add(`shift ${k}`, 'parameter gradient', 'FP32', `d:${name}`, paramBytes(dims));
  }
  for (const { key, bytes } of parameterBuffers(graph, bf16)) add('shared', 'parameter', key.startsWith('bf16:') ? 'BF16' : 'FP32', key, bytes);
  for (const { key, bytes } of sharedScratch(graph, shape, use, widest)) add('shared', 'scratch', null, key, bytes);
  return { buffers, totalBytes: buffers.reduce((sum, { bytes }) => sum + bytes, PARAMS_BLOCK_BYTES), places };
}

interface Sized {
  readonly key: string;
  readonly bytes: number;
}

function batchWords(graph: Graph, { sequences, tokens }: BatchShape): Sized[] {
  const n = sequences * tokens;
  return [{ key: 'ids', bytes: 4 * n }, { key: 'targets', bytes: 4 * n }, { key: 'starts', bytes: 4 * (graph.vocabulary + 1) }, { key: 'order', bytes: 4 * n }];
}

/** FP32 where a float op reads a parameter, BF16 where a GEMM does; the tied table is both. */
function parameterBuffers(graph: Graph, bf16: boolean): Sized[] {
  const gemm = new Set(graph.nodes.filter((node) => node.op === 'linear').map((node) => node.params['weight'] ?? ''));
  const float = new Set(graph.nodes.flatMap((node) => Object.entries(node.params).filter(([role]) => !(node.op === 'linear' && role === 'weight')).map(([, name]) => name)));
  return graph.params.flatMap(({ name, shape }) => [
    ...(!bf16 || float.has(name) ? [{ key: `param:${name}`, bytes: paramBytes(shape) }] : []),
    ...(bf16 && gemm.has(name) ? [{ key: `bf16:${name}`, bytes: paramBytes(shape) / 2 }] : []),
  ]);
}

/** Keys that several need, each the largest that is asked for: none of them is in use beyond one step. */
function largestOfKeys(list: readonly Sized[]): Sized[] {
  const sizes = new Map<string, number>();
  for (const { key, bytes } of list) sizes.set(key, Math.max(sizes.get(key) ?? 0, bytes));
  return [...sizes].map(([key, bytes]) => ({ key, bytes }));
}

/** Working buffers that all runs share. The staging buffer takes the sums, one row of loss statistics a token, a count. */
function sharedScratch(graph: Graph, shape: BatchShape, use: SessionUse, values: Values): Sized[] {
  const { passes, outs = [], reference } = use.plan ?? REFERENCE_POLICY;
  const bf16 = reference === 'bf16';
  const probe = use.plan === undefined;
  const hasPasses = probe || Object.keys(passes).length > 0;
  const n = shape.sequences * shape.tokens;
  const heads = Math.max(1, ...graph.nodes.map((node) => node.heads));
  const square = shape.sequences * heads * shape.tokens * stride(shape.tokens);
  const widest = Math.max(...graph.nodes.filter((node) => node.op !== 'cross_entropy').map((node) => stride(node.cols)));
  // Gradients of one step side by side, each at a binding's alignment: two vectors of a norm, or one tensor.
  const aligned = (dims: readonly number[]): number => (dims.length === 1 ? 2 : 1) * Math.ceil(paramBytes(dims) / 256) * 256;
  const local = localErrorBytes(graph, shape);
  const sums = sessionSums(graph, shape, use);
  const sumBytes = 4 * COMPARE_WORDS * sums.total;
  const shifts = use.shiftSets ?? 0;
  return largestOfKeys([
    { key: 'nothing', bytes: 16 },
    { key: 'scratch:p', bytes: square * 4 },
    { key: 'scratch:dp', bytes: square * 4 },
    { key: 'scratch:pr', bytes: square * (bf16 ? 2 : 4) },
    { key: 'scratch:partial', bytes: Math.ceil(n / CHUNK_ROWS) * 2 * widest * 4 },
    ...(probe ? [{ key: 'scratch:dw', bytes: Math.max(...graph.params.map((param) => aligned(param.shape))) }] : []),
    ...(probe ? ['scratch:local-low', 'scratch:local-high'].map((key) => ({ key, bytes: local })) : []),
    ...(hasPasses ? lowScratch(graph, shape) : []),
    ...(hasPasses || outs.length > 0 ? [{ key: 'low:alpha', bytes: 16 }] : []),
    ...outScratch(values, shape),
    { key: 'sums', bytes: sumBytes },
    ...(shifts > 0 ? [{ key: 'gram', bytes: ((4 * shifts * (shifts + 1)) / 2) * sums.localErrorFirst }] : []),
    { key: STAGING, bytes: Math.max(STAGING_BYTES, sumBytes + 16 * n + 16) },
  ]);
}
