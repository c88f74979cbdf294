/**
 * SCHEMES: a recipe a row: how people call it, which sites it lowers, its switches, and what it stores for each operand;
 * and SCALE_RULES: how a scale comes from an amax. Oracle, kernels, storage sizes, chooser, command line and file formats
 * follow from the rows; a new recipe is a new row. Source: formats.md 1.6 (packing), 2.0 to 2.7 (recipes, storage per
 * element), 3 (operands), method.md 4.
 */
import { FORMATS, type FormatName, type NumberFormat } from './formats';

/** [rows, cols] of one block of an operand [R, L] whose contracted axis L is last. */
export type BlockShape = readonly [number, number];
/** What a GEMM multiplies: activations, weights, arriving gradients. */
export type OperandRole = 'x' | 'w' | 'dy';

export interface ScaleRule {
  /** The number kernels know the rule by. */
  readonly code: number;
  /** How a block's scale is stored; null: there are no blocks. */
  readonly stored: FormatName | 'F32' | null;
  /** Whether there is an FP32 scale for the whole tensor: current scaling, or NVFP4's second level. */
  readonly perTensor: boolean;
}

export const SCALE_RULES = {
  /** BF16: no scale. */
  none: { code: 0, stored: null, perTensor: false },
  /** fl(max / amax) of the tensor, current scaling (formats.md 2.1). */
  tensor: { code: 1, stored: null, perTensor: true },
  /** The same rounded down to a power of two (2.1 step 5). */
  'tensor-pow2': { code: 2, stored: null, perTensor: true },
  /** The formula of 2.1 a block, FP32 scales: in the goldens, in no recipe (2.3). */
  'block-f32': { code: 3, stored: 'F32', perTensor: false },
  /** The same rounded down to a power of two; stored as one E8M0 byte (1.6, 2.3). */
  'block-pow2': { code: 4, stored: 'E8M0', perTensor: false },
  /** MX, smallest power of two that holds the block: TransformerEngine's RCEIL (2.4). */
  'mx-up': { code: 5, stored: 'E8M0', perTensor: false },
  /** MX, floor(log2 amax) - emax: the OCP text (2.4). */
  'mx-floor': { code: 6, stored: 'E8M0', perTensor: false },
  /** E4M3 a block, FP32 a tensor (2.6). */
  nvfp4: { code: 7, stored: 'E4M3', perTensor: true },
} as const satisfies Record<string, ScaleRule>;

export type ScaleRuleName = keyof typeof SCALE_RULES;

/** How one operand is stored. Block [1, 1] where the rule has no blocks. */
export interface OperandFormat {
  readonly element: FormatName;
  readonly scale: ScaleRuleName;
  readonly block: BlockShape;
}

/** The switches an operand's form depends on; graph/policy PolicyOptions is one. */
export interface OperandOptions {
  readonly weights1d?: boolean;
  readonly pow2?: boolean;
  readonly floor?: boolean;
  readonly e5m2Grad?: boolean;
  readonly out?: 'tensor' | 'block' | 'mx';
}

/** Names of switches: those that operands depend on, and those that a GEMM pass applies to them before (recipes.ts). */
export type SwitchName = keyof OperandOptions | 'rht' | 'sr' | 'seed';

export interface Scheme {
  readonly name: string;
  /** `pass`: the three GEMMs of every block linear run in it; `out`: the output of every op group is kept in it. */
  readonly kind: 'pass' | 'out';
  readonly label: string;
  /** One sentence for the chooser. */
  readonly sentence: string;
  readonly switches: readonly SwitchName[];
  /** The stored form of an operand under switches. */
  operand(role: OperandRole, options: OperandOptions): OperandFormat;
}

const WHOLE: BlockShape = [1, 1];
const operand = (element: FormatName, scale: ScaleRuleName, block: BlockShape = WHOLE): OperandFormat => ({ element, scale, block });

/** The high-precision operand: BF16 in its natural order, no scale. */
export const BF16_OPERAND: OperandFormat = operand('BF16', 'none');

