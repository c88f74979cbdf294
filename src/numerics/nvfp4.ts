/**
 * NVFP4: E2M1 elements, one E4M3 scale a block (1x16 or 16x16), one FP32 scale a tensor, in TransformerEngine's order
 * of operations. Each Math.fround is one FP32 rounding; quotients are true divisions, because a reciprocal changes
 * codes wherever data sit on ties. The oracle of shaders/kernels/quantize_nvfp4.wgsl. Source: formats.md 2.6, 2.7, 1.5.
 */
import { assert, BendscopeError } from '../base/errors';
import { blockAmax, blockGrid, tensorAmax } from './blocks';
import { countNonFinite, F32_MAX } from './float-bits';
import { FORMATS } from './formats';
import { decode, decodeTable, encode } from './minifloat';
import { packRows, unpackRows } from './packing';
import { packedSize, type BlockShape, type OperandFormat } from './schemes';

const { fround } = Math;
const { E2M1, E4M3 } = FORMATS;

/** Largest q * s of a block, 6 * 448: what the tensor amax is mapped to. */
export const NVFP4_RANGE = decode(E2M1, E2M1.maxCode) * decode(E4M3, E4M3.maxCode);
const SIXTH = fround(1 / decode(E2M1, E2M1.maxCode));
const RANGE_INVERSE = fround(1 / NVFP4_RANGE);

export interface Nvfp4TensorScales {
  readonly amax: number;
  /** S_enc and S_dec. */
  readonly encode: number;
  readonly decode: number;
}

/** Tensor amax -> S_enc = min(fl(2688 / amax), FLT_MAX), S_dec = fl(1 / S_enc); S_enc is 1 for amax 0 or Inf. */
export function nvfp4TensorScales(amax: number): Nvfp4TensorScales {
  const quotient = Math.min(fround(NVFP4_RANGE / amax), F32_MAX);
  const encodeScale = amax === 0 || quotient === 0 ? 1 : quotient;
  return { amax, encode: encodeScale, decode: fround(1 / encodeScale) };
}

/** Block amax -> E4M3 code of min(fl(amax * fl(S_enc * fl(1/6))), FLT_MAX); no lower clamp, so 0x00 happens. */
export function nvfp4BlockScale(amax: number, encodeScale: number): number {
  return encode(E4M3, Math.min(fround(amax * fround(encodeScale * SIXTH)), F32_MAX));
}

/** Block scale code -> factor before the cast, min(fl(1 / fl(s * S_dec)), FLT_MAX); FLT_MAX where s is 0. */
export function nvfp4Multiplier(scale: number, decodeScale: number): number {
  return Math.min(fround(1 / fround(decode(E4M3, scale) * decodeScale)), F32_MAX);
}

/** Factor after the decode, fl(fl(s * amax) * fl(1/2688)); Inf for amax above 7.6e35. */
export function nvfp4DecodedScale(scale: number, amax: number): number {
  return fround(fround(decode(E4M3, scale) * amax) * RANGE_INVERSE);
}

/** What a GEMM on q*s pairs is multiplied by once: fl(fl(amaxA * amaxB) / 7225344). */
export function nvfp4Alpha(amaxA: number, amaxB: number): number {
  return fround(fround(amaxA * amaxB) / (NVFP4_RANGE * NVFP4_RANGE));
}

/** One quantized copy of x [rows, cols]; R, C = blocks along each axis. */
export interface Nvfp4Tensor {
  readonly rows: number;
  readonly cols: number;
  readonly block: BlockShape;
  /** [rows, cols], one E2M1 code an element. */
  readonly codes: Uint8Array;
  /** [R, C], E4M3 codes, and the factors before the cast. */
  readonly scales: Uint8Array;
  readonly multipliers: Float32Array;
  readonly tensor: Nvfp4TensorScales;
  /** [rows, cols], fl(q * fl(fl(s * amax) * fl(1/2688))). */
  readonly dequantized: Float32Array;
  /** NaN and Inf elements of x; a site whose operand has any is a failed result. */
  readonly nonFinite: number;
}

