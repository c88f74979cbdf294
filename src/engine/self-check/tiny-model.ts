/**
 * The model of the check: GPT-2 with one layer, width 32, two heads, 41 tokens, 2 x 33 positions. Sizes are odd on purpose:
 * rows no multiple of a tile, a padded vocabulary, column sums over more than one chunk. A test holds the graph equal to
 * the one src/models makes, which the engine may not import.
 */
import type { Graph, GraphNode, OpName } from '../../graph/types';
import type { BatchShape } from '../values';
import { randomValues, randomWords } from './inputs';

const [WIDTH, HEADS, VOCABULARY, POSITIONS] = [32, 2, 41, 34];
export const TINY_SHAPE: BatchShape = { sequences: 2, tokens: 33 };

function node(id: string, op: OpName, layer: number | null, inputs: string[], inCols: number, cols: number, params: Record<string, string> = {}, more: Partial<GraphNode> = {}): GraphNode {
  return { id, op, layer, inputs, inCols, cols, params, weightTransposed: false, heads: 0, eps: 0, group: layer === null ? id : id.slice(4), ...more };
}

const affine = (id: string): Record<string, string> => ({ weight: `${id}.weight`, bias: `${id}.bias` });
const norm = (id: string, layer: number | null, x: string): GraphNode => node(id, 'layernorm', layer, [x], WIDTH, WIDTH, affine(id), { eps: 1e-5 });
const linear = (id: string, x: string, inCols: number, cols: number): GraphNode => node(id, 'linear', 0, [x], inCols, cols, affine(id));

const NODES: readonly GraphNode[] = [
  node('wte', 'embed', null, [], 0, WIDTH, { table: 'wte.weight', positions: 'wpe.weight' }),
  norm('h.0.ln_1', 0, 'wte'),
  linear('h.0.attn.c_attn', 'h.0.ln_1', WIDTH, 3 * WIDTH),
  node('h.0.attn', 'attention', 0, ['h.0.attn.c_attn'], 3 * WIDTH, WIDTH, {}, { heads: HEADS }),
  linear('h.0.attn.c_proj', 'h.0.attn', WIDTH, WIDTH),
  node('h.0.res_1', 'add', 0, ['wte', 'h.0.attn.c_proj'], WIDTH, WIDTH),
  norm('h.0.ln_2', 0, 'h.0.res_1'),
  linear('h.0.mlp.c_fc', 'h.0.ln_2', WIDTH, 4 * WIDTH),
  node('h.0.mlp.act', 'gelu', 0, ['h.0.mlp.c_fc'], 4 * WIDTH, 4 * WIDTH),
  linear('h.0.mlp.c_proj', 'h.0.mlp.act', 4 * WIDTH, WIDTH),
  node('h.0.res_2', 'add', 0, ['h.0.res_1', 'h.0.mlp.c_proj'], WIDTH, WIDTH),
  norm('ln_f', null, 'h.0.res_2'),
  node('lm_head', 'linear', null, ['ln_f'], WIDTH, VOCABULARY, { weight: 'wte.weight' }, { weightTransposed: true }),
  node('loss', 'cross_entropy', null, ['lm_head'], VOCABULARY, 1),
];

export const TINY_GRAPH: Graph = {
  model: 'self-check', layers: 1, width: WIDTH, vocabulary: VOCABULARY, maxTokens: POSITIONS, nodes: NODES,
  params: [
    { name: 'wte.weight', shape: [VOCABULARY, WIDTH] }, { name: 'wpe.weight', shape: [POSITIONS, WIDTH] },
    ...NODES.flatMap((n) => (n.op === 'layernorm'
      ? [{ name: `${n.id}.weight`, shape: [n.cols] }, { name: `${n.id}.bias`, shape: [n.cols] }]
      : n.op === 'linear' && n.layer !== null ? [{ name: `${n.id}.weight`, shape: [n.inCols, n.cols] }, { name: `${n.id}.bias`, shape: [n.cols] }] : [])),
  ],
};

/** Values large enough that softmax, GELU and the loss leave their flat parts; a few of GELU's inputs go to +-30 (tanh overflows there). */
export function tinyParams(): Map<string, Float32Array> {
  return new Map(TINY_GRAPH.params.map(({ name, shape }, i) => {
    const count = shape.reduce((a, b) => a * b, 1);
    const gain = /ln_\w\.weight$/.test(name);
    const values = randomValues(count, 100 + i, gain || name.endsWith('.bias') ? 0.2 : 0.3);
    if (gain) return [name, values.map((x) => 1 + x)];
    if (name === 'h.0.mlp.c_fc.bias') values.set([30, -30, 5, -5], 5);
    return [name, values];
  }));
}

/** [B][T + 1] ids: some several times, some never. */
export function tinyTokens(): number[][] {
  const words = randomWords(TINY_SHAPE.sequences * (TINY_SHAPE.tokens + 1), 99);
  return Array.from({ length: TINY_SHAPE.sequences }, (_, b) => Array.from({ length: TINY_SHAPE.tokens + 1 }, (_, t) => (words[b * (TINY_SHAPE.tokens + 1) + t] ?? 0) % VOCABULARY));
}
