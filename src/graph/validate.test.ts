/** Each invariant is broken once and must be noticed; policies are refused by the names the catalogue gives. */
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { canonicalPolicy } from './canonical-policy';
import { REFERENCE_POLICY, type Policy } from './policy';
import type { Graph, GraphNode } from './types';
import { validateGraph, validateOptions, validatePolicy } from './validate';

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
    expect(validatePolicy(graph, { reference: 'bf16', passes: { 'h.1.mlp.c_fc:dgrad': 'nvfp4' }, outs: [], options: { weights1d: true, rht: false, sr: false, seed: 1 } }))
      .toEqual({ reference: 'bf16', passes: { 'h.1.mlp.c_fc:dgrad': 'nvfp4' }, options: { weights1d: true } });
  });

  it('takes a scheme for each pass and op groups beside them, these in graph order', () => {
    const passes = { 'h.0.mlp.c_fc:fprop': 'nvfp4', 'h.0.mlp.c_fc:dgrad': 'mxfp8', 'h.1.attn.c_proj:wgrad': 'fp8-block' };
    expect(validatePolicy(graph, { reference: 'bf16', passes, outs: ['lm_head', 'h.1.attn.c_proj', 'h.0.ln_1', 'wte'] }))
      .toEqual({ reference: 'bf16', passes, outs: ['wte', 'h.0.ln_1', 'h.1.attn.c_proj', 'lm_head'], options: {} });
  });

  it('keeps the options that a low site reads, and drops the others', () => {
    const options = { weights1d: true, rht: true, sr: true, seed: 4294967295, pow2: true, floor: true, e5m2Grad: true, out: 'mx' };
    const of = (passes: Record<string, string>, outs: string[] = []) => validatePolicy(graph, { reference: 'bf16', passes, outs, options }).options;
    expect(of({ 'h.0.mlp.c_fc:fprop': 'nvfp4' })).toEqual({ weights1d: true, rht: true, sr: true, seed: 4294967295 });
    expect(of({ 'h.0.mlp.c_fc:fprop': 'mxfp4' })).toEqual({ floor: true });
    expect(of({ 'h.0.mlp.c_fc:fprop': 'mxfp8' })).toEqual({ floor: true, e5m2Grad: true });
    expect(of({ 'h.0.mlp.c_fc:fprop': 'fp8-block' })).toEqual({});
    expect(of({}, ['wte'])).toEqual({ out: 'mx' });
    expect(of({ 'h.0.mlp.c_fc:fprop': 'fp8' }, ['wte'])).toEqual({ pow2: true, out: 'mx' });
  });

  it.each<[string, unknown, string, string]>([
    ['an unknown site', { reference: 'bf16', passes: { 'h.7.mlp.c_fc:fprop': 'nvfp4' } }, 'E-PLAN-02', 'policy: expected a site of gpt2-nano, got "h.7.mlp.c_fc:fprop"'],
    ['an op group among the passes', { reference: 'bf16', passes: { 'wte:out': 'fp8-out' } }, 'E-PLAN-02', 'policy: expected a GEMM pass in passes, got wte:out'],
    ['an unknown op group', { reference: 'bf16', outs: ['h.0.ln_3'] }, 'E-PLAN-02', 'policy outs: expected an op group of gpt2-nano, got "h.0.ln_3"'],
    ['a site id for an op group', { reference: 'bf16', outs: ['wte:out'] }, 'E-PLAN-02', 'policy outs: expected an op group of gpt2-nano, got "wte:out"'],
    ['the loss', { reference: 'bf16', outs: ['loss'] }, 'E-PLAN-02', 'policy outs: expected an op group of gpt2-nano, got "loss"'],
    ['a number for an op group', { reference: 'bf16', outs: [3] }, 'E-PLAN-02', 'policy outs: expected an op group of gpt2-nano, got 3'],
    ['an op group twice', { reference: 'bf16', outs: ['wte', 'ln_f', 'wte'] }, 'E-PLAN-07', 'policy: expected outs to name an op group once, got "wte" twice'],
    ['outs as an object', { reference: 'bf16', outs: { wte: 'fp8-out' } }, 'E-PLAN-07', 'policy: expected outs to be a list of node ids, got {"wte":"fp8-out"}'],
    ['an unknown scheme', { reference: 'bf16', passes: { 'h.0.mlp.c_fc:fprop': 'int4' } }, 'E-PLAN-03', 'policy: expected a scheme for h.0.mlp.c_fc:fprop, got "int4"'],
    ['the scheme of op groups for a pass', { reference: 'bf16', passes: { 'h.0.mlp.c_fc:fprop': 'fp8-out' } }, 'E-PLAN-03', 'policy: expected a scheme for h.0.mlp.c_fc:fprop, got "fp8-out"'],
    ['fp32 with low sites', { reference: 'fp32', passes: { 'h.0.mlp.c_fc:fprop': 'nvfp4' }, outs: ['wte'] }, 'E-PLAN-04', 'policy: expected nothing low under reference "fp32", got 2 low sites'],
    ['no reference', { passes: {} }, 'E-PLAN-04', 'policy: expected reference "bf16" or "fp32", got nothing'],
    ['the head', { reference: 'bf16', passes: { 'lm_head:fprop': 'mxfp8' } }, 'E-PLAN-05', 'policy: expected a pass of a block linear, got lm_head:fprop, which stays BF16 in every recipe'],
    ['a switch that is none', { reference: 'bf16', options: { fastMath: true } }, 'E-PLAN-06', 'policy options: expected switches this build can measure, got fastMath = true'],
    ['a switch of Object.prototype', { reference: 'bf16', options: { toString: true } }, 'E-PLAN-06', 'policy options: expected switches this build can measure, got toString = true'],
    ['options as a list', { reference: 'bf16', options: ['rht'] }, 'E-PLAN-06', 'policy options: expected an object, got ["rht"]'],
    ['an unknown key', { reference: 'bf16', sites: ['wte'] }, 'E-PLAN-07', 'policy: expected the keys reference, passes, outs and options, got "sites"'],
    ['a list', [], 'E-PLAN-07', 'policy: expected an object, got []'],
    ['passes as a list', { reference: 'bf16', passes: ['h.0.mlp.c_fc:fprop'] }, 'E-PLAN-07', 'policy: expected passes to be an object {site: scheme}, got ["h.0.mlp.c_fc:fprop"]'],
  ])('refuses %s by name', (_, policy, name, message) => {
    expect(() => validatePolicy(graph, policy)).toThrow(expect.objectContaining({ name, message }) as Error);
  });

  it('names an op group that could stand there', () => {
    expect(() => validatePolicy(graph, { reference: 'bf16', outs: ['x'] })).toThrow(expect.objectContaining({ hint: 'Write node ids, for example "wte".' }) as Error);
    expect(() => validatePolicy(graph, { reference: 'bf16', passes: { 'h.0.attn:out': 'fp8-out' } })).toThrow(expect.objectContaining({ hint: 'Name op groups in outs: "outs": ["h.0.attn"].' }) as Error);
  });
});

