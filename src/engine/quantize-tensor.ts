/**
 * One FP32 tensor through the quantizer's kernels on its own, in any row of SCHEMES: what the `quantize` command writes.
 * Large tensors go in pieces of whole blocks that share one tensor record, so neither buffers nor dispatches grow with the
 * tensor. Oracle: src/numerics/quantize.ts. Source: formats.md 2.
 */
import { BendscopeError } from '../base/errors';
import type { Gpu } from '../gpu/gpu';
import { blockGrid } from '../numerics/blocks';
import { FORMATS } from '../numerics/formats';
import { rhtLength } from '../numerics/hadamard';
import { unpackRows } from '../numerics/packing';
import { elementsPerWord, PACKED_ROW_ELEMENTS, packedSize, scaleBits, type OperandFormat } from '../numerics/schemes';
import type { RandomKey } from '../numerics/stochastic';
import { NamedBuffers } from './named-buffers';
import { packBf16 } from './parameters';
import { stride, type Binding } from './program';
import { amaxDispatch, codeCommands, dequantizeCommands, hadamardDispatch, placeBytes, tensorScaleDispatch, type Places, type Source } from './quantize-commands';

/** Elements of a piece: some milliseconds of a slow device. */
const PIECE_ELEMENTS = 1 << 18;

export interface QuantizedTensor {
  /** Columns of what follows: those of x, or whole groups of 16 after a Hadamard transform. */
  readonly cols: number;
  /** [rows, cols], one code an element. */
  readonly codes: Uint8Array<ArrayBuffer>;
  /** [R, C] stored block scales: E4M3 or E8M0 codes, or FP32 bits; empty without blocks. */
  readonly scales: Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
  /** [R, C]; 0 x 0 without blocks. */
  readonly grid: { readonly rows: number; readonly cols: number };
  /** FP32, of what was quantized; NaN elements ignored, Inf not. */
  readonly amax: number;
  /** FP32 scales of the whole tensor before the cast and after the decode; 1 where the rule has none. */
  readonly encode: number;
  readonly decode: number;
  /** [rows, cols], fl(q * factor after the cast). */
  readonly dequantized: Float32Array<ArrayBuffer>;
  readonly nonFinite: number;
}

export interface TensorOptions {
  /** Rounds x to BF16 and transforms groups of 16 along its last axis before anything else (formats.md 2.9). */
  readonly rht?: boolean;
  /** Stochastic rounding, E2M1 only (formats.md 2.8). */
  readonly random?: RandomKey;
  /** About how many elements go at once. */
  readonly pieceElements?: number;
}

interface Piece {
  readonly row: number;
  readonly col: number;
  readonly rows: number;
  readonly cols: number;
}

const PLACES: Places = { record: { resource: 'record' }, codes: { resource: 'codes' }, scales: { resource: 'scales' }, multipliers: { resource: 'multipliers' } };
const GIVEN: Binding = { resource: 'given' };
const TRANSFORMED: Binding = { resource: 'transformed' };
const DECODED: Binding = { resource: 'decoded' };

/** [rows, cols] -> pieces whose corners are corners of blocks. `limit`: elements of a piece, about. */
function pieces(rows: number, cols: number, format: OperandFormat, limit: number): Piece[] {
  const [high, wide] = [format.block[0], Math.max(format.block[1], PACKED_ROW_ELEMENTS)];
  const step = (n: number, quantum: number): number => Math.max(quantum, Math.floor(n / quantum) * quantum);
  const width = Math.min(cols, step(limit / Math.min(rows, high), wide));
  const height = Math.min(rows, step(limit / width, high));
  const found: Piece[] = [];
  for (let row = 0; row < rows; row += height) {
    for (let col = 0; col < cols; col += width) found.push({ row, col, rows: Math.min(height, rows - row), cols: Math.min(width, cols - col) });
  }
  return found;
}

/** A piece of x [.., cols] as the device stores it, rows padded with zeros to whole quads: FP32, or for a transform BF16 [cols, rows]. */
function words(x: Float32Array, cols: number, piece: Piece, rht: boolean): Float32Array | Uint32Array {
  const width = stride(rht ? piece.rows : piece.cols);
  const out = new Float32Array((rht ? piece.cols : piece.rows) * width);
  for (let r = 0; r < piece.rows; r++) {
    const from = (piece.row + r) * cols + piece.col;
    if (!rht) out.set(x.subarray(from, from + piece.cols), r * width);
    else for (let c = 0; c < piece.cols; c++) out[c * width + r] = x[from + c] ?? 0;
  }
  return rht ? packBf16(out) : out;
}

