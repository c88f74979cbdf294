/**
 * Every derivative against central finite differences, under no rounding: each op on its own along random directions of
 * each input and parameter, then a whole tiny GPT-2 along a random direction of each parameter tensor. Bounds: with step
 * h = 1e-5 the truncation error is about h^2 and the rounding error 1e-16 / h, both far below 1e-7.
 */
import { describe, expect, it } from 'vitest';
import { philox4x32 } from '../../base/random';
import { REFERENCE_POLICY } from '../../graph/policy';
import type { OpName } from '../../graph/types';
import { gpt2Graph } from '../../models/gpt2';
import { referenceGradient } from './gradient';
import { REFERENCE_OPS } from './index';
import type { NodeAttributes, ReferenceCall } from './op';

const STEP = 1e-5;
const BOUND = 1e-7;
const SHAPE = { sequences: 2, tokens: 5 };
const N = SHAPE.sequences * SHAPE.tokens;

/** Repeatable values in -1 .. 1, one stream a seed. */
function random(length: number, seed: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => philox4x32([i, 0, 0, 0], [seed, 0])[0] / 2 ** 31 - 1);
}
function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
}
function moved(x: Float64Array, direction: Float64Array, by: number): Float64Array {
  return x.map((v, i) => v + by * (direction[i] as number));
}

interface Case {
  readonly op: OpName;
  readonly title: string;
  readonly attrs: NodeAttributes;
  readonly params: Readonly<Record<string, number>>;
}
const plain = { weightTransposed: false, heads: 0, eps: 0 };
const V = 7;
const CASES: readonly Case[] = [
  { op: 'embed', title: 'embed', attrs: { ...plain, inCols: 0, cols: 6 }, params: { table: V * 6, positions: 8 * 6 } },
  { op: 'layernorm', title: 'layernorm', attrs: { ...plain, inCols: 6, cols: 6, eps: 1e-5 }, params: { weight: 6, bias: 6 } },
  { op: 'linear', title: 'linear', attrs: { ...plain, inCols: 6, cols: 9 }, params: { weight: 54, bias: 9 } },
  { op: 'linear', title: 'linear, transposed, no bias', attrs: { ...plain, inCols: 6, cols: V, weightTransposed: true }, params: { weight: 42 } },
  { op: 'attention', title: 'attention', attrs: { ...plain, inCols: 18, cols: 6, heads: 2 }, params: {} },
  { op: 'gelu', title: 'gelu', attrs: { ...plain, inCols: 6, cols: 6 }, params: {} },
  { op: 'add', title: 'add', attrs: { ...plain, inCols: 6, cols: 6 }, params: {} },
  { op: 'cross_entropy', title: 'cross_entropy', attrs: { ...plain, inCols: V, cols: 1 }, params: {} },
];

it('covers every op', () => expect(new Set(CASES.map((c) => c.op))).toEqual(new Set(Object.keys(REFERENCE_OPS))));

