/** Test data: the built-in models and the PyTorch reference's results in e2e/golden, read from disk. */
import { readFileSync } from 'node:fs';
import { openSafetensors, tensorFloats } from '../data/safetensors';
import { gpt2Graph } from '../models/gpt2';
import type { Graph } from '../graph/types';

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url);

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(at(path), 'utf8')) as T;
}

export function readTensors(path: string): { tensors: Map<string, Float32Array>; metadata: ReadonlyMap<string, string> } {
  const file = openSafetensors(readFileSync(at(path)), path);
  const names = [...file.tensors.keys()];
  return { tensors: new Map(names.map((name) => [name, tensorFloats(file, name)])), metadata: file.metadata };
}

export function builtIn(name: 'nano' | 'mini'): { graph: Graph; params: Map<string, Float32Array>; batches: number[][][] } {
  const folder = `public/models/gpt2-${name}`;
  const c = readJson<{ n_layer: number; n_embd: number; n_head: number; n_positions: number; vocab_size: number; layer_norm_epsilon: number }>(`${folder}/config.json`);
  const graph = gpt2Graph({ model: `gpt2-${name}`, layers: c.n_layer, width: c.n_embd, heads: c.n_head, positions: c.n_positions, vocabulary: c.vocab_size, eps: c.layer_norm_epsilon });
  return {
    graph,
    params: readTensors(`${folder}/model.safetensors`).tensors,
    batches: readJson<{ batches: number[][][] }>(`e2e/golden/${name}/tokens.json`).batches,
  };
}