/**
 * x [rows, cols], row-major FP32 -> NVFP4 with blocks along the last axis; block [1, 16] for x and dy, [16, 16] for
 * weights. `amax`: the tensor amax, measured from x unless given (a stale one is legal). Throws E-BUG-03 on a shape
 * that does not fit.
 */
export function quantizeNvfp4(x: Float32Array, rows: number, cols: number, block: BlockShape, amax = tensorAmax(x)): Nvfp4Tensor {
  if (x.length !== rows * cols || x.length === 0) {
    throw new BendscopeError('E-BUG-03', `quantizeNvfp4: expected ${rows}x${cols} elements, got ${x.length}`, 'Pass a non-empty matrix with its shape.');
  }
  const tensor = nvfp4TensorScales(amax);
  const grid = blockGrid(rows, cols, block);
  const scales = Uint8Array.from(blockAmax(x, rows, cols, block), (m) => nvfp4BlockScale(m, tensor.encode));
  const multipliers = Float32Array.from(scales, (s) => nvfp4Multiplier(s, tensor.decode));
  const decodedScales = Float32Array.from(scales, (s) => nvfp4DecodedScale(s, amax));
  const values = decodeTable(E2M1);
  const codes = new Uint8Array(x.length);
  const dequantized = new Float32Array(x.length);
  for (let r = 0; r < rows; r++) {
    const first = Math.floor(r / block[0]) * grid.cols;
    for (let c = 0; c < cols; c++) {
      const at = first + Math.floor(c / block[1]);
      const i = r * cols + c;
      const code = encode(E2M1, fround((x[i] ?? 0) * (multipliers[at] ?? 0)));
      codes[i] = code;
      dequantized[i] = (values[code] ?? 0) * (decodedScales[at] ?? 0);
    }
  }
  return { rows, cols, block, codes, scales, multipliers, tensor, dequantized, nonFinite: countNonFinite(x) };
}

/** What a GEMM multiplies: q * s, exact in FP32, [rows, cols]; the tensor scales go into alpha. */
export function nvfp4GemmOperand(quantized: Nvfp4Tensor): Float32Array {
  const { rows, cols, block, codes, scales } = quantized;
  const grid = blockGrid(rows, cols, block);
  const out = new Float32Array(codes.length);
  for (let i = 0; i < out.length; i++) {
    const at = Math.floor(Math.floor(i / cols) / block[0]) * grid.cols + Math.floor((i % cols) / block[1]);
    out[i] = decode(E2M1, codes[i] ?? 0) * decode(E4M3, scales[at] ?? 0);
  }
  return out;
}

export interface PackedNvfp4 {
  readonly codes: Uint32Array;
  readonly scales: Uint32Array;
}

/** The words the device stores: rows padded to 64 elements, four scales a word, a tile's scale once. */
export function packNvfp4(quantized: Nvfp4Tensor): PackedNvfp4 {
  const { rows, cols, block } = quantized;
  const size = packedSize(nvfp4Operand(block), rows, cols);
  return {
    codes: packRows(quantized.codes, rows, cols, E2M1.bits, size.codeRowWords),
    scales: packRows(quantized.scales, size.scaleRows, Math.ceil(cols / block[1]), E4M3.bits, size.scaleRowWords),
  };
}

/** Words -> E2M1 codes [rows, cols] and E4M3 scale codes [R, C]. */
export function unpackNvfp4(packed: PackedNvfp4, rows: number, cols: number, block: BlockShape): { codes: Uint8Array; scales: Uint8Array } {
  const size = packedSize(nvfp4Operand(block), rows, cols);
  return {
    codes: Uint8Array.from(unpackRows(packed.codes, rows, cols, E2M1.bits, size.codeRowWords)),
    scales: Uint8Array.from(unpackRows(packed.scales, size.scaleRows, Math.ceil(cols / block[1]), E4M3.bits, size.scaleRowWords)),
  };
}

function nvfp4Operand(block: BlockShape): OperandFormat {
  assert(block[1] === 16 && (block[0] === 1 || block[0] === 16), `NVFP4 blocks are 1x16 or 16x16, got ${block.join('x')}`);
  return { element: 'E2M1', blockScale: 'E4M3', block };
}