describe('validateOptions', () => {
  it('drops defaults, and a seed without stochastic rounding', () => {
    expect(validateOptions(undefined)).toEqual({});
    expect(validateOptions({ weights1d: false, rht: false, sr: false, seed: 5, pow2: false, floor: false, e5m2Grad: false, out: 'tensor' })).toEqual({});
    expect(validateOptions({ seed: 0, sr: true })).toEqual({ sr: true });
    const all = { weights1d: true, rht: true, sr: true, seed: 7, pow2: true, floor: true, e5m2Grad: true, out: 'block' };
    expect(validateOptions(all)).toEqual(all);
  });

  it.each<[string, unknown, string]>([
    ['rht', 1, 'true|false'], ['sr', 'yes', 'true|false'], ['floor', null, 'true|false'],
    ['seed', -1, '0 to 4294967295'], ['seed', 4294967296, '0 to 4294967295'], ['seed', 0.5, '0 to 4294967295'], ['seed', '1', '0 to 4294967295'], ['seed', NaN, '0 to 4294967295'],
    ['out', 'mxfp8', '"tensor"|"block"|"mx"'], ['out', true, '"tensor"|"block"|"mx"'],
  ])('refuses %s = %j and lists the switches', (name, value, expected) => {
    expect(() => validateOptions({ [name]: value }, '--options')).toThrow(expect.objectContaining({
      name: 'E-PLAN-06',
      message: `--options: expected ${name} to be ${expected}, got ${JSON.stringify(value)}`,
      hint: 'Switches: weights1d (true|false), rht (true|false), sr (true|false), seed (0 to 4294967295), pow2 (true|false), floor (true|false), e5m2Grad (true|false), out ("tensor"|"block"|"mx").',
    }) as Error);
  });
});

