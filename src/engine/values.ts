/**
 * Where a node's tensors live: which values exist and which are the same tensor under two names. A residual add sends
 * the gradient at its output to both inputs unchanged, and a node with one consumer receives exactly what that consumer
 * sends (already rounded, method.md 2): both are aliases, not copies. A low op group keeps its output packed, and what
 * comes after its arriving gradient reads the rounded one (method.md 4).
 */
import { assert } from '../base/errors';
import { OUT_SCHEME, REFERENCE_POLICY, type Policy } from '../graph/policy';
import type { Graph, GraphNode } from '../graph/types';
import { operandFormat, packedSize, scaleBits, type OperandFormat } from '../numerics/schemes';
import { tensorBytes, type StoredFormat, type ValueKey, type ValueSpec } from './program';

export interface BatchShape {
  readonly sequences: number;
  readonly tokens: number;
}

/** How the activation cache holds the output of a low op group: its codes, or the BF16 values they stand for. */
export type CacheForm = 'packed' | 'unpacked';

/** u32 words of the record of a quantized tensor: amax, non-finite count, scales. */
export const RECORD_BYTES = 32;

export class Values {
  readonly graph: Graph;
  readonly cache: CacheForm;
  /** Stored form of a low group's output; form that its weight and its arriving gradient are rounded to. */
  readonly outFormat: OperandFormat;
  readonly outWeightFormat: OperandFormat;
  readonly outGradientFormat: OperandFormat;
  #low: ReadonlySet<string>;
  #byId: Map<string, GraphNode>;
  #consumers = new Map<string, { node: GraphNode; port: number }[]>();
  #users = new Map<string, GraphNode[]>();

  constructor(graph: Graph, policy: Pick<Policy, 'outs' | 'options'> = REFERENCE_POLICY, cache: CacheForm = 'packed') {
    this.graph = graph;
    this.cache = cache;
    this.#low = new Set(policy.outs);
    this.outFormat = operandFormat(OUT_SCHEME, 'x', policy.options);
    this.outWeightFormat = operandFormat(OUT_SCHEME, 'w', policy.options);
    this.outGradientFormat = operandFormat(OUT_SCHEME, 'dy', policy.options);
    this.#byId = new Map(graph.nodes.map((node) => [node.id, node]));
    for (const node of graph.nodes) {
      node.inputs.forEach((input, port) => {
        const list = this.#consumers.get(input) ?? [];
        list.push({ node, port });
        this.#consumers.set(input, list);
      });
      for (const name of Object.values(node.params)) this.#users.set(name, [...(this.#users.get(name) ?? []), node]);
    }
  }

  node(id: string): GraphNode {
    const node = this.#byId.get(id);
    assert(node, `Values: no node ${id}`);
    return node;
  }

  consumers(id: string): readonly { node: GraphNode; port: number }[] {
    return this.#consumers.get(id) ?? [];
  }

  /** Whether the node's op group is low. */
  isLow(id: string): boolean {
    return this.#low.has(id);
  }

  /** The output as its op writes it, before any quantization. */
  y(id: string): ValueKey {
    return `y:${id}`;
  }

  /** The kept output of a low group: codes, tensor record and, where the format has blocks, their scales. */
  packedY(id: string): { readonly codes: ValueKey; readonly record: ValueKey; readonly scales: ValueKey | null } {
    return { codes: `y8:${id}`, record: `yr:${id}`, scales: scaleBits(this.outFormat) > 0 ? `ys:${id}` : null };
  }
  /** The same as BF16 values, where the cache is kept unpacked. */
  unpackedY(id: string): ValueKey {
    return `yq:${id}`;
  }

  /** The gradient that arrives at a node's output, rounded to BF16. */
  arriving(id: string): ValueKey {
    const consumers = this.consumers(id);
    const only = consumers[0];
    assert(only, `Values: nobody reads ${id}`);
    return consumers.length === 1 ? this.dx(only.node, only.port) : `dy:${id}`;
  }

  /** The gradient at a node's output that its backward pass uses: of a low group the arriving one, quantized. */
  dy(id: string): ValueKey {
    return this.isLow(id) ? `dyq:${id}` : this.arriving(id);
  }

