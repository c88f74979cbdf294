/**
 * The three GEMM layouts on odd shapes against float64: |error| <= 2 K 2^-24 sum |a b| (engine.md 4.3), then one BF16
 * rounding where the output is BF16. Batched and causal forms against the same oracle.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedGpu } from '../gpu/device-fixture';
import { runKernel } from '../gpu/run-kernel';
import type { Gpu } from '../gpu/gpu';
import { packWords } from './executor';
import { gemmDispatch, natural } from './gemm';
import { KERNELS } from './kernels';
import { packBf16, padRows } from './parameters';
import { stride } from './program';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

/** Deterministic BF16-valued numbers with a spread of magnitudes. */
function bf16Values(count: number, seed: number): Float32Array {
  const out = new Float32Array(count);
  let s = seed >>> 0;
  for (let i = 0; i < count; i++) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    out[i] = Math.fround(((s >>> 8) / 2 ** 24 - 0.5) * 2 ** ((s & 7) - 3));
  }
  const bits = new Uint32Array(out.buffer);
  for (let i = 0; i < count; i++) bits[i] = (bits[i] ?? 0) & 0xffff0000;
  return out;
}

const SHAPES: [number, number, number][] = [[1, 1, 1], [15, 17, 33], [16, 20, 64], [37, 64, 129], [64, 192, 65]];

describe.each(['nn', 'nt', 'tn'] as const)('gemm_%s', (layout) => {
  it.each(SHAPES)('%i x %i x %i, BF16 and FP32 operands', async (rows, cols, depth) => {
    const a = bf16Values(rows * depth, 1);
    const b = bf16Values(cols * depth, 2);
    const aShape = layout === 'tn' ? [depth, rows] : [rows, depth];
    const bShape = layout === 'nt' ? [cols, depth] : [depth, cols];
    const at = (i: number, k: number) => (layout === 'tn' ? a[k * rows + i] : a[i * depth + k]) ?? NaN;
    const bt = (k: number, j: number) => (layout === 'nt' ? b[j * depth + k] : b[k * cols + j]) ?? NaN;
    for (const bf16 of [false, true]) {
      const nothing = { resource: '' };
      const d = gemmDispatch({
        layout, rows, cols, depth, a: natural(nothing, aShape[1] ?? 0, bf16), b: natural(nothing, bShape[1] ?? 0, bf16),
        c: { data: nothing, bf16: false, stride: stride(cols) },
      });
      const pack = (v: Float32Array, shape: number[]) => (bf16 ? packBf16(padRows(v, shape)) : padRows(v, shape));
      const empty = new Uint32Array(4);
      const c = rows * stride(cols) * 4;
      const A = pack(a, aShape);
      const B = pack(b, bShape);
      const buffers = layout === 'nt' ? [A, empty, B, empty, empty, empty, c] : layout === 'nn' ? [A, B, empty, c] : [A, B, c];
      const out = await runKernel(gpu, { row: KERNELS[d.kernel], constants: d.constants, params: packWords(d.params), buffers, invocations: d.invocations });
      const got = new Float32Array(out[out.length - 1] ?? new ArrayBuffer(0));
      let worst = 0;
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < cols; j++) {
          let sum = 0;
          let size = 0;
          for (let k = 0; k < depth; k++) {
            sum += at(i, k) * bt(k, j);
            size += Math.abs(at(i, k) * bt(k, j));
          }
          worst = Math.max(worst, Math.abs((got[i * stride(cols) + j] ?? NaN) - sum) - 2 * depth * 2 ** -24 * size);
        }
        for (let j = cols; j < stride(cols); j++) expect(got[i * stride(cols) + j]).toBe(0);
      }
      expect(worst).toBeLessThanOrEqual(0);
    }
  });
});
