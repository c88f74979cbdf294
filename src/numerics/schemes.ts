/**
 * SCHEMES: what a low-precision GEMM pass stores for each operand, one row a scheme. Storage sizes and effective bits
 * follow from the row. Source: formats.md 1.6 (packing), 2.0 (recipes, storage per element), 3 (operands).
 */
import { FORMATS, type FormatName, type NumberFormat } from './formats';

/** [rows, cols] of one block of an operand [R, L] whose contracted axis L is last. */
export type BlockShape = readonly [number, number];
/** What a GEMM multiplies: activations, weights, arriving gradients. */
export type OperandRole = 'x' | 'w' | 'dy';

/** How one operand is stored. Without a block scale there is no tensor scale either. */
export interface OperandFormat {
  readonly element: FormatName;
  readonly blockScale: FormatName | null;
  readonly block: BlockShape;
}

export interface Scheme {
  readonly name: string;
  readonly operands: Readonly<Record<OperandRole, OperandFormat>>;
  /** The weight operand under the option `weights1d`. */
  readonly weights1d: OperandFormat;
}

const NVFP4_1D: OperandFormat = { element: 'E2M1', blockScale: 'E4M3', block: [1, 16] };
const NVFP4_2D: OperandFormat = { element: 'E2M1', blockScale: 'E4M3', block: [16, 16] };

/** The high-precision operand: BF16 in its natural order, no scale. */
export const BF16_OPERAND: OperandFormat = { element: 'BF16', blockScale: null, block: [1, 1] };

export const SCHEMES = {
  nvfp4: { name: 'nvfp4', operands: { x: NVFP4_1D, w: NVFP4_2D, dy: NVFP4_1D }, weights1d: NVFP4_1D },
} as const satisfies Record<string, Scheme>;

export type SchemeName = keyof typeof SCHEMES;

/** The stored form of one operand of a pass; a scheme of null is high precision. */
export function operandFormat(scheme: SchemeName | null, role: OperandRole, weights1d = false): OperandFormat {
  if (scheme === null) return BF16_OPERAND;
  const row: Scheme = SCHEMES[scheme];
  return role === 'w' && weights1d ? row.weights1d : row.operands[role];
}

/** Stored bits an element, block scales included, tensor scale and padding not: BF16 16, NVFP4 4.5 and 4.03125. */
export function bitsPerElement(operand: OperandFormat): number {
  const scaleBits = operand.blockScale === null ? 0 : FORMATS[operand.blockScale].bits;
  return FORMATS[operand.element].bits + scaleBits / (operand.block[0] * operand.block[1]);
}

/** Elements a u32 holds: BF16 2, 8-bit formats 4, E2M1 8. */
export function elementsPerWord(format: NumberFormat): number {
  return 32 / format.bits;
}

/** Rows of a packed operand with block scales are padded to this many elements: one word of four 1x16 scales. */
export const PACKED_ROW_ELEMENTS = 64;
/** Rows of a tensor without block scales are padded to whole quads. */
const PLAIN_ROW_ELEMENTS = 4;

export interface PackedSize {
  /** u32 words of a row of codes, of a row of scales, and in total. */
  readonly codeRowWords: number;
  readonly scaleRowWords: number;
  /** Rows of scales: R, or ceil(R / 16) for 16x16 tiles. */
  readonly scaleRows: number;
  readonly codeWords: number;
  readonly scaleWords: number;
  readonly bytes: number;
}

/** Device storage of an operand [R, L], padding included. */
export function packedSize(operand: OperandFormat, rows: number, cols: number): PackedSize {
  const scale = operand.blockScale === null ? null : FORMATS[operand.blockScale];
  const quantum = scale ? PACKED_ROW_ELEMENTS : PLAIN_ROW_ELEMENTS;
  const paddedCols = Math.ceil(cols / quantum) * quantum;
  const codeRowWords = paddedCols / elementsPerWord(FORMATS[operand.element]);
  const scaleRowWords = scale ? paddedCols / operand.block[1] / elementsPerWord(scale) : 0;
  const scaleRows = scale ? Math.ceil(rows / operand.block[0]) : 0;
  const codeWords = rows * codeRowWords;
  const scaleWords = scaleRows * scaleRowWords;
  return { codeRowWords, scaleRowWords, scaleRows, codeWords, scaleWords, bytes: 4 * (codeWords + scaleWords) };
}