describe.each(CASES)('$title', ({ op, attrs, params }) => {
  const ports = op === 'embed' ? 0 : op === 'add' ? 2 : 1;
  // Values to 3, so that gelu and softmax leave their linear range.
  const inputs = Array.from({ length: ports }, (_, port) => random(N * attrs.inCols, 10 + port).map((x) => 3 * x));
  const call: ReferenceCall = {
    ...SHAPE, attrs, inputs, rounding: 'none',
    params: Object.fromEntries(Object.entries(params).map(([role, length], i) => [role, random(length, 20 + i)])),
    ids: [0, 3, 3, 6, 1, 2, 0, 5, 3, 3], targets: [3, 3, 6, 1, 4, 0, 5, 3, 3, 2],
  };
  const dy = random(N * attrs.cols, 30);
  const value = (changed: ReferenceCall): number => dot(REFERENCE_OPS[op].fprop(changed), dy);
  const { dx, dparams } = REFERENCE_OPS[op].bprop(call, dy);

  function check(along: (by: number) => ReferenceCall, derivative: number): void {
    const numeric = (value(along(STEP)) - value(along(-STEP))) / (2 * STEP);
    expect(Math.abs(numeric - derivative)).toBeLessThan(BOUND * Math.max(1, Math.abs(numeric)));
    expect(Math.abs(numeric)).toBeGreaterThan(1e-3);
  }

  it('has one gradient a port and a parameter', () => {
    expect(dx).toHaveLength(ports);
    expect(Object.keys(dparams).sort()).toEqual(Object.keys(params).sort());
  });
  if (ports > 0) it('dx', () => {
    inputs.forEach((x, port) => {
      for (const seed of [40, 41, 42]) {
        const u = random(x.length, seed);
        check((by) => ({ ...call, inputs: inputs.map((other, p) => (p === port ? moved(x, u, by) : other)) }), dot(dx[port] ?? new Float64Array(), u));
      }
    });
  });
  if (Object.keys(params).length > 0) it('dparams', () => {
    for (const [role, p] of Object.entries(call.params)) {
      for (const seed of [50, 51, 52]) {
        const u = random(p.length, seed);
        check((by) => ({ ...call, params: { ...call.params, [role]: moved(p, u, by) } }), dot(dparams[role] ?? new Float64Array(), u));
      }
    }
  });
});

describe('attention', () => {
  it('is causal: a token moves no context before it', () => {
    const attrs = { ...plain, inCols: 18, cols: 6, heads: 2 };
    const x = random(5 * 18, 60);
    const call = (input: Float64Array): ReferenceCall => ({ attrs, sequences: 1, tokens: 5, inputs: [input], params: {}, rounding: 'none' });
    const later = x.map((v, i) => (i >= 3 * 18 ? v + 1 : v));
    const [a, b] = [REFERENCE_OPS.attention.fprop(call(x)), REFERENCE_OPS.attention.fprop(call(later))];
    expect(b.slice(0, 18)).toEqual(a.slice(0, 18));
    expect(b.slice(18)).not.toEqual(a.slice(18));
  });
});

describe('a whole GPT-2, 2 layers, width 12', () => {
  const graph = gpt2Graph({ model: 'tiny', layers: 2, width: 12, heads: 3, positions: 8, vocabulary: 11, eps: 1e-5 });
  const tokens = [[1, 4, 10, 4, 0, 7], [3, 3, 9, 2, 8, 1]];
  const policy = { ...REFERENCE_POLICY, reference: 'fp32' as const };
  const params = new Map(graph.params.map(({ name, shape }, i) => {
    const values = random(shape.reduce((a, b) => a * b), 100 + i).map((x) => 0.5 * x);
    return [name, name.endsWith('ln_1.weight') || name.endsWith('ln_2.weight') || name === 'ln_f.weight' ? values.map((x) => 1 + x) : values];
  }));
  const { gradient, loss } = referenceGradient(graph, params, tokens, policy);

  it('starts with a loss of a model that knows nothing', () => {
    expect(loss).toBeGreaterThan(0.5 * Math.log(11));
    expect(loss).toBeLessThan(3 * Math.log(11));
  });

  it.each(graph.params.map(({ name }, i) => ({ name, i })))('d $name', ({ name, i }) => {
    const p = params.get(name) ?? new Float64Array();
    for (const seed of [200, 300]) {
      const u = random(p.length, seed + i);
      const at = (by: number): number => referenceGradient(graph, new Map([...params, [name, moved(p, u, by)]]), tokens, policy).loss;
      const numeric = (at(STEP) - at(-STEP)) / (2 * STEP);
      expect(Math.abs(numeric - dot(gradient.get(name) ?? new Float64Array(), u))).toBeLessThan(BOUND * Math.max(1, Math.abs(numeric)));
      expect(Math.abs(numeric)).toBeGreaterThan(1e-5);
    }
  });
});
