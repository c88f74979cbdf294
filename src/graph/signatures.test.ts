/** Signatures against counts known otherwise: GPT-2's 6 FLOPs a weight and token, and the kept tensors of method.md 6. */
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { keptOutputs, OP_SIGNATURES, outputBytes, passGemm } from './signatures';
import { sites } from './sites';

const graph = gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 });
const shape = { sequences: 2, tokens: 512 };
const N = 1024;

describe('GEMMs', () => {
  it('cost 2 FLOPs a weight and token in each pass', () => {
    for (const site of sites(graph)) {
      const node = graph.nodes.find((n) => n.id === site.node);
      if (!node) throw new Error(site.node);
      expect(passGemm(node, site.pass, shape).flops).toBe(2 * N * node.inCols * node.cols);
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

  it('take two bytes an element in BF16', () => {
    const wte = graph.nodes[0];
    if (!wte) throw new Error('wte');
    expect(outputBytes(wte, N)).toBe(2 * N * 768);
  });
});