/** In the order in which the page and the command line list them. */
export const SCHEMES = {
  nvfp4: {
    name: 'nvfp4', label: 'NVFP4', kind: 'pass', switches: ['weights1d', 'rht', 'sr', 'seed'],
    sentence: 'E2M1 elements in blocks of 16 with an E4M3 scale a block and an FP32 scale a tensor; weights in 16x16 tiles.',
    operand: (role, { weights1d }) => operand('E2M1', 'nvfp4', role === 'w' && !weights1d ? [16, 16] : [1, 16]),
  },
  mxfp4: {
    name: 'mxfp4', label: 'MXFP4', kind: 'pass', switches: ['floor'],
    sentence: 'E2M1 elements in blocks of 32 with a power-of-two scale a block.',
    operand: (_, { floor }) => operand('E2M1', floor ? 'mx-floor' : 'mx-up', [1, 32]),
  },
  mxfp8: {
    name: 'mxfp8', label: 'MXFP8', kind: 'pass', switches: ['floor', 'e5m2Grad'],
    sentence: 'E4M3 elements in blocks of 32 with a power-of-two scale a block.',
    operand: (role, { floor, e5m2Grad }) => operand(role === 'dy' && e5m2Grad ? 'E5M2' : 'E4M3', floor ? 'mx-floor' : 'mx-up', [1, 32]),
  },
  'fp8-block': {
    name: 'fp8-block', label: 'FP8 blocks', kind: 'pass', switches: [],
    sentence: 'E4M3 elements in blocks of 128, weights in 128x128 tiles, with a power-of-two scale a block.',
    operand: (role) => operand('E4M3', 'block-pow2', role === 'w' ? [128, 128] : [1, 128]),
  },
  fp8: {
    name: 'fp8', label: 'FP8 per tensor', kind: 'pass', switches: ['pow2'],
    sentence: 'E4M3 activations and weights, E5M2 gradients, each with one FP32 scale from its own largest value.',
    operand: (role, { pow2 }) => operand(role === 'dy' ? 'E5M2' : 'E4M3', pow2 ? 'tensor-pow2' : 'tensor'),
  },
  // Of an op group: x is its stored output, w its GEMM weight, dy its arriving gradient (formats.md 2.0, row `fp8`).
  'fp8-out': {
    name: 'fp8-out', label: 'FP8 op groups', kind: 'out', switches: ['out', 'pow2'],
    sentence: 'The output of an op group kept as E4M3 in the activation cache, its arriving gradient E5M2, its GEMM weight E4M3.',
    operand: (role, { out = 'tensor', pow2 }) => {
      const element = role === 'dy' ? 'E5M2' : 'E4M3';
      if (out === 'block') return operand(element, 'block-pow2', role === 'w' ? [128, 128] : [1, 128]);
      if (out === 'mx') return operand(element, 'mx-up', [1, 32]);
      return operand(element, pow2 ? 'tensor-pow2' : 'tensor');
    },
  },
} as const satisfies Record<string, Scheme>;

export type SchemeName = keyof typeof SCHEMES;
/** Names of the rows of a kind. */
export type SchemeOfKind<Kind extends Scheme['kind']> = { [N in SchemeName]: (typeof SCHEMES)[N]['kind'] extends Kind ? N : never }[SchemeName];

/** The stored form of one operand of a pass; a scheme of null is high precision. */
export function operandFormat(scheme: SchemeName | null, role: OperandRole, options: OperandOptions = {}): OperandFormat {
  if (scheme === null) return BF16_OPERAND;
  const row: Scheme = SCHEMES[scheme];
  return row.operand(role, options);
}

/** Bits of a stored block scale; 0 without blocks. */
export function scaleBits({ scale }: OperandFormat): number {
  const stored: ScaleRule['stored'] = SCALE_RULES[scale].stored;
  return stored === null ? 0 : stored === 'F32' ? 32 : FORMATS[stored].bits;
}

/** Stored bits an element, block scales included, tensor scale and padding not: BF16 16, NVFP4 4.5 and 4.03125. */
export function bitsPerElement(format: OperandFormat): number {
  return FORMATS[format.element].bits + scaleBits(format) / (format.block[0] * format.block[1]);
}

/** Elements a u32 holds: BF16 2, 8-bit formats 4, E2M1 8; formats between keep a byte each (formats.md 1.6). */
export function elementsPerWord(format: NumberFormat): number {
  return format.bits === 16 ? 2 : format.bits <= 4 ? 8 : 4;
}

/** Rows of a packed operand with block scales are padded to this many elements. */
export const PACKED_ROW_ELEMENTS = 64;
/** Rows of a tensor without block scales are padded to whole quads. */
const PLAIN_ROW_ELEMENTS = 4;

export interface PackedSize {
  /** u32 words of a row of codes, of a row of scales, and in total. */
  readonly codeRowWords: number;
  readonly scaleRowWords: number;
  /** Rows of scales: R, or ceil(R / height) for tiles; 0 without blocks. */
  readonly scaleRows: number;
  readonly codeWords: number;
  readonly scaleWords: number;
  readonly bytes: number;
}

/** Device storage of an operand [R, L], padding included; a row of codes and a row of scales each start at a word. */
export function packedSize(format: OperandFormat, rows: number, cols: number): PackedSize {
  const bits = scaleBits(format);
  const quantum = bits > 0 ? PACKED_ROW_ELEMENTS : PLAIN_ROW_ELEMENTS;
  const paddedCols = Math.ceil(cols / quantum) * quantum;
  const codeRowWords = Math.ceil(paddedCols / elementsPerWord(FORMATS[format.element]));
  const scaleRowWords = bits > 0 ? Math.ceil((Math.ceil(paddedCols / format.block[1]) * bits) / 32) : 0;
  const scaleRows = bits > 0 ? Math.ceil(rows / format.block[0]) : 0;
  const codeWords = rows * codeRowWords;
  const scaleWords = scaleRows * scaleRowWords;
  return { codeRowWords, scaleRowWords, scaleRows, codeWords, scaleWords, bytes: 4 * (codeWords + scaleWords) };
}
