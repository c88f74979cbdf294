/** Signatures against counts known otherwise: GPT-2's 6 FLOPs a weight and token, and the kept tensors of method.md 6. */
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { bitsPerElement, operandFormat } from '../numerics/schemes';
import { keptOutputs, OP_SIGNATURES, outputBytes, passGemm } from './signatures';
import { PASSES } from './types';

const graph = gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 });
const shape = { sequences: 2, tokens: 512 };
const N = 1024;

describe('GEMMs', () => {
  it('cost 2 FLOPs a weight and token in each pass', () => {
    const linears = graph.nodes.filter((n) => n.op === 'linear');
    expect(linears).toHaveLength(49);
    for (const node of linears) {
      for (const pass of PASSES) expect(passGemm(node, pass, shape).flops).toBe(2 * N * node.inCols * node.cols);
    }
    const total = graph.nodes.filter((n) => n.op === 'linear' && n.layer !== null).flatMap((n) => OP_SIGNATURES.linear.gemms(n, shape));
    // 12 C^2 weights a layer.
    expect(total.reduce((sum, g) => sum + g.flops, 0)).toBe(6 * N * 12 * 12 * 768 * 768);
  });

  it('contract what the passes contract', () => {
    const fc = graph.nodes.find((n) => n.id === 'h.0.mlp.c_fc');
    if (!fc) throw new Error('h.0.mlp.c_fc');
    const mkn = (['fprop', 'dgrad', 'wgrad'] as const).map((pass) => passGemm(fc, pass, shape)).map((g) => [g.m, g.k, g.n]);
    expect(mkn).toEqual([[N, 768, 3072], [N, 3072, 768], [768, N, 3072]]);
  });

  it('of attention cost 12 T^2 C a sequence, and are no sites', () => {
    const attn = graph.nodes.find((n) => n.id === 'h.3.attn');
    if (!attn) throw new Error('h.3.attn');
    const gemms = OP_SIGNATURES.attention.gemms(attn, shape);
    expect(gemms.reduce((sum, g) => sum + g.flops, 0)).toBe(2 * 12 * 512 * 512 * 768);
    expect(gemms.every((g) => g.pass === null)).toBe(true);
    expect(() => passGemm(attn, 'fprop', shape)).toThrow('h.3.attn (attention) has no fprop pass');
  });
});

describe('kept outputs', () => {
  it('are all but those of the two projections, which only feed a sum, and the loss', () => {
    const kept = keptOutputs(graph);
    const dropped = graph.nodes.filter((n) => !kept.has(n.id)).map((n) => n.group);
    expect([...new Set(dropped)]).toEqual(['attn.c_proj', 'mlp.c_proj', 'loss']);
  });

  it('take two bytes an element in BF16, 398,498 a token of GPT-2 in all, and what the stored form takes below', () => {
    const kept = graph.nodes.filter((node) => keptOutputs(graph).has(node.id));
    const total = (bits?: number): number => kept.reduce((sum, node) => sum + outputBytes(node, 1, bits), 0);
    expect(outputBytes(kept[0]!, N)).toBe(2 * N * 768);
    expect(total()).toBe(398_498);
    const bits = (out: 'tensor' | 'block' | 'mx'): number => bitsPerElement(operandFormat('fp8-out', 'x', { out }));
    expect([total(bits('tensor')), total(bits('block')), total(bits('mx'))]).toEqual([398_498 / 2, (398_498 / 2) * (129 / 128), (398_498 / 2) * (33 / 32)]);
  });
});
