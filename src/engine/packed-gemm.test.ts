/**
 * A low pass as the engine runs it (quantize both operands, GEMM on packed codes) against the same codes decoded to FP32
 * and multiplied by the FP32 GEMM: bit-equal, because every q s and every product of two is exact in FP32 and sums run in
 * one order (formats.md 1.5, 1.6). And against the CPU oracle's operands in float64, within the bound of engine.md 4.3.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { philox4x32 } from '../base/random';
import { openNodeDevice } from '../gpu/node-device';
import { whole, type Gpu } from '../gpu/gpu';
import type { Graph, GraphNode, Pass } from '../graph/types';
import { bitsView } from '../numerics/float-bits';
import { nvfp4Alpha, nvfp4GemmOperand, quantizeNvfp4 } from '../numerics/nvfp4';
import { Executor, type ResolvedCommand } from './executor';
import { gemmDispatch, type Operand } from './gemm';
import { lowLinear, lowScratch } from './low-linear';
import { packBf16, padRows } from './parameters';
import { isClear, stride, type Binding, type Clear, type Dispatch } from './program';
import { Values } from './values';

let gpu: Gpu;
let executor: Executor;
beforeAll(async () => {
  gpu = await openNodeDevice();
  executor = new Executor(gpu);
});
afterAll(() => {
  executor.dispose();
  expect(gpu.liveBuffers).toBe(0);
  gpu.device.destroy();
});

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

/** Uploads, runs, reads back and frees. Keys of `bytes` are buffers of zeros. */
async function execute(contents: Record<string, ArrayBufferView>, bytes: Record<string, number>, commands: readonly (Dispatch | Clear)[], read: readonly string[]): Promise<Uint32Array[]> {
  const buffers = new Map<string, GPUBuffer>();
  try {
    for (const [key, content] of Object.entries(contents)) {
      buffers.set(key, gpu.createBuffer(key, content.byteLength));
      gpu.write(buffers.get(key) as GPUBuffer, content);
    }
    for (const [key, size] of Object.entries(bytes)) buffers.set(key, gpu.createBuffer(key, size));
    const find = (key: string): GPUBuffer => {
      const buffer = buffers.get(key);
      if (!buffer) throw new Error(`no buffer ${key}`);
      return buffer;
    };
    const slice = (b: Binding) => whole(find('resource' in b ? b.resource : b.value));
    await executor.run(commands.map((c): ResolvedCommand => (isClear(c) ? { clear: find(c.clear) } : { label: c.kernel, dispatch: c, slices: c.bindings.map(slice) })));
    return await Promise.all(read.map(async (key) => new Uint32Array(await gpu.read(find(key), find(key).size))));
  } finally {
    for (const buffer of buffers.values()) gpu.destroyBuffer(buffer);
  }
}

const transpose = (x: Float32Array, rows: number, cols: number): Float32Array => Float32Array.from(x, (_, i) => x[(i % rows) * cols + Math.floor(i / rows)] ?? NaN);
const pack = (x: Float32Array, cols: number): Uint32Array => packBf16(padRows(x, [x.length / cols, cols]));

interface Problem { m: number; k: number; n: number; weightTransposed: boolean; weights1d: boolean; scale: number }

