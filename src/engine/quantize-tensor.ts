/**
 * One FP32 tensor through the NVFP4 kernels on its own: amax, tensor scales, block scales, codes, decoded values; what
 * the `quantize` command writes. Large tensors go in pieces of whole blocks that share one tensor record, so neither
 * buffers nor dispatches grow with the tensor. Oracle: src/numerics/nvfp4.ts. Source: formats.md 2.6, 2.7.
 */
import { BendscopeError } from '../base/errors';
import { blockGrid } from '../numerics/blocks';
import { unpackRows } from '../numerics/packing';
import { PACKED_ROW_ELEMENTS, packedSize, type OperandFormat } from '../numerics/schemes';
import { whole, type Gpu } from '../gpu/gpu';
import { Executor, type ResolvedCommand } from './executor';
import type { KernelName } from './kernels';
import { stride } from './program';

/** u32 words of the tensor record: amax, non-finite count, S_enc, S_dec, ... (shaders/lib/nvfp4.wgsl). */
const RECORD_WORDS = 8;
/** Elements of a piece: some milliseconds of a slow device. */
const PIECE_ELEMENTS = 1 << 18;
/** Integer operations an element costs, for the submission budget. */
const OPERATIONS = 60;
const TILE_ROWS = 16;

export interface QuantizedTensor {
  /** [rows, cols], one E2M1 code an element. */
  readonly codes: Uint8Array<ArrayBuffer>;
  /** [R, C] E4M3 codes, one a block. */
  readonly scales: Uint8Array<ArrayBuffer>;
  readonly grid: { readonly rows: number; readonly cols: number };
  /** FP32; NaN elements ignored, Inf not. */
  readonly amax: number;
  /** [rows, cols], fl(q * fl(fl(s * amax) * fl(1/2688))). */
  readonly dequantized: Float32Array<ArrayBuffer>;
  readonly nonFinite: number;
}

interface Piece {
  readonly row: number;
  readonly col: number;
  readonly rows: number;
  readonly cols: number;
}

/** [rows, cols] -> pieces whose corners are corners of tiles and of scale words. `limit`: elements of a piece, about. */
function pieces(rows: number, cols: number, limit: number): Piece[] {
  const step = (n: number, quantum: number): number => Math.max(quantum, Math.floor(n / quantum) * quantum);
  const wide = Math.min(cols, step(limit / Math.min(rows, TILE_ROWS), PACKED_ROW_ELEMENTS));
  const high = Math.min(rows, step(limit / wide, TILE_ROWS));
  const found: Piece[] = [];
  for (let row = 0; row < rows; row += high) {
    for (let col = 0; col < cols; col += wide) found.push({ row, col, rows: Math.min(high, rows - row), cols: Math.min(wide, cols - col) });
  }
  return found;
}

/**
 * x [rows, cols] row-major -> its NVFP4 form, blocks along the last axis. operand: a row of SCHEMES, 1x16 or 16x16.
 * An empty tensor gives empty results and amax 0. Throws E-BUG-03 on a shape that does not fit, E-GPU-02, E-MEM-01.
 */
