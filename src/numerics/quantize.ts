/**
 * quantize: a matrix -> its stored form under any row of SCHEMES, and what a GEMM or a reader makes of it. The oracle of
 * the quantizer kernels: bit for bit, in the order of operations of formats.md 2. Blocks lie along the last axis; ragged
 * ones hold fewer elements. Storage: formats.md 1.6.
 */
import { assert, BendscopeError } from '../base/errors';
import { blockAmax, blockGrid, tensorAmax } from './blocks';
import { bitsView, countNonFinite, F32_MAX } from './float-bits';
import { FORMATS } from './formats';
import { decode, decodeTable, encodeBits } from './minifloat';
import { nvfp4Alpha } from './nvfp4';
import { packRows, unpackRows } from './packing';
import { elementOf, largest, RULE_ARITHMETIC, type RuleArithmetic, type TensorScales } from './scale-rules';
import { elementsPerWord, packedSize, SCALE_RULES, scaleBits, type BlockShape, type OperandFormat } from './schemes';
import { encodeE2m1Stochastic } from './stochastic';

export type { TensorScales } from './scale-rules';

/** One quantized copy of x [rows, cols]; [R, C] = its blocks (formats.md 1.6). */
export interface Quantized {
  readonly rows: number;
  readonly cols: number;
  readonly format: OperandFormat;
  /** [rows, cols], one code an element. */
  readonly codes: Uint8Array;
  /** [R, C] stored block scales: E8M0 or E4M3 codes, or FP32 bits (block-f32); empty without blocks. */
  readonly scales: Uint8Array | Uint32Array;
  /** [R, C] FP32 factors before the cast; one for the tensor without blocks. */
  readonly multipliers: Float32Array;
  /** encode and decode are 1 where the rule has no scale for the whole tensor. */
  readonly tensor: TensorScales;
  /** [rows, cols], FP32: fl(q * factor after the cast). */
  readonly dequantized: Float32Array;
  /** NaN and Inf elements of x; a site whose operand has any is a failed result. */
  readonly nonFinite: number;
}

export interface QuantizeOptions {
  /** The tensor amax, measured from x unless given; a stale one is legal. Without effect where the rule has no tensor scale. */
  readonly amax?: number;
  /** [rows, cols] random bytes turn stochastic rounding on (E2M1 only, formats.md 2.8). */
  readonly randomBytes?: Uint8Array;
  /** The type x came from: its largest value replaces a quotient that overflows in a block; bf16 unless given. */
  readonly inputDtype?: 'bf16' | 'fp32';
}

const INPUT_MAX = { bf16: largest(FORMATS.BF16), fp32: F32_MAX } as const;

function arithmeticOf({ scale, element }: OperandFormat): RuleArithmetic {
  assert(scale !== 'none', `quantize: expected a scheme with a scale, got ${element} without one`);
  return RULE_ARITHMETIC[scale];
}

/** A rule without blocks has one block, the tensor. */
function shapeOf(format: OperandFormat, rows: number, cols: number): BlockShape {
  return SCALE_RULES[format.scale].stored === null ? [rows, cols] : format.block;
}

/** Calls back with every element's index and that of its block, in row order. */
function eachElement(rows: number, cols: number, block: BlockShape, visit: (i: number, at: number) => void): void {
  const grid = blockGrid(rows, cols, block);
  for (let r = 0; r < rows; r++) {
    const first = Math.floor(r / block[0]) * grid.cols;
    for (let c = 0; c < cols; c++) visit(r * cols + c, first + Math.floor(c / block[1]));
  }
}

/**
 * x [rows, cols], row-major FP32 -> its stored form, blocks along the last axis. Throws E-BUG-03 on a shape that does not
 * fit, E-BUG-01 for BF16 (which is not quantized) or random bytes of another format than E2M1.
 */
