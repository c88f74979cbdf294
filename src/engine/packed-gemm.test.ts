/**
 * A low pass of every scheme as the engine runs it (quantize both operands, GEMM on packed codes) against the same codes
 * decoded to FP32 and multiplied by the FP32 GEMM: bit-equal, because every decoded value and every product of two is exact
 * in FP32 and sums run in one order (formats.md 1.5, 1.6). And against the CPU oracle's operands in float64, within the
 * bound of engine.md 4.3.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { philox4x32 } from '../base/random';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { OUT_SCHEME, type PassScheme, type PolicyOptions } from '../graph/policy';
import type { Graph, GraphNode, Pass } from '../graph/types';
import { bitsView } from '../numerics/float-bits';
import { countDifferent } from '../numerics/golden-formats';
import { rht, rhtLength } from '../numerics/hadamard';
import { gemmAlpha, gemmOperand, outValues, quantize } from '../numerics/quantize';
import { operandFormat, type OperandRole } from '../numerics/schemes';
import { randomBytes, streamOf } from '../numerics/stochastic';
import { gemmDispatch, natural } from './gemm';
import { lowLinear, lowScratch } from './low-linear';
import { NamedBuffers } from './named-buffers';
import { outScratch, outWeight } from './packed-cache';
import { packBf16, padRows } from './parameters';
import { stride } from './program';
import { dequantizeCommands, hasAlpha } from './quantize-commands';
import { rowWords } from './quantize-readback';
import { Values } from './values';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

/** Random BF16 values of many magnitudes, a sixteenth of them zero; all zero for scale 0. */
function bf16Values(count: number, seed: number, scale = 1): Float32Array {
  const out = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const [a, b] = philox4x32([i, 0, 0, 0], [seed, 2]);
    out[i] = (b & 15) === 0 ? 0 : scale * (a / 2 ** 31 - 1) * 2 ** ((b >>> 4) % 8);
  }
  return new Float32Array(Uint32Array.from(bitsView(out), (bits) => bits & 0xffff0000).buffer);
}

/** x [M, K] -> linear -> y [M, N]: the smallest graph with a low pass. */
function linearGraph(k: number, n: number, weightTransposed: boolean): { graph: Graph; node: GraphNode } {
  const common = { heads: 0, eps: 0, layer: 0, group: '', weightTransposed: false };
  const node: GraphNode = { ...common, id: 'linear', op: 'linear', inputs: ['x'], cols: n, inCols: k, weightTransposed, params: { weight: 'w', bias: 'b' } };
  const nodes: GraphNode[] = [
    { ...common, id: 'x', op: 'embed', inputs: [], cols: k, inCols: 0, params: {} },
    node,
    { ...common, id: 'loss', op: 'cross_entropy', inputs: ['linear'], cols: 1, inCols: n, params: {} },
  ];
  return { graph: { model: 'test', layers: 1, width: k, vocabulary: n, maxTokens: 256, nodes, params: [{ name: 'w', shape: weightTransposed ? [n, k] : [k, n] }] }, node };
}

const transpose = (x: Float32Array, rows: number, cols: number): Float32Array => Float32Array.from(x, (_, i) => x[(i % rows) * cols + Math.floor(i / rows)] ?? NaN);
const pack = (x: Float32Array, cols: number): Uint32Array => packBf16(padRows(x, [x.length / cols, cols]));
const RANDOM = { step: 3, draw: 1 };

interface Problem { m: number; k: number; n: number; weightTransposed: boolean; scale: number }
interface Matrix { role: OperandRole; values: Float32Array; rows: number }

