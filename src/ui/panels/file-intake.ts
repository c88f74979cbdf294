/**
 * What a dropped or chosen file is (ux.md 4.1): by name, and JSON by what it holds. Files come in any order and in
 * several goes, so a model is collected until it is complete. Refuses by name what the page can tell from the name alone;
 * what is inside a weights file is the worker's to judge.
 */
import { BendscopeError } from '../../base/errors';

export type FileKind = 'weights' | 'config' | 'tokenizer' | 'bendscope' | 'text' | 'other';

/** A model being collected from one or more drops. */
export interface Intake {
  readonly name: string | null;
  readonly config: string | null;
  readonly tokenizer: string | null;
  readonly weights: Blob | null;
}
export const MODEL_FILES = ['config.json', 'model.safetensors', 'tokenizer.json'] as const;
export const EMPTY_INTAKE: Intake = { name: null, config: null, tokenizer: null, weights: null };

const PICKLES = /\.(bin|pt|pth|ckpt|pkl)$/i;
const FOREIGN: readonly (readonly [RegExp, string, string])[] = [
  [/\.gguf$/i, 'a GGUF file: already quantized, there is no FP32 reference to bend away from', 'Open the base model it was made from.'],
  [/\.(onnx|tflite|pb|mlmodel)$/i, 'an inference graph, which has no backward pass', 'Open the checkpoint the graph was exported from.'],
  [/\.(zip|gz|tgz|tar|7z|rar)$/i, 'an archive', 'Unpack it first and drop the files inside.'],
  [/\.(h5|hdf5|npz|npy|msgpack)$/i, 'not a safetensors file', 'Convert the weights to model.safetensors.'],
];

/** Throws E-FILE-01 (pickle), E-FILE-02 (shards), E-FILE-08 (another format). */
export function refuseByName(file: string): void {
  if (PICKLES.test(file)) {
    throw new BendscopeError('E-FILE-01', `${file} is a PyTorch pickle. Opening it would run code, so we do not.`, `Convert it with: python3 -c "import torch; from safetensors.torch import save_file; save_file({k: v.contiguous() for k, v in torch.load('${file}', weights_only=True).items()}, 'model.safetensors')"`);
  }
  if (/\.safetensors\.index\.json$/i.test(file) || /-\d{5}-of-\d{5}\.safetensors$/i.test(file)) {
    throw new BendscopeError('E-FILE-02', `${file} belongs to a model in several shards, which this version does not open.`, 'Save the model as one model.safetensors.');
  }
  for (const [pattern, what, hint] of FOREIGN) if (pattern.test(file)) throw new BendscopeError('E-FILE-08', `${file} is ${what}.`, hint);
}

/** What a file's name says it is; a JSON file must be read (`kindOfJson`). */
export function kindByName(file: string): FileKind | 'json' {
  if (/\.safetensors$/i.test(file)) return 'weights';
  if (/\.(txt|md|text)$/i.test(file)) return 'text';
  return /\.json$/i.test(file) ? 'json' : 'other';
}

/** A JSON file by what it holds. Text that is no JSON is taken for what its name says, so that the reader can say what is wrong. */
export function kindOfJson(file: string, text: string): FileKind {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) {
      if ('schema' in value && typeof value.schema === 'string') return 'bendscope';
      if ('model_type' in value || 'n_embd' in value || 'architectures' in value) return 'config';
      if ('model' in value && typeof value.model === 'object' && value.model !== null && 'vocab' in value.model) return 'tokenizer';
    }
  } catch {
    // Said by whoever reads it, by name.
  }
  const name = file.toLowerCase();
  if (name === 'config.json') return 'config';
  if (name === 'tokenizer.json') return 'tokenizer';
  return /^(tokenizer_config|special_tokens_map|generation_config|vocab|merges|added_tokens|preprocessor_config)\.json$/.test(name) ? 'other' : 'bendscope';
}

/** What a model that is being collected still lacks, by file name. */
export function missingFiles(intake: Intake): string[] {
  const files = [intake.config, intake.weights, intake.tokenizer];
  return MODEL_FILES.filter((_, i) => files[i] === null);
}

/** Whether only the tokenizer is missing, which a model can be opened without. */
export function canOpenWithoutTokenizer(intake: Intake): boolean {
  const missing = missingFiles(intake);
  return missing.length === 1 && missing[0] === 'tokenizer.json';
}

/** The folder's name, else the config's own name for itself, else its sizes. */
export function modelName(intake: Intake): string {
  if (intake.name) return intake.name;
  try {
    const config = JSON.parse(intake.config ?? '') as Readonly<Record<string, unknown>>;
    const own = config['_name_or_path'];
    const last = typeof own === 'string' ? own.split(/[\\/]/).filter((part) => part !== '').at(-1) : undefined;
    if (last) return last;
    if (typeof config['n_layer'] === 'number' && typeof config['n_embd'] === 'number') return `gpt2-${config['n_layer']}x${config['n_embd']}`;
  } catch {
    // A damaged config is the worker's to name.
  }
  return 'dropped-model';
}
