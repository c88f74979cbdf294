/**
 * config.json of a Hugging Face GPT-2 folder -> the numbers a graph is made from. What would change the arithmetic and is
 * not built is refused by name, never ignored. Field names and defaults: transformers `GPT2Config`.
 */
import { BendscopeError } from '../base/errors';

/** What src/models/gpt2.ts needs, and what it takes for granted (activation, tied head). */
export interface GptConfig {
  readonly model: string;
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly positions: number;
  readonly vocabulary: number;
  readonly eps: number;
  readonly activation: 'gelu_new';
  readonly tied: true;
}

/** Names of the tanh form of GELU: transformers' NewGELUActivation and PyTorch's own are the same function. */
const TANH_GELU = ['gelu_new', 'gelu_pytorch_tanh'];

/** Fields whose default is what we compute, with that default. */
const REQUIRED_DEFAULTS: Readonly<Record<string, unknown>> = {
  scale_attn_weights: true,
  scale_attn_by_inverse_layer_idx: false,
  add_cross_attention: false,
  tie_word_embeddings: true,
};

/**
 * Text of config.json -> config. `model` is the name shown with results.
 * Throws E-FILE-07 (not JSON, a size is missing or not whole), E-FILE-08 (architecture, activation or option not built).
 */
export function gpt2Config(json: string, model: string, file = 'config.json'): GptConfig {
  const damaged = (what: string): BendscopeError => new BendscopeError('E-FILE-07', `${file} is damaged: ${what}.`, 'Use the config.json that came with the weights.');
  const unsupported = (what: string): BendscopeError => new BendscopeError('E-FILE-08', `${file}: ${what}.`, 'This version opens GPT-2 models (gelu_new, tied head).');
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw damaged(`expected JSON, got ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw damaged('expected an object, got something else');
  const config = parsed as Readonly<Record<string, unknown>>;

  const kind = config['model_type'] ?? (Array.isArray(config['architectures']) ? (config['architectures'] as unknown[])[0] : undefined);
  if (typeof kind !== 'string' || !/^gpt2|^GPT2/.test(kind)) throw unsupported(`expected model_type gpt2, got ${JSON.stringify(kind ?? null)}`);

  const whole = (name: string): number => {
    const value = config[name];
    if (!Number.isSafeInteger(value) || (value as number) < 1) throw damaged(`${name}: expected a whole number from 1, got ${JSON.stringify(value ?? null)}`);
    return value as number;
  };
  const [layers, width, heads, vocabulary] = [whole('n_layer'), whole('n_embd'), whole('n_head'), whole('vocab_size')];
  const positions = whole(config['n_positions'] === undefined ? 'n_ctx' : 'n_positions');
  if (width % heads !== 0) throw damaged(`n_embd: expected a multiple of n_head ${heads}, got ${width}`);
  if ((width / heads) % 4 !== 0) throw unsupported(`n_embd / n_head: expected a multiple of 4, got ${width / heads}`);
  const inner = config['n_inner'] ?? null;
  if (inner !== null && inner !== 4 * width) throw unsupported(`n_inner: expected ${4 * width} (4 x n_embd), got ${JSON.stringify(inner)}`);
  const activation = config['activation_function'] ?? 'gelu_new';
  if (!TANH_GELU.some((name) => name === activation)) throw unsupported(`activation_function: expected gelu_new, got ${JSON.stringify(activation)}`);
  const eps = config['layer_norm_epsilon'] ?? 1e-5;
  if (typeof eps !== 'number' || !(eps > 0 && eps < 1)) throw damaged(`layer_norm_epsilon: expected a small positive number, got ${JSON.stringify(eps)}`);
  for (const [name, wanted] of Object.entries(REQUIRED_DEFAULTS)) {
    const got = config[name] ?? wanted;
    if (got !== wanted) throw unsupported(`${name}: expected ${String(wanted)}, got ${JSON.stringify(got)}`);
  }
  return { model, layers, width, heads, positions, vocabulary, eps, activation: 'gelu_new', tied: true };
}