async function check(scheme: PassScheme, options: PolicyOptions, pass: Pass, { m, k, n, weightTransposed, scale }: Problem): Promise<void> {
  const { graph, node } = linearGraph(k, n, weightTransposed);
  const shape = { sequences: 1, tokens: m };
  const [x, w, dy, bias] = [bf16Values(m * k, 1, scale), bf16Values(k * n, 2), bf16Values(m * n, 3, pass === 'dgrad' ? scale : 2 ** -9), bf16Values(n, 4)];
  // Operands [rows, length] with the contracted axis last, as method.md 4 defines them; w is [k, n] here.
  const [xCol, dyCol]: [Matrix, Matrix] = [{ role: 'x', values: transpose(x, m, k), rows: k }, { role: 'dy', values: transpose(dy, m, n), rows: n }];
  const operands: Record<Pass, [Matrix, Matrix, number]> = {
    fprop: [{ role: 'x', values: x, rows: m }, { role: 'w', values: transpose(w, k, n), rows: n }, k],
    dgrad: [{ role: 'dy', values: dy, rows: m }, { role: 'w', values: w, rows: k }, n],
    wgrad: weightTransposed ? [dyCol, xCol, m] : [xCol, dyCol, m],
  };
  const [a, b, length] = operands[pass];
  const transformed = options.rht === true && pass === 'wgrad';
  const depth = transformed ? rhtLength(length) : length;
  const key = { seed: options.seed ?? 0, stream: streamOf(1, pass === 'wgrad' ? 'col' : 'row'), ...RANDOM };
  const [qa, qb] = [a, b].map(({ role, values, rows }) => {
    const random = options.sr && role === 'dy' ? { randomBytes: randomBytes(rows, depth, key) } : {};
    return quantize(transformed ? rht(values, rows, length) : values, rows, depth, operandFormat(scheme, role, options), random);
  });
  if (!qa || !qb) throw new Error('two operands');

  const cStride = stride(b.rows);
  const output = (name: string) => ({ data: { resource: name }, bf16: false, stride: cStride });
  const withBias = pass === 'fprop' ? { bias: { resource: 'bias' } } : {};
  const low = lowLinear(scheme, pass, new Values(graph), node, options, shape, RANDOM);
  const place = (name: string, what: string) => ({ resource: `low:${name}:${what}` });
  const decoded = ([['a', qa], ['b', qb]] as const).flatMap(([name, q]) => dequantizeCommands(
    q.format, q.rows, depth, { record: place(name, 'record'), codes: place(name, 'codes'), scales: place(name, 'scales') }, { resource: `decoded:${name}` }, 'operand'));
  const buffers = new NamedBuffers(gpu, {
    ...Object.fromEntries(lowScratch(graph, shape).map(({ key: name, bytes }) => [name, bytes])), 'low:alpha': 16,
    'y:x': pack(x, k), 'bf16:w': weightTransposed ? pack(transpose(w, k, n), k) : pack(w, n), 'dx:loss:0': pack(dy, n), bias: padRows(bias, [n]),
    'decoded:a': 4 * a.rows * stride(depth), 'decoded:b': 4 * b.rows * stride(depth), packed: 4 * a.rows * cStride, plain: 4 * a.rows * cStride,
  });
  try {
    await buffers.run([
      ...low.gemm({ rows: a.rows, cols: b.rows, depth: length, c: output('packed'), ...withBias }),
      ...decoded,
      gemmDispatch({
        layout: 'nt', rows: a.rows, cols: b.rows, depth, a: natural({ resource: 'decoded:a' }, depth, false), b: natural({ resource: 'decoded:b' }, depth, false),
        c: output('plain'), ...(hasAlpha(qa.format) ? { alpha: { resource: 'low:alpha' } } : {}), ...withBias,
      }),
    ]);
    const [packed, plain, alpha] = await Promise.all([buffers.read('packed', a.rows * cStride), buffers.read('plain', a.rows * cStride), buffers.read('low:alpha', 2)]);
    expect(countDifferent(packed, plain, false), 'words that differ from the decoded route').toBe(0);
    expect(alpha[1], 'non-finite operands').toBe(0);
    expectClose(new Float32Array(packed.buffer), cStride, qa, qb, depth, pass === 'fprop' ? bias : null);
  } finally {
    buffers.dispose();
  }
}

/** |got - alpha a b^T - bias| within 2 K 2^-24 of the sum's terms, one rounding of the bias; results below the smallest normal become 0. */
function expectClose(got: Float32Array, cStride: number, qa: ReturnType<typeof quantize>, qb: ReturnType<typeof quantize>, depth: number, bias: Float32Array | null): void {
  const [va, vb, alpha] = [gemmOperand(qa), gemmOperand(qb), gemmAlpha(qa, qb)];
  let worst = -Infinity;
  for (let i = 0; i < qa.rows; i++) {
    for (let j = 0; j < cStride; j++) {
      const value = got[i * cStride + j] ?? NaN;
      if (j >= qb.rows) {
        expect(value, 'padding').toBe(0);
        continue;
      }
      let [sum, size] = [0, 0];
      for (let l = 0; l < depth; l++) {
        const product = (va[i * depth + l] ?? NaN) * (vb[j * depth + l] ?? NaN);
        sum += product;
        size += Math.abs(product);
      }
      const add = bias?.[j] ?? 0;
      const bound = 2 * depth * 2 ** -24 * size * alpha + 2 ** -24 * (Math.abs(add) + Math.abs(sum * alpha + add)) + 2 ** -126;
      const excess = Math.abs(value - (sum * alpha + add)) - bound;
      if (!(excess <= worst)) worst = excess;
    }
  }
  expect(worst, 'beyond the float64 bound').toBeLessThanOrEqual(0);
}