  /** Whether only this node reads what arrives at it, so that its quantized form can take the same place. */
  ownsArriving(id: string): boolean {
    const consumers = this.consumers(id);
    return consumers.length > 1 || consumers[0]?.node.op !== 'add';
  }

  /** Whether only this node's own backward steps read its gradient: a sum's is its inputs' too. */
  endsHere(id: string): boolean {
    return this.node(id).op !== 'add';
  }

  /** The gradient a node sends to an input. */
  dx(node: GraphNode, port: number): ValueKey {
    return node.op === 'add' ? this.dy(node.id) : `dx:${node.id}:${port}`;
  }

  /** The head's share of a tied table is summed with the embedding's into `dw:`, so it is a value of its own. */
  isTied(param: string): boolean {
    return (this.#users.get(param)?.length ?? 0) > 1;
  }
  dw(node: GraphNode, param: string): ValueKey {
    return this.isTied(param) && node.op !== 'embed' ? `dwpart:${param}` : `dw:${param}`;
  }

  /**
   * All values of a run under one reference, with their bytes. `bf16`: activations are packed x2, else FP32. A low
   * group's quantized gradient is a value of its own only where its arriving gradient has other readers.
   */
  specs(shape: BatchShape, bf16: boolean): ValueSpec[] {
    const n = shape.sequences * shape.tokens;
    const wide: StoredFormat = bf16 ? 'BF16' : 'FP32';
    const out: ValueSpec[] = [];
    const add = (key: ValueKey, role: ValueSpec['role'], format: StoredFormat, bytes: number): void => {
      if (!out.some((spec) => spec.key === key)) out.push({ key, role, format, bytes });
    };
    for (const node of this.graph.nodes) {
      if (node.op === 'cross_entropy') add(`stats:${node.id}`, 'activation', 'FP32', n * 16);
      else add(this.y(node.id), 'activation', wide, tensorBytes(n, node.cols, bf16));
      if (this.isLow(node.id)) for (const spec of this.#cached(node, n)) add(spec.key, spec.role, spec.format, spec.bytes);
      if (node.op === 'layernorm') add(`stats:${node.id}`, 'activation', 'FP32', n * 8);
      if (this.consumers(node.id).length > 1) add(this.arriving(node.id), 'gradient', wide, tensorBytes(n, node.cols, bf16));
      if (this.isLow(node.id) && !this.ownsArriving(node.id)) add(this.dy(node.id), 'gradient', wide, tensorBytes(n, node.cols, bf16));
      node.inputs.forEach((input, port) => {
        if (node.op !== 'add') add(this.dx(node, port), 'gradient', wide, tensorBytes(n, this.node(input).cols, bf16));
      });
    }
    for (const param of this.graph.params) {
      const bytes = paramBytes(param.shape);
      if (this.isTied(param.name)) add(`dwpart:${param.name}`, 'parameter gradient', 'FP32', bytes);
      add(`dw:${param.name}`, 'parameter gradient', 'FP32', bytes);
    }
    return out;
  }

  #cached(node: GraphNode, rows: number): ValueSpec[] {
    if (this.cache === 'unpacked') return [{ key: this.unpackedY(node.id), role: 'activation', format: 'BF16', bytes: tensorBytes(rows, node.cols, true) }];
    const { codes, record, scales } = this.packedY(node.id);
    const { codeWords, scaleWords } = packedSize(this.outFormat, rows, node.cols);
    const format = this.outFormat.element;
    return [
      { key: codes, role: 'activation', format, bytes: 4 * codeWords },
      { key: record, role: 'activation', format, bytes: RECORD_BYTES },
      ...(scales === null ? [] : [{ key: scales, role: 'activation' as const, format, bytes: 4 * scaleWords }]),
    ];
  }
}

/** FP32 bytes of a parameter or its gradient on the device, rows padded to whole quads. */
export function paramBytes(shape: readonly number[]): number {
  return tensorBytes(shape.length === 2 ? (shape[0] ?? 0) : 1, shape[shape.length - 1] ?? 0, false);
}
