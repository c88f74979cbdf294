/**
 * What a plan's layers are called in the code that takes the file: NAME_PRESETS, one row a spelling, or regular expressions
 * over our node ids. Sources of the spellings: formats.md 6.1 (TransformerEngine, whose code and documents differ) and 6.3
 * (Megatron); Hugging Face's are the checkpoint's. Golden lists of real models: e2e/golden/exports.
 */

/** Linears of a GPT-2 block, in the order of the spellings below. */
const GPT2_GROUPS = ['attn.c_attn', 'attn.c_proj', 'mlp.c_fc', 'mlp.c_proj'] as const;

export interface NamePreset {
  readonly label: string;
  /** Name of a block; `{layer}` is its number. */
  readonly root: string;
  /** Op group -> the rest of the name. */
  readonly groups: Readonly<Record<string, string>>;
}

type Spellings = readonly [qkv: string, proj: string, up: string, down: string];

function preset(label: string, root: string, spellings: Spellings): NamePreset {
  return { label, root, groups: Object.fromEntries(GPT2_GROUPS.map((group, i) => [group, spellings[i] ?? group])) };
}

export const NAME_PRESETS = {
  'hf-gpt2': preset('Hugging Face GPT-2', 'transformer.h.{layer}', GPT2_GROUPS),
  te: preset('TransformerEngine, norm fused into QKV', 'transformer_layer.{layer}', ['self_attention.layernorm_linear_qkv', 'self_attention.proj', 'layernorm_mlp.fc1', 'layernorm_mlp.fc2']),
  'te-unfused': preset('TransformerEngine, QKV without norm', 'transformer_layer.{layer}', ['self_attention.linear_qkv', 'self_attention.proj', 'layernorm_mlp.fc1', 'layernorm_mlp.fc2']),
  'te-attributes': preset('TransformerEngine, names inferred from attributes', 'transformer_layer.{layer}', ['self_attention.layernorm_qkv', 'self_attention.proj', 'layernorm_mlp.fc1', 'layernorm_mlp.fc2']),
  'te-documents': preset('TransformerEngine, as its documents write them', 'transformer_layer.{layer}', ['self_attn.layernorm_linear_qkv', 'self_attn.proj', 'layernorm_mlp.fc1', 'layernorm_mlp.fc2']),
  megatron: preset('Megatron', 'decoder.layers.{layer}', ['self_attention.linear_qkv', 'self_attention.linear_proj', 'mlp.linear_fc1', 'mlp.linear_fc2']),
} as const satisfies Record<string, NamePreset>;

export type NamePresetId = keyof typeof NAME_PRESETS;

/** A node id that matches `pattern` as a whole is called `name`, where $1 is its first group. */
export interface NameRule {
  readonly pattern: string;
  readonly name: string;
}

/** A preset, its root replaced where a model sits below something else (`module.transformer.h.{layer}`); or rules, the first that matches. */
export type NameMapping = { readonly preset: NamePresetId; readonly root?: string } | { readonly rules: readonly NameRule[] };

/** A layer to be named: a linear node of a transformer block. */
export interface NamedNode {
  readonly node: string;
  readonly layer: number;
  readonly group: string;
}

export interface LayerNames {
  /** Node id -> name. */
  readonly names: ReadonlyMap<string, string>;
  /** Why some layer has no name of its own; empty when all have. */
  readonly faults: readonly string[];
}

export function nameLayers(nodes: readonly NamedNode[], mapping: NameMapping): LayerNames {
  const faults: string[] = [];
  const nameOf = 'rules' in mapping ? byRules(mapping.rules, faults) : byPreset(NAME_PRESETS[mapping.preset], mapping.root);
  const names = new Map<string, string>();
  const nodeOf = new Map<string, string>();
  for (const node of nodes) {
    const name = nameOf(node);
    if (name === null || name === '') {
      faults.push(`names: expected a name for ${node.node}, got none`);
      continue;
    }
    const other = nodeOf.get(name);
    if (other !== undefined) faults.push(`names: expected one layer called ${name}, got ${other} and ${node.node}`);
    nodeOf.set(name, node.node);
    names.set(node.node, name);
  }
  return { names, faults };
}

function byPreset({ root, groups }: NamePreset, ownRoot = root): (node: NamedNode) => string | null {
  return ({ layer, group }) => {
    const rest = groups[group];
    const block = ownRoot.replaceAll('{layer}', String(layer));
    return rest === undefined ? null : block === '' ? rest : `${block}.${rest}`;
  };
}

function byRules(rules: readonly NameRule[], faults: string[]): (node: NamedNode) => string | null {
  const compiled = rules.flatMap(({ pattern, name }, i) => {
    try {
      return [{ regex: new RegExp(`^(?:${pattern})$`), name }];
    } catch {
      faults.push(`names: expected rule ${i + 1} to be a regular expression, got ${JSON.stringify(pattern)}`);
      return [];
    }
  });
  return ({ node }) => {
    const rule = compiled.find(({ regex }) => regex.test(node));
    return rule ? node.replace(rule.regex, rule.name) : null;
  };
}