const VARIANTS: [PassScheme, PolicyOptions][] = [
  ['nvfp4', {}], ['nvfp4', { weights1d: true }], ['nvfp4', { rht: true }], ['nvfp4', { sr: true, seed: 5 }], ['nvfp4', { rht: true, sr: true, seed: 4294967295 }],
  ['fp8', {}], ['fp8', { pow2: true }], ['fp8-block', {}], ['mxfp8', {}], ['mxfp8', { floor: true, e5m2Grad: true }], ['mxfp4', {}], ['mxfp4', { floor: true }],
];
const SHAPES: [number, number, number][] = [
  [1, 1, 1], [1, 17, 33], [15, 1, 17], [15, 17, 33], [17, 129, 15], [33, 15, 65], [65, 33, 1], [129, 17, 33], [16, 16, 64], [26, 256, 64],
];

describe.each(VARIANTS)('%s %o', (scheme, options) => {
  it.each(['fprop', 'dgrad', 'wgrad'] as const)('%s: odd shapes, weights stored either way', async (pass) => {
    for (const [i, [m, k, n]] of SHAPES.entries()) await check(scheme, options, pass, { m, k, n, weightTransposed: i % 2 === 1, scale: 1 });
    await check(scheme, options, pass, { m: 33, k: 129, n: 17, weightTransposed: false, scale: 1 });
    await check(scheme, options, pass, { m: 33, k: 17, n: 129, weightTransposed: true, scale: 1 });
  });
  it('an operand that is zero, tiny, huge', async () => {
    for (const scale of [0, 2 ** -100, 2 ** 100]) for (const pass of ['fprop', 'dgrad', 'wgrad'] as const) await check(scheme, options, pass, { m: 17, k: 33, n: 20, weightTransposed: false, scale });
  });
});

it.each([['tensor', [33, 129]], ['block', [150, 131]], ['mx', [17, 65]]] as const)('the weight of a low op group, scaled by %s: BF16 values of the oracle, contracted axis last', async (out, [k, n]) => {
  const w = bf16Values(k * n, 6);
  const format = operandFormat(OUT_SCHEME, 'w', { out });
  for (const weightTransposed of [false, true]) {
    const { graph, node } = linearGraph(k, n, weightTransposed);
    for (const [pass, values, rows, length] of [['fprop', transpose(w, k, n), n, k], ['dgrad', w, k, n]] as const) {
      const weight = outWeight(pass, node, { out });
      const buffers = new NamedBuffers(gpu, {
        ...Object.fromEntries(outScratch(new Values(graph, { outs: ['linear'], options: { out } }), { sequences: 1, tokens: 1 }).map(({ key, bytes }) => [key, bytes])), 'low:alpha': 16,
        'bf16:w': weightTransposed ? pack(transpose(w, k, n), k) : pack(w, n),
      });
      await buffers.run(weight.commands);
      const got = await buffers.read('scratch:p', (rows * stride(length)) / 2);
      buffers.dispose();
      expect(weight.operand).toEqual({ data: { resource: 'scratch:p' }, format: 'bf16', stride: stride(length) });
      expect(countDifferent(got, rowWords(outValues(quantize(values, rows, length, format)), rows, length, true), false), pass).toBe(0);
    }
  }
});

it('a step is told apart by every switch that changes its bits', () => {
  const { graph, node } = linearGraph(4, 4, false);
  const variant = (scheme: PassScheme, options: PolicyOptions, pass: Pass, random = RANDOM): string => lowLinear(scheme, pass, new Values(graph), node, options, { sequences: 1, tokens: 1 }, random).variant;
  const seen = VARIANTS.map(([scheme, options]) => variant(scheme, options, 'wgrad'));
  expect(new Set(seen).size).toBe(VARIANTS.length);
  expect(variant('nvfp4', { sr: true, seed: 5 }, 'dgrad')).toBe('nvfp4 sr seed=5 step=3 draw=1');
  expect(variant('nvfp4', { sr: true, seed: 5 }, 'dgrad', { step: 4, draw: 1 })).not.toBe(variant('nvfp4', { sr: true, seed: 5 }, 'dgrad'));
  expect(variant('nvfp4', { floor: true, seed: 5 }, 'wgrad')).toBe('nvfp4');
});
