/**
 * One tensor through the quantizer's kernels with everything read back, into buffers full of garbage, and the oracle's form
 * of it: what the start-up check and the tests compare. Not for hot paths.
 */
import type { Gpu } from '../gpu/gpu';
import { bitsOf, bitsView } from '../numerics/float-bits';
import { packRows } from '../numerics/packing';
import { packQuantized, type Quantized } from '../numerics/quantize';
import { packedSize, scaleBits, type OperandFormat } from '../numerics/schemes';
import type { RandomKey } from '../numerics/stochastic';
import { NamedBuffers } from './named-buffers';
import { stride } from './program';
import { amaxDispatch, codeCommands, dequantizeCommands, placeBytes, qdqCommands, tensorScaleDispatch, type DecodeMode, type Places, type Source } from './quantize-commands';

export const PLACES: Places = { record: { resource: 'record' }, codes: { resource: 'codes' }, scales: { resource: 'scales' }, multipliers: { resource: 'multipliers' } };
const GARBAGE = 0xdeadbeef;
const garbage = (bytes: number): Uint32Array => new Uint32Array(bytes / 4).fill(GARBAGE);

export interface Given {
  readonly rows: number;
  readonly cols: number;
  readonly bf16: boolean;
  /** The transpose is stored. */
  readonly transposed: boolean;
}

/** x [rows, cols] as device words, rows padded with zeros to whole quads. */
export function deviceWords(x: Float32Array, { rows, cols, bf16, transposed }: Given): Uint32Array {
  const [r, c] = transposed ? [cols, rows] : [rows, cols];
  const bits = bitsView(x);
  const stored = Uint32Array.from({ length: r * c }, (_, i) => bits[transposed ? (i % c) * cols + Math.floor(i / c) : i] ?? 0);
  return bf16 ? packRows(stored.map((b) => b >>> 16), r, c, 16, stride(c) / 2) : packRows(stored, r, c, 32, stride(c));
}

function sourceOf({ rows, cols, bf16, transposed }: Given): Source {
  const [sourceRows, sourceCols] = transposed ? [cols, rows] : [rows, cols];
  return { data: { resource: 'source' }, sourceFormat: bf16 ? 'bf16' : 'f32', sourceRows, cols: sourceCols, transposed, rows, length: cols };
}

export interface OnDevice {
  /** Words 0 to 4: amax, non-finite count, encode scale, decode scale, fl(S_enc / 6). */
  readonly record: Uint32Array;
  readonly codes: Uint32Array;
  readonly scales: Uint32Array;
  /** [R, C] factors of the blocks that exist; empty without blocks. */
  readonly factors: Uint32Array;
  readonly decoded: Readonly<Record<DecodeMode, Uint32Array>>;
}

/** Quantizes x on the device and decodes it in every mode. amaxBits: given instead of measured. */
export async function quantizeOnDevice(gpu: Gpu, x: Float32Array, given: Given, format: OperandFormat, options: { amaxBits?: number; random?: RandomKey } = {}): Promise<OnDevice> {
  const { rows, cols, bf16 } = given;
  const bytes = placeBytes(format, rows, cols);
  const source = sourceOf(given);
  const { data } = source;
  const words = deviceWords(x, given);
  const buffers = new NamedBuffers(gpu, {
    source: words, ...Object.fromEntries(Object.entries(bytes).map(([name, size]) => [name, garbage(size)])),
    operand: garbage(4 * rows * stride(cols)), f32: garbage(4 * rows * stride(cols)), bf16: garbage(2 * rows * stride(cols)),
  });
  try {
    const { amaxBits } = options;
    if (amaxBits !== undefined) buffers.write('record', Uint32Array.of(amaxBits, 0));
    await buffers.run([
      ...(amaxBits === undefined ? [{ clear: PLACES.record }, amaxDispatch(data, source.sourceFormat, bf16 ? 2 * words.length : words.length, PLACES.record)] : []),
      tensorScaleDispatch(format, PLACES.record),
      ...codeCommands(source, format, PLACES, options.random),
      ...(['operand', 'f32', 'bf16'] as const).flatMap((mode) => dequantizeCommands(format, rows, cols, PLACES, { resource: mode }, mode)),
    ]);
    const [record, codes, scales, multipliers, operand, f32, decodedBf16] = await Promise.all([
      buffers.read('record', 5), buffers.read('codes', bytes.codes / 4), buffers.read('scales', bytes.scales / 4), buffers.read('multipliers', bytes.multipliers / 4),
      buffers.read('operand', rows * stride(cols)), buffers.read('f32', rows * stride(cols)), buffers.read('bf16', (rows * stride(cols)) / 2),
    ]);
    const { scaleRows, scaleRowWords } = packedSize(format, rows, cols);
    const blocks = scaleRows === 0 ? 0 : Math.ceil(cols / format.block[1]);
    const rowFactors = scaleRows === 0 ? 0 : (scaleRowWords * 32) / scaleBits(format);
    const factors = Uint32Array.from({ length: scaleRows * blocks }, (_, i) => multipliers[Math.floor(i / blocks) * rowFactors + (i % blocks)] ?? 0);
    return { record, codes, scales, factors, decoded: { operand, f32, bf16: decodedBf16 } };
  } finally {
    buffers.dispose();
  }
}

/** x rounded to the values its codes would stand for: BF16 words. inPlace: over the source. */
export async function roundOnDevice(gpu: Gpu, x: Float32Array, given: Given, format: OperandFormat, inPlace = false): Promise<Uint32Array> {
  const { record, scales, multipliers } = placeBytes(format, given.rows, given.cols);
  const words = (given.rows * stride(given.cols)) / 2;
  const buffers = new NamedBuffers(gpu, { source: deviceWords(x, given), record: garbage(record), scales: garbage(scales), multipliers: garbage(multipliers), out: garbage(4 * words) });
  try {
    const out = inPlace ? 'source' : 'out';
    await buffers.run(qdqCommands(sourceOf(given), format, PLACES, { resource: out }, inPlace));
    return await buffers.read(out, words);
  } finally {
    buffers.dispose();
  }
}

/** Words of FP32 or BF16 values [rows, cols], rows padded with zeros to whole quads. */
export function rowWords(values: Float32Array, rows: number, cols: number, bf16 = false): Uint32Array {
  const bits = bitsView(values);
  return bf16 ? packRows(bits.map((b) => b >>> 16), rows, cols, 16, stride(cols) / 2) : packRows(bits, rows, cols, 32, stride(cols));
}

/** The record and the words that the oracle says. */
export function oracleWords(q: Quantized): { record: number[]; codes: Uint32Array; scales: Uint32Array; factors: Uint32Array } {
  const { codes, scales } = packQuantized(q);
  const { amax, encode, decode } = q.tensor;
  const sixth = Math.fround(encode * Math.fround(1 / 6));
  return { record: [bitsOf(amax), q.nonFinite, bitsOf(encode), bitsOf(decode), bitsOf(sixth)], codes, scales, factors: scaleBits(q.format) === 0 ? new Uint32Array() : bitsView(q.multipliers) };
}
