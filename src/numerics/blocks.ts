/**
 * Blocks of a matrix: amax as an integer maximum of magnitude bits, so exact and free of order. NaN elements are
 * ignored, Inf is not. Blocks at the ragged edge hold fewer elements. Source: formats.md 2.3, engine.md 3.3 rule 2.
 */
import { bitsView, F32_INF_BITS } from './float-bits';
import type { BlockShape } from './schemes';

export interface BlockGrid {
  readonly rows: number;
  readonly cols: number;
}

/** How many blocks cover [rows, cols]. */
export function blockGrid(rows: number, cols: number, block: BlockShape): BlockGrid {
  return { rows: Math.ceil(rows / block[0]), cols: Math.ceil(cols / block[1]) };
}

/** x [rows, cols] -> FP32 amax of every block, [R, C] in row order. */
export function blockAmax(x: Float32Array, rows: number, cols: number, block: BlockShape): Float32Array {
  const grid = blockGrid(rows, cols, block);
  const amax = new Float32Array(grid.rows * grid.cols);
  const amaxBits = bitsView(amax);
  const bits = bitsView(x);
  for (let r = 0; r < rows; r++) {
    const first = Math.floor(r / block[0]) * grid.cols;
    for (let c = 0; c < cols; c++) {
      const magnitude = (bits[r * cols + c] ?? 0) & 0x7fffffff;
      const at = first + Math.floor(c / block[1]);
      if (magnitude <= F32_INF_BITS && magnitude > (amaxBits[at] ?? 0)) amaxBits[at] = magnitude;
    }
  }
  return amax;
}

/** FP32 amax of a whole tensor, NaN ignored. */
export function tensorAmax(x: Float32Array): number {
  return blockAmax(x, 1, x.length, [1, Math.max(x.length, 1)])[0] ?? 0;
}