export async function quantizeTensor(gpu: Gpu, x: Float32Array, rows: number, cols: number, operand: OperandFormat, pieceElements = PIECE_ELEMENTS): Promise<QuantizedTensor> {
  if (x.length !== rows * cols) throw new BendscopeError('E-BUG-03', `quantizeTensor: expected ${rows}x${cols} elements, got ${x.length}`);
  const grid = blockGrid(rows, cols, operand.block);
  const result = { codes: new Uint8Array(x.length), scales: new Uint8Array(grid.rows * grid.cols), grid, dequantized: new Float32Array(x.length) };
  if (x.length === 0) return { ...result, amax: 0, nonFinite: 0 };

  const parts = pieces(rows, cols, pieceElements);
  const [largest] = parts;
  if (!largest) throw new BendscopeError('E-BUG-03', 'quantizeTensor: a tensor without pieces');
  const largestSize = packedSize(operand, largest.rows, largest.cols);
  const bytes = {
    source: 4 * largest.rows * stride(largest.cols),
    record: 4 * RECORD_WORDS,
    scales: 4 * largestSize.scaleWords,
    multipliers: 16 * largestSize.scaleWords,
    codes: 4 * largestSize.codeWords,
    decoded: 4 * largest.rows * stride(largest.cols),
  };
  const buffers = new Map<string, GPUBuffer>();
  const executor = new Executor(gpu);
  try {
    for (const [name, size] of Object.entries(bytes)) buffers.set(name, gpu.createBuffer(`quantize/${name}`, size));
    const buffer = (name: keyof typeof bytes): GPUBuffer => {
      const found = buffers.get(name);
      if (!found) throw new BendscopeError('E-BUG-03', `quantizeTensor: no buffer ${name}`);
      return found;
    };
    const command = (kernel: KernelName, constants: Record<string, number>, params: number[], bindings: (keyof typeof bytes)[], invocations: number, elements: number): ResolvedCommand => ({
      label: `${kernel}/quantize`,
      dispatch: { kernel, constants, params, bindings: [], invocations, flops: OPERATIONS * elements },
      slices: bindings.map((name) => whole(buffer(name))),
    });
    const load = (piece: Piece): void => gpu.write(buffer('source'), padded(x, cols, piece));

    for (const piece of parts) {
      load(piece);
      const words = piece.rows * stride(piece.cols);
      const visitors = Math.min(words, 4096);
      await executor.run([command('amax', { SRC_FMT: 0 }, [words, visitors], ['source', 'record'], visitors, words)]);
    }
    await executor.run([command('nvfp4_tensor_scales', {}, [0], ['record'], 1, 1)]);

    const TILE = operand.block[0] === TILE_ROWS ? 1 : 0;
    const natural = { SRC_FMT: 0, TRANSPOSED: 0, TILE };
    for (const piece of parts) {
      if (parts.length > 1) load(piece);
      const size = packedSize(operand, piece.rows, piece.cols);
      const elements = piece.rows * piece.cols;
      const quads = stride(piece.cols) / 4;
      const shape = [piece.rows, piece.cols, stride(piece.cols), size.scaleRowWords];
      await executor.run([
        command('nvfp4_scales', natural, shape, ['source', 'record', 'scales', 'multipliers'], size.scaleWords, elements),
        command('quantize_nvfp4', natural, shape, ['source', 'multipliers', 'codes'], size.codeWords, elements),
        command('dequantize_nvfp4', { TILE, MODE: 1 }, [piece.rows, piece.cols, quads, size.scaleRowWords], ['codes', 'scales', 'record', 'decoded'], piece.rows * quads, elements),
      ]);
      const words = async (name: keyof typeof bytes, count: number): Promise<Uint32Array> => new Uint32Array(await gpu.read(buffer(name), 4 * count));
      const blocks = blockGrid(piece.rows, piece.cols, operand.block);
      const codes = unpackRows(await words('codes', size.codeWords), piece.rows, piece.cols, 4, size.codeRowWords);
      const scales = unpackRows(await words('scales', size.scaleWords), blocks.rows, blocks.cols, 8, size.scaleRowWords);
      const decoded = new Float32Array((await words('decoded', piece.rows * stride(piece.cols))).buffer);
      for (let r = 0; r < piece.rows; r++) {
        const at = (piece.row + r) * cols + piece.col;
        result.codes.set(codes.subarray(r * piece.cols, (r + 1) * piece.cols), at);
        result.dequantized.set(decoded.subarray(r * stride(piece.cols), r * stride(piece.cols) + piece.cols), at);
      }
      for (let r = 0; r < blocks.rows; r++) {
        result.scales.set(scales.subarray(r * blocks.cols, (r + 1) * blocks.cols), (piece.row / operand.block[0] + r) * grid.cols + piece.col / operand.block[1]);
      }
    }
    const record = await gpu.read(buffer('record'), bytes.record);
    return { ...result, amax: new Float32Array(record)[0] ?? 0, nonFinite: new Uint32Array(record)[1] ?? 0 };
  } finally {
    executor.dispose();
    for (const found of buffers.values()) gpu.destroyBuffer(found);
  }
}

/** A piece of x [.., cols] as the device stores it: rows padded with zeros to whole quads. */
function padded(x: Float32Array, cols: number, piece: Piece): Float32Array {
  const width = stride(piece.cols);
  const out = new Float32Array(piece.rows * width);
  for (let r = 0; r < piece.rows; r++) {
    const from = (piece.row + r) * cols + piece.col;
    out.set(x.subarray(from, from + piece.cols), r * width);
  }
  return out;
}
