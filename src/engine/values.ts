/**
 * Where a node's tensors live: which values exist and which are the same tensor under two names. A residual add sends
 * the gradient at its output to both inputs unchanged, and a node with one consumer receives exactly what that consumer
 * sends (already rounded, method.md 2): both are aliases, not copies.
 */
import { assert } from '../base/errors';
import type { Graph, GraphNode } from '../graph/types';
import { tensorBytes, type ValueKey, type ValueSpec } from './program';

export interface BatchShape {
  readonly sequences: number;
  readonly tokens: number;
}

export class Values {
  readonly graph: Graph;
  #byId: Map<string, GraphNode>;
  #consumers = new Map<string, { node: GraphNode; port: number }[]>();
  #users = new Map<string, GraphNode[]>();

  constructor(graph: Graph) {
    this.graph = graph;
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

  y(id: string): ValueKey {
    return `y:${id}`;
  }

  /** The gradient that arrives at a node's output. */
  dy(id: string): ValueKey {
    const consumers = this.consumers(id);
    const only = consumers[0];
    assert(only, `Values: nobody reads ${id}`);
    return consumers.length === 1 ? this.dx(only.node, only.port) : `dy:${id}`;
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

  /** All values of a run under one reference, with their bytes. `bf16`: activations are packed x2, else FP32. */
  specs(shape: BatchShape, bf16: boolean): ValueSpec[] {
    const n = shape.sequences * shape.tokens;
    const out: ValueSpec[] = [];
    const add = (key: ValueKey, role: ValueSpec['role'], bytes: number): void => {
      if (!out.some((spec) => spec.key === key)) out.push({ key, role, bytes });
    };
    for (const node of this.graph.nodes) {
      if (node.op === 'cross_entropy') add(`stats:${node.id}`, 'activation', n * 16);
      else add(this.y(node.id), 'activation', tensorBytes(n, node.cols, bf16));
      if (node.op === 'layernorm') add(`stats:${node.id}`, 'activation', n * 8);
      if (this.consumers(node.id).length > 1) add(this.dy(node.id), 'gradient', tensorBytes(n, node.cols, bf16));
      node.inputs.forEach((input, port) => {
        if (node.op !== 'add') add(this.dx(node, port), 'gradient', tensorBytes(n, this.node(input).cols, bf16));
      });
    }
    for (const param of this.graph.params) {
      const bytes = paramBytes(param.shape);
      if (this.isTied(param.name)) add(`dwpart:${param.name}`, 'parameter gradient', bytes);
      add(`dw:${param.name}`, 'parameter gradient', bytes);
    }
    return out;
  }
}

/** FP32 bytes of a parameter or its gradient on the device, rows padded to whole quads. */
export function paramBytes(shape: readonly number[]): number {
  return tensorBytes(shape.length === 2 ? (shape[0] ?? 0) : 1, shape[shape.length - 1] ?? 0, false);
}
