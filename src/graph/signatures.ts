/**
 * OP_SIGNATURES: what an op is, apart from how it is computed: ports, parameters, the values its backward pass reads,
 * its GEMMs, its output bytes. Costs (method.md 6), validation and the memory plan read it; a missing row fails to compile.
 */
import { assert } from '../base/errors';
import type { Graph, GraphNode, OpName, Pass } from './types';

export interface BatchShape {
  readonly sequences: number;
  readonly tokens: number;
}

/** A matrix product [m, k] x [k, n], done `batch` times. `pass`: the site it is, null for the products inside attention. */
export interface Gemm {
  readonly name: string;
  readonly pass: Pass | null;
  readonly batch: number;
  readonly m: number;
  readonly k: number;
  readonly n: number;
  /** Multiplications and additions, 2 * batch * m * k * n. */
  readonly flops: number;
}

/** A value backward reads: the node's input at a port, or something the op makes beside its output. */
export type SavedValue = { readonly input: number } | { readonly made: string; readonly floatsPerRow: number };

export interface OpSignature {
  readonly ports: number;
  /** Parameter roles -> shape at this node; an optional role may be absent (the head has no bias). */
  params(node: GraphNode, graph: Graph): Readonly<Record<string, { readonly shape: readonly number[]; readonly optional?: true }>>;
  /** Width the output must have, as the rest of the node implies it. */
  outCols(node: GraphNode, graph: Graph): number;
  /** Width each input must have. */
  inCols(node: GraphNode, graph: Graph): number;
  readonly saved: readonly SavedValue[];
  gemms(node: GraphNode, shape: BatchShape): readonly Gemm[];
}

const none = (): readonly Gemm[] => [];

function gemm(name: string, pass: Pass | null, batch: number, m: number, k: number, n: number): Gemm {
  return { name, pass, batch, m, k, n, flops: 2 * batch * m * k * n };
}

function rowsOf(shape: BatchShape): number {
  return shape.sequences * shape.tokens;
}

export const OP_SIGNATURES: Readonly<Record<OpName, OpSignature>> = {
  // y = table[id] + positions[t]; backward needs the ids only.
  embed: {
    ports: 0,
    params: (_, graph) => ({ table: { shape: [graph.vocabulary, graph.width] }, positions: { shape: [graph.maxTokens, graph.width] } }),
    outCols: (_, graph) => graph.width,
    inCols: () => 0,
    saved: [],
    gemms: none,
  },
  // y = (x - mean) * rstd * weight + bias
  layernorm: {
    ports: 1,
    params: (node) => ({ weight: { shape: [node.cols] }, bias: { shape: [node.cols] } }),
    outCols: (node) => node.inCols,
    inCols: (node) => node.inCols,
    saved: [{ input: 0 }, { made: 'mean, rstd', floatsPerRow: 2 }],
    gemms: none,
  },
  // y = x w + bias; the three GEMMs are the three sites of the node
  linear: {
    ports: 1,
    params: (node) => ({
      weight: { shape: node.weightTransposed ? [node.cols, node.inCols] : [node.inCols, node.cols] },
      bias: { shape: [node.cols], optional: true },
    }),
    outCols: (node) => node.cols,
    inCols: (node) => node.inCols,
    saved: [{ input: 0 }],
    gemms: (node, shape) => [
      gemm('y = x w', 'fprop', 1, rowsOf(shape), node.inCols, node.cols),
      gemm('dx = dy w^T', 'dgrad', 1, rowsOf(shape), node.cols, node.inCols),
      gemm('dw = x^T dy', 'wgrad', 1, node.inCols, rowsOf(shape), node.cols),
    ],
  },
  // context = softmax(causal(q k^T / sqrt(HS))) v; P is made again in backward, not kept
  attention: {
    ports: 1,
    params: () => ({}),
    outCols: (node) => node.inCols / 3,
    inCols: (node) => node.inCols,
    saved: [{ input: 0 }],
    gemms: (node, { sequences, tokens: t }) => {
      const batch = sequences * node.heads;
      const size = node.cols / node.heads;
      return [
        gemm('S = q k^T', null, batch, t, size, t),
        gemm('context = P v', null, batch, t, t, size),
        gemm('dv = P^T do', null, batch, t, t, size),
        gemm('dP = do v^T', null, batch, t, size, t),
        gemm('dq = dS k', null, batch, t, t, size),
        gemm('dk = dS^T q', null, batch, t, t, size),
      ];
    },
  },
  // y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  gelu: { ports: 1, params: () => ({}), outCols: (node) => node.inCols, inCols: (node) => node.inCols, saved: [{ input: 0 }], gemms: none },
  // y = a + b; backward needs nothing
  add: { ports: 2, params: () => ({}), outCols: (node) => node.inCols, inCols: (node) => node.inCols, saved: [], gemms: none },
  // one loss a token; backward makes softmax(z) again from the row's maximum and sum
  cross_entropy: {
    ports: 1,
    params: () => ({}),
    outCols: () => 1,
    inCols: (_, graph) => graph.vocabulary,
    saved: [{ input: 0 }, { made: 'row statistics', floatsPerRow: 4 }],
    gemms: none,
  },
};

/** The GEMM that a pass of a linear node is. */
export function passGemm(node: GraphNode, pass: Pass, shape: BatchShape): Gemm {
  const found = OP_SIGNATURES[node.op].gemms(node, shape).find((g) => g.pass === pass);
  assert(found, `passGemm: ${node.id} (${node.op}) has no ${pass} pass`);
  return found;
}

/** Nodes whose output the backward pass keeps: some consumer saves it (in a GPT-2 not attn.c_proj and mlp.c_proj). */
export function keptOutputs(graph: Graph): ReadonlySet<string> {
  const kept = new Set<string>();
  for (const node of graph.nodes) {
    for (const value of OP_SIGNATURES[node.op].saved) {
      const id = 'input' in value ? node.inputs[value.input] : undefined;
      if (id !== undefined) kept.add(id);
    }
  }
  return kept;
}

/** Bytes of a node's output [rows, cols] at `bitsPerElement` (BF16 16), padding not counted. */
export function outputBytes(node: GraphNode, rows: number, bitsPerElement = 16): number {
  return (rows * node.cols * bitsPerElement) / 8;
}