/**
 * x [rows, cols] row-major -> its form in this format, blocks along the last axis. An empty tensor gives empty results
 * and amax 0. Throws E-BUG-03 on a shape that does not fit, E-GPU-02, E-MEM-01.
 */
export async function quantizeTensor(gpu: Gpu, x: Float32Array, rows: number, cols: number, format: OperandFormat, options: TensorOptions = {}): Promise<QuantizedTensor> {
  if (x.length !== rows * cols) throw new BendscopeError('E-BUG-03', `quantizeTensor: expected ${rows}x${cols} elements, got ${x.length}`);
  const { rht = false, random, pieceElements = PIECE_ELEMENTS } = options;
  const width = rht ? rhtLength(cols) : cols;
  const bits = scaleBits(format);
  const grid = bits === 0 ? { rows: 0, cols: 0 } : blockGrid(rows, width, format.block);
  const blocks = grid.rows * grid.cols;
  const result = {
    cols: width, grid, codes: new Uint8Array(rows * width), dequantized: new Float32Array(rows * width),
    scales: bits === 32 ? new Uint32Array(blocks) : new Uint8Array(blocks),
  };
  if (x.length === 0) return { ...result, amax: 0, encode: 1, decode: 1, nonFinite: 0 };

  const parts = pieces(rows, cols, format, pieceElements);
  const largest = parts[0] ?? { row: 0, col: 0, rows, cols };
  const lengthOf = (piece: Piece): number => (rht ? rhtLength(piece.cols) : piece.cols);
  const { record, ...bytes } = placeBytes(format, largest.rows, lengthOf(largest));
  const buffers = new NamedBuffers(gpu, {
    record, ...bytes, given: rht ? 2 * largest.cols * stride(largest.rows) : 4 * largest.rows * stride(largest.cols), decoded: 4 * largest.rows * stride(lengthOf(largest)),
    ...(rht ? { transformed: 2 * largest.rows * lengthOf(largest) } : {}),
  });
  const sourceOf = (piece: Piece): Source => ({
    data: rht ? TRANSFORMED : GIVEN, sourceFormat: rht ? 'bf16' : 'f32', sourceRows: piece.rows, cols: lengthOf(piece), transposed: false, rows: piece.rows, length: lengthOf(piece),
  });
  try {
    const load = (piece: Piece): ReturnType<typeof hadamardDispatch>[] => {
      buffers.write('given', words(x, cols, piece, rht));
      return rht ? [hadamardDispatch(GIVEN, piece.cols, piece.rows, TRANSFORMED)] : [];
    };
    for (const piece of parts) {
      const { data, sourceFormat } = sourceOf(piece);
      await buffers.run([...load(piece), amaxDispatch(data, sourceFormat, piece.rows * stride(lengthOf(piece)), PLACES.record)]);
    }
    await buffers.run([tensorScaleDispatch(format, PLACES.record)]);

    for (const piece of parts) {
      const length = lengthOf(piece);
      await buffers.run([
        ...(parts.length > 1 ? load(piece) : []),
        ...codeCommands(sourceOf(piece), format, PLACES, random && { ...random, tensorCols: width, row: piece.row, col: piece.col }),
        ...dequantizeCommands(format, piece.rows, length, PLACES, DECODED, 'f32'),
      ]);
      const size = packedSize(format, piece.rows, length);
      const codes = unpackRows(await buffers.read('codes', size.codeWords), piece.rows, length, 32 / elementsPerWord(FORMATS[format.element]), size.codeRowWords);
      const decoded = new Float32Array((await buffers.read('decoded', piece.rows * stride(length))).buffer);
      for (let r = 0; r < piece.rows; r++) {
        const at = (piece.row + r) * width + piece.col;
        result.codes.set(codes.subarray(r * length, (r + 1) * length), at);
        result.dequantized.set(decoded.subarray(r * stride(length), r * stride(length) + length), at);
      }
      if (bits === 0) continue;
      const part = blockGrid(piece.rows, length, format.block);
      const scales = unpackRows(await buffers.read('scales', size.scaleWords), part.rows, part.cols, bits, size.scaleRowWords);
      for (let r = 0; r < part.rows; r++) {
        result.scales.set(scales.subarray(r * part.cols, (r + 1) * part.cols), (piece.row / format.block[0] + r) * grid.cols + piece.col / format.block[1]);
      }
    }
    const tensor = await buffers.read('record');
    const [amax = 0, , encode = 1, decode = 1] = new Float32Array(tensor.buffer);
    return { ...result, amax, encode, decode, nonFinite: tensor[1] ?? 0 };
  } finally {
    buffers.dispose();
  }
}
