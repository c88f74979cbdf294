/**
 * GPT-2 as a Graph: node ids and parameter names are the Hugging Face checkpoint's (`h.3.mlp.c_fc`), matrices are
 * [in, out] (Conv1D), the head is tied to the token table. Order of nodes and of the ports of a residual sum: method.md 2.
 * Not here: arithmetic (OP_SIGNATURES, the engine's OPS) and what a site is (src/graph/sites.ts).
 */
import type { Graph, GraphNode, OpName, ParamSpec } from '../graph/types';

export interface Gpt2Config {
  /** Name shown and stored with results, e.g. `gpt2-nano`. */
  readonly model: string;
  readonly layers: number;
  /** C, a multiple of heads. */
  readonly width: number;
  readonly heads: number;
  /** Rows of the position table: the longest sequence. */
  readonly positions: number;
  readonly vocabulary: number;
  /** Layer-norm epsilon. */
  readonly eps: number;
}

type NodePart = Pick<GraphNode, 'inputs' | 'cols' | 'inCols' | 'params'> & Partial<Pick<GraphNode, 'weightTransposed' | 'heads' | 'eps'>>;

/** Config -> Graph, JSON-safe. Trusts its numbers: src/data/hf-config.ts checks what comes from a file. */
export function gpt2Graph(config: Gpt2Config): Graph {
  const { width, vocabulary, eps, heads } = config;
  const nodes: GraphNode[] = [];
  const params: ParamSpec[] = [];

  const tensor = (name: string, ...shape: number[]): string => {
    params.push({ name, shape });
    return name;
  };
  const push = (id: string, op: OpName, layer: number | null, part: NodePart): string => {
    const group = layer === null ? id : id.slice(`h.${layer}.`.length);
    nodes.push({ weightTransposed: false, heads: 0, eps: 0, ...part, id, op, layer, group });
    return id;
  };
  const norm = (id: string, layer: number | null, x: string): string =>
    push(id, 'layernorm', layer, {
      inputs: [x], cols: width, inCols: width, eps,
      params: { weight: tensor(`${id}.weight`, width), bias: tensor(`${id}.bias`, width) },
    });
  const linear = (id: string, layer: number, x: string, inCols: number, cols: number): string =>
    push(id, 'linear', layer, {
      inputs: [x], cols, inCols,
      params: { weight: tensor(`${id}.weight`, inCols, cols), bias: tensor(`${id}.bias`, cols) },
    });
  const add = (id: string, layer: number, a: string, b: string): string =>
    push(id, 'add', layer, { inputs: [a, b], cols: width, inCols: width, params: {} });

  const table = tensor('wte.weight', vocabulary, width);
  const positions = tensor('wpe.weight', config.positions, width);
  let x = push('wte', 'embed', null, { inputs: [], cols: width, inCols: 0, params: { table, positions } });
  for (let i = 0; i < config.layers; i++) {
    const h = `h.${i}.`;
    const qkv = linear(`${h}attn.c_attn`, i, norm(`${h}ln_1`, i, x), width, 3 * width);
    const context = push(`${h}attn`, 'attention', i, { inputs: [qkv], cols: width, inCols: 3 * width, heads, params: {} });
    x = add(`${h}res_1`, i, x, linear(`${h}attn.c_proj`, i, context, width, width));
    const hidden = linear(`${h}mlp.c_fc`, i, norm(`${h}ln_2`, i, x), width, 4 * width);
    const active = push(`${h}mlp.act`, 'gelu', i, { inputs: [hidden], cols: 4 * width, inCols: 4 * width, params: {} });
    x = add(`${h}res_2`, i, x, linear(`${h}mlp.c_proj`, i, active, 4 * width, width));
  }
  x = norm('ln_f', null, x);
  const logits = push('lm_head', 'linear', null, {
    inputs: [x], cols: vocabulary, inCols: width, weightTransposed: true, params: { weight: table },
  });
  push('loss', 'cross_entropy', null, { inputs: [logits], cols: 1, inCols: vocabulary, params: {} });
  return { model: config.model, layers: config.layers, width, vocabulary, maxTokens: config.positions, nodes, params };
}
