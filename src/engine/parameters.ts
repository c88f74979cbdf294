/**
 * Parameters to the device: FP32 where a float op reads them, packed BF16 where a GEMM does. Rows are padded to whole
 * quads. The rounding is the integer one of formats.md 1.3.
 */
import { assert } from '../base/errors';
import type { Graph } from '../graph/types';
import type { Gpu } from '../gpu/gpu';
import { stride } from './program';

/** find: the buffer of `param:NAME` or `bf16:NAME`, or null where no op reads it so. Throws E-BUG-01 for values that do not fit. */
export function loadParameters(gpu: Gpu, graph: Graph, params: ReadonlyMap<string, Float32Array>, find: (key: string) => GPUBuffer | null): void {
  for (const spec of graph.params) {
    const values = params.get(spec.name);
    const elements = spec.shape.reduce((a, b) => a * b, 1);
    assert(values && values.length === elements, `${spec.name}: expected ${elements} values, got ${values?.length ?? 'none'}`);
    const padded = padRows(values, spec.shape);
    const f32 = find(`param:${spec.name}`);
    if (f32) gpu.write(f32, padded);
    const bf16 = find(`bf16:${spec.name}`);
    if (bf16) gpu.write(bf16, packBf16(padded));
  }
}

export function padRows(values: Float32Array, shape: readonly number[]): Float32Array {
  const cols = shape[shape.length - 1] ?? 0;
  const rows = values.length / cols;
  const s = stride(cols);
  if (s === cols) return values;
  const out = new Float32Array(rows * s);
  for (let r = 0; r < rows; r++) out.set(values.subarray(r * cols, (r + 1) * cols), r * s);
  return out;
}

/** FP32 [2n] -> n words of two BF16 each, nearest even, the lower index in the lower half. */
export function packBf16(values: Float32Array): Uint32Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const out = new Uint32Array(values.length / 2);
  const round = (b: number): number => ((b & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : ((b + 0x7fff + ((b >>> 16) & 1)) >>> 16) & 0xffff);
  for (let i = 0; i < out.length; i++) out[i] = (round(bits[2 * i] ?? 0) | (round(bits[2 * i + 1] ?? 0) << 16)) >>> 0;
  return out;
}

/** The inverse of packBf16: n words -> FP32 [2n]. */
export function unpackBf16(words: Uint32Array): Float32Array {
  const bits = new Uint32Array(2 * words.length);
  words.forEach((word, i) => {
    bits[2 * i] = word << 16;
    bits[2 * i + 1] = word & 0xffff0000;
  });
  return new Float32Array(bits.buffer);
}

/** The inverse of padRows: device rows -> the checkpoint's shape. What follows the last row is left out. */
export function unpadRows(padded: Float32Array, shape: readonly number[]): Float32Array {
  const cols = shape[shape.length - 1] ?? 0;
  const rows = shape.length === 2 ? (shape[0] ?? 0) : 1;
  if (stride(cols) === cols) return padded.subarray(0, rows * cols);
  const out = new Float32Array(rows * cols);
  for (let r = 0; r < rows; r++) out.set(padded.subarray(r * stride(cols), r * stride(cols) + cols), r * cols);
  return out;
}
