/** Each invariant is broken once and must be noticed; policies are refused by the names the catalogue gives. */
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { canonicalPolicy } from './canonical-policy';
import { REFERENCE_POLICY } from './policy';
import type { Graph, GraphNode } from './types';
import { validateGraph, validatePolicy } from './validate';

const graph = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });

function withNode(id: string, change: Partial<GraphNode>): Graph {
  return { ...graph, nodes: graph.nodes.map((node) => (node.id === id ? { ...node, ...change } : node)) };
}

describe('validateGraph', () => {
  it('accepts GPT-2', () => expect(() => validateGraph(graph)).not.toThrow());

  it.each<[string, Graph, string]>([
    ['a doubled id', withNode('h.0.ln_2', { id: 'h.0.ln_1' }), 'h.0.ln_1: expected a unique node id'],
    ['a later input', withNode('h.0.ln_1', { inputs: ['h.1.ln_1'] }), 'h.0.ln_1: expected its input h.1.ln_1 to be an earlier node'],
    ['a missing port', withNode('h.0.res_1', { inputs: ['wte'] }), 'h.0.res_1: expected 2 inputs, got 1'],
    ['a wrong width', withNode('h.0.mlp.c_proj', { inCols: 64 }), 'h.0.mlp.c_proj: expected width 64 of h.0.mlp.act, got 256'],
    ['an untransposed head', withNode('lm_head', { weightTransposed: false }), 'lm_head: expected wte.weight of shape [64, 1024], got [1024, 64]'],
    ['a lost parameter', withNode('ln_f', { params: { weight: 'ln_f.weight' } }), 'ln_f: expected a parameter in role bias'],
    ['an unknown role', withNode('h.0.mlp.act', { params: { weight: 'ln_f.weight' } }), 'h.0.mlp.act: a gelu has no parameter in role weight'],
    ['heads that do not divide', withNode('h.0.attn', { heads: 5 }), 'h.0.attn: expected heads to divide 64, got 5'],
    ['an unused parameter', { ...graph, params: [...graph.params, { name: 'extra', shape: [1] }] }, 'extra: expected a node that uses it'],
    ['a doubled parameter', { ...graph, params: [...graph.params, { name: 'ln_f.bias', shape: [64] }] }, 'gpt2-nano: a parameter name occurs twice'],
    ['no loss', { ...graph, nodes: graph.nodes.slice(0, -1) }, 'gpt2-nano: expected the last node to be the loss'],
  ])('notices %s', (_, broken, message) => expect(() => validateGraph(broken)).toThrow(message));
});

describe('validatePolicy', () => {
  it('returns what it was given, defaults filled', () => {
    expect(validatePolicy(graph, REFERENCE_POLICY)).toEqual(REFERENCE_POLICY);
    expect(validatePolicy(graph, { reference: 'bf16' })).toEqual(REFERENCE_POLICY);
    expect(validatePolicy(graph, { reference: 'bf16', passes: { 'h.1.mlp.c_fc:dgrad': 'nvfp4' }, options: { weights1d: true, rht: false, sr: false, seed: 1 } }))
      .toEqual({ reference: 'bf16', passes: { 'h.1.mlp.c_fc:dgrad': 'nvfp4' }, options: { weights1d: true } });
  });

  it.each<[string, unknown, string, string]>([
    ['an unknown site', { reference: 'bf16', passes: { 'h.7.mlp.c_fc:fprop': 'nvfp4' } }, 'E-PLAN-02', 'policy: expected a site of gpt2-nano, got "h.7.mlp.c_fc:fprop"'],
    ['an unknown scheme', { reference: 'bf16', passes: { 'h.0.mlp.c_fc:fprop': 'int4' } }, 'E-PLAN-03', 'policy: expected a scheme for h.0.mlp.c_fc:fprop, got "int4"'],
    ['fp32 with passes', { reference: 'fp32', passes: { 'h.0.mlp.c_fc:fprop': 'nvfp4' } }, 'E-PLAN-04', 'policy: expected no low passes under reference "fp32", got 1'],
    ['no reference', { passes: {} }, 'E-PLAN-04', 'policy: expected reference "bf16" or "fp32", got nothing'],
    ['the head', { reference: 'bf16', passes: { 'lm_head:fprop': 'nvfp4' } }, 'E-PLAN-05', 'policy: expected a pass of a block linear, got lm_head:fprop, which stays BF16 in every recipe'],
    ['a switch that is not built', { reference: 'bf16', options: { rht: true } }, 'E-PLAN-06', 'policy options: expected switches this build can measure, got rht = true'],
    ['an unknown key', { reference: 'bf16', outs: ['wte'] }, 'E-PLAN-07', 'policy: expected the keys reference, passes and options, got "outs"'],
    ['a list', [], 'E-PLAN-07', 'policy: expected an object, got []'],
    ['passes as a list', { reference: 'bf16', passes: ['h.0.mlp.c_fc:fprop'] }, 'E-PLAN-07', 'policy: expected passes to be an object {site: scheme}, got ["h.0.mlp.c_fc:fprop"]'],
  ])('refuses %s by name', (_, policy, name, message) => {
    expect(() => validatePolicy(graph, policy)).toThrow(expect.objectContaining({ name, message }) as Error);
  });
});

describe('canonicalPolicy', () => {
  it('does not depend on key order or on defaults written out', () => {
    const a = canonicalPolicy({ reference: 'bf16', passes: { 'h.1.mlp.c_fc:fprop': 'nvfp4', 'h.0.mlp.c_fc:fprop': 'nvfp4' }, options: { weights1d: false } });
    const b = canonicalPolicy({ options: {}, passes: { 'h.0.mlp.c_fc:fprop': 'nvfp4', 'h.1.mlp.c_fc:fprop': 'nvfp4' }, reference: 'bf16' });
    expect(a).toBe(b);
    expect(a).toBe('{"options":{},"passes":{"h.0.mlp.c_fc:fprop":"nvfp4","h.1.mlp.c_fc:fprop":"nvfp4"},"reference":"bf16"}');
  });

  it('tells apart what differs', () => {
    const all = [
      REFERENCE_POLICY,
      { ...REFERENCE_POLICY, reference: 'fp32' as const },
      { ...REFERENCE_POLICY, options: { weights1d: true } },
      { ...REFERENCE_POLICY, passes: { 'h.0.mlp.c_fc:fprop': 'nvfp4' as const } },
    ].map(canonicalPolicy);
    expect(new Set(all).size).toBe(all.length);
  });
});