export function quantize(x: Float32Array, rows: number, cols: number, format: OperandFormat, options: QuantizeOptions = {}): Quantized {
  if (x.length !== rows * cols || x.length === 0) {
    throw new BendscopeError('E-BUG-03', `quantize: expected ${rows}x${cols} elements, got ${x.length}`, 'Pass a non-empty matrix with its shape.');
  }
  const { amax = tensorAmax(x), randomBytes, inputDtype = 'bf16' } = options;
  assert(!randomBytes || (format.element === 'E2M1' && randomBytes.length === x.length), `quantize: expected ${x.length} random bytes for E2M1, got ${randomBytes?.length ?? 0} for ${format.element}`);
  const rule = arithmeticOf(format);
  const element = elementOf(format);
  const block = shapeOf(format, rows, cols);
  const tensor = rule.tensor(amax, element);
  const blocks = Array.from(blockAmax(x, rows, cols, block), (m) => rule.block(m, element, tensor, INPUT_MAX[inputDtype]));
  const multipliers = Float32Array.from(blocks, (b) => b.multiplier);
  const decoded = Float32Array.from(blocks, (b) => rule.decoded(b.stored, tensor));
  const bits = scaleBits(format);
  const stored = bits === 0 ? [] : blocks.map((b) => b.stored);
  const scales = bits === 32 ? Uint32Array.from(stored) : Uint8Array.from(stored);

  const values = decodeTable(element);
  const codes = new Uint8Array(x.length);
  const dequantized = new Float32Array(x.length);
  const scaled = new Float32Array(1);
  const scaledBits = bitsView(scaled);
  eachElement(rows, cols, block, (i, at) => {
    scaled[0] = (x[i] ?? 0) * (multipliers[at] ?? 0);
    const u = scaledBits[0] ?? 0;
    const code = randomBytes ? encodeE2m1Stochastic(u, randomBytes[i] ?? 0) : encodeBits(element, u);
    codes[i] = code;
    dequantized[i] = (values[code] ?? 0) * (decoded[at] ?? 0);
  });
  return { rows, cols, format, codes, scales, multipliers, tensor, dequantized, nonFinite: countNonFinite(x) };
}

/** What a GEMM multiplies, [rows, cols] FP32: q under a tensor scale, q * s under block scales; the rest is in gemmAlpha. */
export function gemmOperand({ rows, cols, format, codes, scales }: Quantized): Float32Array {
  const rule = arithmeticOf(format);
  const values = decodeTable(elementOf(format));
  const factors = scales.length === 0 ? Float32Array.of(rule.operand(0)) : Float32Array.from(scales, (s) => rule.operand(s));
  const out = new Float32Array(codes.length);
  eachElement(rows, cols, shapeOf(format, rows, cols), (i, at) => {
    out[i] = (values[codes[i] ?? 0] ?? 0) * (factors[at] ?? 0);
  });
  return out;
}

/**
 * What a GEMM on two gemmOperands is multiplied by once: fl(inv_A * inv_B) under tensor scales, fl(fl(amaxA * amaxB) /
 * 7225344) under NVFP4, else 1 (formats.md 1.6). Throws E-BUG-01 for NVFP4 with another rule: no recipe has that.
 */
export function gemmAlpha(a: Quantized, b: Quantized): number {
  const both = [a, b].filter((q) => q.format.scale === 'nvfp4').length;
  assert(both !== 1, `gemmAlpha: expected operands of one family, got ${a.format.scale} and ${b.format.scale}`);
  return both === 2 ? nvfp4Alpha(a.tensor.amax, b.tensor.amax) : Math.fround(a.tensor.decode * b.tensor.decode);
}

/** What readers of a low op group see: the decoded values rounded to BF16, [rows, cols] FP32 (method.md 4). */
export function outValues({ dequantized }: Quantized): Float32Array {
  const bits = bitsView(dequantized);
  return Float32Array.from(bits, (u) => decode(FORMATS.BF16, encodeBits(FORMATS.BF16, u)));
}

export interface PackedOperand {
  readonly codes: Uint32Array;
  readonly scales: Uint32Array;
}

/** The words the device stores (packedSize): rows of codes and of scales padded with zeros, a tile's scale once. */
export function packQuantized({ rows, cols, format, codes, scales }: Quantized): PackedOperand {
  const size = packedSize(format, rows, cols);
  const bits = scaleBits(format);
  return {
    codes: packRows(codes, rows, cols, 32 / elementsPerWord(FORMATS[format.element]), size.codeRowWords),
    scales: bits === 0 ? new Uint32Array() : packRows(scales, size.scaleRows, Math.ceil(cols / format.block[1]), bits, size.scaleRowWords),
  };
}

/** Words -> codes [rows, cols] and block scales [R, C]; the inverse of packQuantized. */
export function unpackQuantized(packed: PackedOperand, rows: number, cols: number, format: OperandFormat): { codes: Uint8Array; scales: Uint8Array | Uint32Array } {
  const size = packedSize(format, rows, cols);
  const bits = scaleBits(format);
  const scales = bits === 0 ? new Uint32Array() : unpackRows(packed.scales, size.scaleRows, Math.ceil(cols / format.block[1]), bits, size.scaleRowWords);
  return {
    codes: Uint8Array.from(unpackRows(packed.codes, rows, cols, 32 / elementsPerWord(FORMATS[format.element]), size.codeRowWords)),
    scales: bits === 32 ? scales : Uint8Array.from(scales),
  };
}
