/**
 * Files and texts to what a run needs: graph, parameters, token batches, hashes. Works without a GPU.
 */
import { BendscopeError } from '../base/errors';
import type { DataSpec, ModelSource } from '../bridge/protocol';
import { hashTokens, modelHash, sha256 } from '../data/hash';
import { gpt2Config } from '../data/hf-config';
import { openSafetensors } from '../data/safetensors';
import { BUILT_IN_TEXTS, fetchText, requireText } from '../data/text';
import { parseTokenizer, type Tokenizer } from '../data/tokenizer';
import { readWeights } from '../data/weights';
import { drawWindows, type TokenBatches } from '../data/windows';
import type { Graph } from '../graph/types';
import { validateGraph } from '../graph/validate';
import { gpt2Graph } from '../models/gpt2';

export interface Model {
  readonly name: string;
  readonly graph: Graph;
  readonly params: ReadonlyMap<string, Float32Array>;
  readonly sha256: string;
  readonly tokenizer: Tokenizer | null;
}

export interface Data {
  readonly name: string;
  readonly batches: TokenBatches;
  readonly sha256: string;
  /** Ids of the whole text. */
  readonly tokenCount: number;
  readonly firstWindow: string;
}

async function fetchFile(url: string): Promise<Response> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new BendscopeError('E-NET-04', `${url}: expected a file, got ${cause instanceof Error ? cause.message : String(cause)}`, 'Is the server still running? Reload.');
  });
  if (!response.ok) throw new BendscopeError('E-NET-04', `${url}: expected a file, got status ${response.status}`, 'Is the build complete? Run npm run build again.');
  return response;
}

/** Throws E-FILE-0n for damaged, foreign or contradicting files, E-NET-04 when a built-in file cannot be fetched. */
export async function openModel(source: ModelSource, base: string): Promise<Model> {
  const files = source.kind === 'files' ? source : await builtInFiles(source.name, base);
  const config = gpt2Config(files.config, files.name);
  const graph = gpt2Graph(config);
  validateGraph(graph);
  const bytes = new Uint8Array(files.weights);
  const params = readWeights(graph.params, openSafetensors(bytes, 'model.safetensors'));
  return {
    name: files.name,
    graph,
    params,
    sha256: modelHash(await sha256(bytes), { ...config }),
    tokenizer: files.tokenizer === null ? null : parseTokenizer(files.tokenizer),
  };
}

async function builtInFiles(name: string, base: string): Promise<Extract<ModelSource, { kind: 'files' }>> {
  const folder = `${base}models/${encodeURIComponent(name)}/`;
  const [config, weights, tokenizer] = await Promise.all([
    fetchFile(`${folder}config.json`).then((r) => r.text()),
    fetchFile(`${folder}model.safetensors`).then((r) => r.arrayBuffer()),
    fetchFile(`${folder}tokenizer.json`).then((r) => r.text()),
  ]);
  return { kind: 'files', name, config, weights, tokenizer };
}

/** Tokenizes and draws windows. Throws E-DATA-01 (too short, empty), E-DATA-02, E-DATA-05 (no tokenizer). */
export async function openData(spec: DataSpec, model: Model, base: string): Promise<Data> {
  if (!model.tokenizer) {
    throw new BendscopeError('E-DATA-05', `${model.name}: expected a tokenizer.json, got none`, 'Drop the tokenizer.json that belongs to this model.');
  }
  const text = spec.source === 'own' ? (spec.text ?? '') : await fetchText(spec.source, base);
  const ids = model.tokenizer.encode(requireText(text));
  const batches = drawWindows(ids, spec);
  for (const id of ids) {
    if (id >= model.graph.vocabulary) throw new BendscopeError('E-DATA-02', `Token ${id} is outside the vocabulary of ${model.graph.vocabulary}.`, 'Use the tokenizer that belongs to this model.');
  }
  return {
    name: spec.source === 'own' ? 'your text' : BUILT_IN_TEXTS[spec.source].title,
    batches,
    sha256: await hashTokens(batches),
    tokenCount: ids.length,
    firstWindow: model.tokenizer.decode(batches[0]?.[0] ?? []),
  };
}
