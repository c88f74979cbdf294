/**
 * A Hugging Face folder (config.json, model.safetensors in F32, F16 or BF16, names with or without `transformer.`) to
 * what a run needs. The checks are those of src/data; here only what concerns folders.
 */
import { basename, join, resolve } from 'node:path';
import { BendscopeError, type PlainError } from '../base/errors';
import { refuseForeignFile } from '../data/foreign-file';
import { modelHash, sha256 } from '../data/hash';
import { gpt2Config } from '../data/hf-config';
import { openSafetensors } from '../data/safetensors';
import { matchWeights, readWeights } from '../data/weights';
import type { Graph } from '../graph/types';
import { validateGraph } from '../graph/validate';
import { gpt2Graph } from '../models/gpt2';
import { isFile, isFolder, readInput, readText } from './local-files';

export interface OpenedFolder {
  /** The folder's own name. */
  readonly name: string;
  readonly graph: Graph;
  /** FP32 values by parameter name. */
  readonly params: ReadonlyMap<string, Float32Array>;
  /** Parameter name -> tensor name in the file. */
  readonly names: ReadonlyMap<string, string>;
  /** Identity of weights and configuration (data/hash `modelHash`), and of the bytes of config.json. */
  readonly sha256: string;
  readonly configSha256: string;
  /** The files read. */
  readonly files: readonly string[];
  readonly warnings: readonly PlainError[];
}

const CONFIG = 'config.json';
const WEIGHTS = 'model.safetensors';

/**
 * Throws E-FILE-09 (no folder, no file), E-FILE-02 (shards), E-FILE-01 (only a pickle), E-FILE-03 (config and weights
 * contradict each other), E-FILE-04, -07, -08 (what the files are instead).
 */
export async function openFolder(folder: string): Promise<OpenedFolder> {
  if (!(await isFolder(folder))) {
    throw new BendscopeError('E-FILE-09', `${folder}: expected a folder with ${CONFIG} and ${WEIGHTS}, got ${(await isFile(folder)) ? 'a file' : 'no such folder'}.`, 'Give the folder as Hugging Face stores it.');
  }
  const [configPath, weightsPath] = [join(folder, CONFIG), join(folder, WEIGHTS)];
  const configText = await readText(configPath);
  const name = basename(resolve(folder));
  const config = gpt2Config(configText, name, configPath);
  const graph = gpt2Graph(config);
  validateGraph(graph);
  if (!(await isFile(weightsPath))) await refuseOtherWeights(folder);
  const bytes = await readInput(weightsPath);
  const source = openSafetensors(bytes, weightsPath);
  const { names } = matchWeights(graph.params, source);
  return {
    name,
    graph,
    params: readWeights(graph.params, source),
    names,
    sha256: modelHash(await sha256(bytes), { ...config }),
    configSha256: await sha256(new TextEncoder().encode(configText)),
    files: [configPath, weightsPath],
    warnings: source.warnings,
  };
}

/** Why there is no model.safetensors, where the folder shows it; returns when it does not. */
async function refuseOtherWeights(folder: string): Promise<void> {
  if (await isFile(join(folder, `${WEIGHTS}.index.json`))) {
    throw new BendscopeError('E-FILE-02', `${folder}: expected one ${WEIGHTS}, got an index of shards.`, 'This version opens one file. Load the model with the transformers library and save it with max_shard_size above its size.');
  }
  const pickle = join(folder, 'pytorch_model.bin');
  if (await isFile(pickle)) refuseForeignFile(new TextEncoder().encode('PK\x03\x04'), pickle);
}
