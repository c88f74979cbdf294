/**
 * A model as data: nodes in topological order, each with one output tensor [N, cols], N = B*T tokens.
 * JSON-safe, so it crosses the worker boundary and can be printed. Node ids are the checkpoint's module names
 * (`h.3.mlp.c_fc`); what an op computes is OP_SIGNATURES (shapes, saved values, GEMMs) and the engine's OPS.
 */
export type OpName = 'embed' | 'layernorm' | 'linear' | 'attention' | 'gelu' | 'add' | 'cross_entropy';

/** One parameter tensor under its checkpoint name. shape is the checkpoint's; a linear's weight is [in, out] unless transposed. */
export interface ParamSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

export interface GraphNode {
  readonly id: string;
  readonly op: OpName;
  /** Ids of the nodes whose outputs this node reads, one per port. `embed` reads the token ids and has none. */
  readonly inputs: readonly string[];
  /** Parameter names by role: weight, bias (linear, layernorm), table, positions (embed). */
  readonly params: Readonly<Record<string, string>>;
  /** Width of the output, [N, cols]; cross_entropy: 1 (the loss of each token). */
  readonly cols: number;
  /** linear: width of the input and whether the stored weight is [out, in] (the tied head); attention: heads; layernorm: eps. */
  readonly inCols: number;
  readonly weightTransposed: boolean;
  readonly heads: number;
  readonly eps: number;
  /** Transformer layer, or null for nodes outside the blocks (wte, ln_f, lm_head, loss). */
  readonly layer: number | null;
  /** Op group inside its layer, e.g. `attn.c_attn`; outside the layers the node id. */
  readonly group: string;
}

export interface Graph {
  readonly model: string;
  readonly layers: number;
  readonly width: number;
  readonly vocabulary: number;
  /** Longest sequence the model's position table allows. */
  readonly maxTokens: number;
  readonly nodes: readonly GraphNode[];
  readonly params: readonly ParamSpec[];
}

/** The three GEMMs of a linear op. */
export const PASSES = ['fprop', 'dgrad', 'wgrad'] as const;
export type Pass = (typeof PASSES)[number];
