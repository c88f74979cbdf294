/**
 * The GPT-2 graph against the files the PyTorch reference wrote: parameters are those of the golden gradient, nodes and
 * ports those of the golden trace; a gold count of parameters checks the shapes.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { validateGraph } from '../graph/validate';
import { gpt2Graph, type Gpt2Config } from './gpt2';

const NANO: Gpt2Config = { model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 };
const SMALL: Gpt2Config = { model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 };

/** Names and shapes of a safetensors file: a little-endian u64 length, then JSON. */
function shapes(path: string): Map<string, number[]> {
  const bytes = readFileSync(new URL(`../../e2e/golden/nano/${path}`, import.meta.url));
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString()) as Record<string, { shape: number[] }>;
  return new Map(Object.entries(header).filter(([name]) => name !== '__metadata__').map(([name, { shape }]) => [name, shape]));
}

describe('gpt2Graph', () => {
  it('has the parameters of the golden gradient, in the order of a checkpoint', () => {
    const golden = shapes('nodes-gradient.safetensors');
    const graph = gpt2Graph(NANO);
    expect(new Map(graph.params.map((p) => [p.name, p.shape]))).toEqual(golden);
    expect(graph.params.slice(0, 6).map((p) => p.name)).toEqual(['wte.weight', 'wpe.weight', 'h.0.ln_1.weight', 'h.0.ln_1.bias', 'h.0.attn.c_attn.weight', 'h.0.attn.c_attn.bias']);
  });

  it('has the nodes, ports and widths of the golden trace', () => {
    const golden = shapes('nodes.safetensors');
    const graph = gpt2Graph(NANO);
    const mine = new Map<string, number>();
    for (const node of graph.nodes) {
      if (node.op === 'cross_entropy') continue;
      mine.set(`${node.id}/y`, node.cols).set(`${node.id}/dy`, node.cols);
      node.inputs.forEach((_, port) => mine.set(`${node.id}/x${port}`, node.inCols).set(`${node.id}/dx${port}`, node.inCols));
    }
    expect(mine).toEqual(new Map([...golden].map(([name, shape]) => [name, shape.at(-1)])));
  });

  it('has 124,439,808 parameters for GPT-2 small, and passes the invariants', () => {
    const graph = gpt2Graph(SMALL);
    validateGraph(graph);
    expect(graph.params.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b), 0)).toBe(124_439_808);
  });

  it('survives JSON', () => {
    const graph = gpt2Graph(NANO);
    expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
  });
});