describe('canonicalPolicy', () => {
  const low = (policy: Partial<Policy>): Policy => ({ ...REFERENCE_POLICY, ...policy });

  it('does not depend on key order or on defaults written out', () => {
    const a = canonicalPolicy({ reference: 'bf16', passes: { 'h.1.mlp.c_fc:fprop': 'nvfp4', 'h.0.mlp.c_fc:fprop': 'nvfp4' }, options: { weights1d: false, seed: 3, out: 'tensor' } });
    const b = canonicalPolicy({ options: {}, outs: [], passes: { 'h.0.mlp.c_fc:fprop': 'nvfp4', 'h.1.mlp.c_fc:fprop': 'nvfp4' }, reference: 'bf16' });
    expect(a).toBe(b);
    // The strings of plans stored before there were other schemes.
    expect(a).toBe('{"options":{},"passes":{"h.0.mlp.c_fc:fprop":"nvfp4","h.1.mlp.c_fc:fprop":"nvfp4"},"reference":"bf16"}');
    expect(canonicalPolicy(low({ passes: { 'h.0.mlp.c_fc:wgrad': 'nvfp4' }, options: { weights1d: true } })))
      .toBe('{"options":{"weights1d":true},"passes":{"h.0.mlp.c_fc:wgrad":"nvfp4"},"reference":"bf16"}');
    expect(canonicalPolicy(low({ options: { weights1d: true } }))).toBe('{"options":{"weights1d":true},"passes":{},"reference":"bf16"}');
    expect(canonicalPolicy(REFERENCE_POLICY)).toBe('{"options":{},"passes":{},"reference":"bf16"}');
  });

  it('holds op groups and the options of every low scheme, sorted', () => {
    expect(canonicalPolicy(low({ passes: { 'h.0.mlp.c_fc:fprop': 'fp8' }, outs: ['wte', 'h.0.ln_1'], options: { rht: true, pow2: true, out: 'block' } })))
      .toBe('{"options":{"out":"block","pow2":true},"outs":["h.0.ln_1","wte"],"passes":{"h.0.mlp.c_fc:fprop":"fp8"},"reference":"bf16"}');
  });

  it('is equal for policies that mean the same', () => {
    const fc = { 'h.0.mlp.c_fc:fprop': 'nvfp4' as const };
    // The Hadamard transform is the weight gradient's, stochastic rounding and E5M2 the arriving gradient's.
    expect(canonicalPolicy(low({ passes: fc, options: { rht: true, sr: true, seed: 9 } }))).toBe(canonicalPolicy(low({ passes: fc })));
    const dgrad = { 'h.0.mlp.c_fc:dgrad': 'nvfp4', 'h.0.mlp.c_fc:fprop': 'mxfp8', 'h.1.mlp.c_fc:wgrad': 'mxfp4' } as const;
    expect(canonicalPolicy(low({ passes: dgrad, options: { rht: true, sr: true, e5m2Grad: true } }))).toBe(canonicalPolicy(low({ passes: dgrad, options: { sr: true } })));
    expect(canonicalPolicy(low({ passes: fc, options: { out: 'mx', floor: true, seed: 9, pow2: true } }))).toBe(canonicalPolicy(low({ passes: fc })));
    expect(canonicalPolicy(low({ outs: ['wte'], options: { weights1d: true, sr: true } }))).toBe(canonicalPolicy(low({ outs: ['wte'] })));
    expect(canonicalPolicy(low({ outs: ['wte'], options: { out: 'mx', pow2: true } }))).toBe(canonicalPolicy(low({ outs: ['wte'], options: { out: 'mx' } })));
  });

  it('tells apart what differs', () => {
    const fc = (scheme: 'nvfp4' | 'mxfp8') => ({ 'h.0.mlp.c_fc:fprop': scheme });
    const wgrad = (scheme: 'nvfp4' | 'mxfp8') => ({ 'h.0.mlp.c_fc:wgrad': scheme });
    const all = [
      REFERENCE_POLICY,
      low({ reference: 'fp32' }),
      low({ passes: fc('nvfp4') }),
      low({ passes: wgrad('nvfp4') }),
      low({ passes: wgrad('nvfp4'), options: { rht: true } }),
      low({ passes: wgrad('nvfp4'), options: { sr: true } }),
      low({ passes: wgrad('nvfp4'), options: { sr: true, seed: 1 } }),
      low({ passes: wgrad('mxfp8') }),
      low({ passes: wgrad('mxfp8'), options: { e5m2Grad: true } }),
      low({ passes: fc('mxfp8') }),
      low({ passes: fc('mxfp8'), options: { floor: true } }),
      low({ outs: ['wte'] }),
      low({ outs: ['wte', 'ln_f'] }),
      low({ outs: ['wte'], options: { out: 'block' } }),
    ].map(canonicalPolicy);
    expect(new Set(all).size).toBe(all.length);
  });
});