async function check(pass: Pass, { m, k, n, weightTransposed, weights1d, scale }: Problem): Promise<void> {
  const { graph, node } = linearGraph(k, n, weightTransposed);
  const shape = { sequences: 1, tokens: m };
  const [x, w, dy, bias] = [bf16Values(m * k, 1, scale), bf16Values(k * n, 2), bf16Values(m * n, 3, 2 ** -9), bf16Values(n, 4)];
  const stored = weightTransposed ? transpose(w, k, n) : w;
  // Operands [rows, length] with the contracted axis last, as method.md 4 defines them; w is [k, n] here.
  const wideW = transpose(w, k, n);
  const operands: Record<Pass, [Float32Array, number, Float32Array, number, number]> = {
    fprop: [x, m, wideW, n, k],
    dgrad: [dy, m, w, k, n],
    wgrad: weightTransposed ? [transpose(dy, m, n), n, transpose(x, m, k), k, m] : [transpose(x, m, k), k, transpose(dy, m, n), n, m],
  };
  const [a, rows, b, cols, depth] = operands[pass];
  const tile = pass !== 'wgrad' && !weights1d;

  const cStride = stride(cols);
  const output = (key: string): { data: Binding; bf16: boolean; stride: number } => ({ data: { resource: key }, bf16: false, stride: cStride });
  const withBias = pass === 'fprop' ? { bias: { resource: 'bias' } } : {};
  const low = lowLinear('nvfp4', pass, new Values(graph), node, { weights1d }, shape).gemm({ rows, cols, depth, c: output('packed'), ...withBias });
  const quads = stride(depth) / 4;
  const groups = Math.ceil(depth / 64);
  const decode = (name: 'a' | 'b', count: number, tiled: boolean): Dispatch => ({
    kernel: 'dequantize_nvfp4', constants: { TILE: tiled ? 1 : 0, MODE: 0 }, params: [count, depth, quads, groups],
    bindings: [...['codes', 'scales', 'tensor'].map((what) => ({ resource: `low:${name}:${what}` })), { resource: `decoded:${name}` }], invocations: count * quads, flops: 1,
  });
  const floats = (name: string): Operand => ({ data: { resource: `decoded:${name}` }, format: 'f32', stride: 4 * quads });
  const commands = [
    ...low, decode('a', rows, false), decode('b', cols, tile),
    gemmDispatch({ layout: 'nt', rows, cols, depth, a: floats('a'), b: floats('b'), c: output('decoded'), alpha: { resource: 'low:alpha' }, ...withBias }),
  ];
  const contents = { 'y:x': pack(x, k), 'bf16:w': pack(stored, weightTransposed ? k : n), 'dx:loss:0': pack(dy, n), bias: padRows(bias, [n]), nothing: new Uint32Array(4) };
  const bytes = {
    ...Object.fromEntries(lowScratch(graph, shape).map(({ key, bytes: size }) => [key, size])),
    'decoded:a': rows * quads * 16, 'decoded:b': cols * quads * 16, packed: rows * cStride * 4, decoded: rows * cStride * 4,
  };
  const [packed, decoded, alphaWords] = await execute(contents, bytes, commands, ['packed', 'decoded', 'low:alpha']);
  if (!packed || !decoded || !alphaWords) throw new Error('nothing read');
  let different = 0;
  packed.forEach((word, i) => {
    if (word !== decoded[i]) different += 1;
  });
  expect(different, `${pass}: words that differ from the decoded route`).toBe(0);
  expect(alphaWords[1], 'non-finite operands').toBe(0);

  const qa = quantizeNvfp4(a, rows, depth, [1, 16]);
  const qb = quantizeNvfp4(b, cols, depth, tile ? [16, 16] : [1, 16]);
  const [va, vb] = [nvfp4GemmOperand(qa), nvfp4GemmOperand(qb)];
  const alpha = nvfp4Alpha(qa.tensor.amax, qb.tensor.amax);
  const got = new Float32Array(packed.buffer);
  let worst = -Infinity;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cStride; j++) {
      const at = i * cStride + j;
      if (j >= cols) {
        expect(packed[at], 'padding').toBe(0);
        continue;
      }
      let sum = 0;
      let size = 0;
      for (let l = 0; l < depth; l++) {
        const product = (va[i * depth + l] ?? NaN) * (vb[j * depth + l] ?? NaN);
        sum += product;
        size += Math.abs(product);
      }
      const add = pass === 'fprop' ? (bias[j] ?? NaN) : 0;
      // 2 K 2^-24 of the sum's terms; one rounding for the bias; results below the smallest normal become 0.
      const bound = 2 * depth * 2 ** -24 * size * alpha + 2 ** -24 * (Math.abs(add) + Math.abs(sum * alpha + add)) + 2 ** -126;
      const excess = Math.abs((got[at] ?? NaN) - (sum * alpha + add)) - bound;
      if (!(excess <= worst)) worst = excess;
    }
  }
  expect(worst, `${pass}: beyond the float64 bound`).toBeLessThanOrEqual(0);
}

const SHAPES: [number, number, number][] = [
  [1, 1, 1], [1, 17, 33], [15, 1, 17], [15, 17, 33], [17, 65, 15], [33, 15, 65], [65, 33, 1], [65, 129, 17], [16, 16, 64], [64, 64, 192], [26, 256, 64],
];

describe.each(['fprop', 'dgrad', 'wgrad'] as const)('%s', (pass) => {
  it.each(SHAPES)('x [%i, %i] to %i columns: 16x16 and 1x16 weights, stored either way', async (m, k, n) => {
    for (const weightTransposed of [false, true]) {
      for (const weights1d of pass === 'wgrad' ? [false] : [false, true]) await check(pass, { m, k, n, weightTransposed, weights1d, scale: 1 });
    }
  });

  it.each([['all zero', 0], ['tiny', 2 ** -100], ['huge', 2 ** 100]])('x that is %s', async (_what, scale) => {
    await check(pass, { m: 17, k: 33, n: 20, weightTransposed: false, weights1d: false, scale });
  });
});
