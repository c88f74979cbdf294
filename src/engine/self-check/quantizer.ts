/**
 * The NVFP4 quantizer on the device, bit for bit against src/numerics: amax and non-finite count, tensor scales, block
 * scales, codes, both decodes and alpha. The tensor holds what goes wrong first: zero and underflowing blocks, an
 * outlier, a ragged tail of one element (ux.md 7, reports 2, 5, 6).
 */
import { bitsOf, bitsView, fromBits } from '../../numerics/float-bits';
import { nvfp4Alpha, nvfp4TensorScales, packNvfp4, quantizeNvfp4, type Nvfp4Tensor, type Nvfp4TensorScales } from '../../numerics/nvfp4';
import { packRows } from '../../numerics/packing';
import { packedSize, SCHEMES, type OperandFormat } from '../../numerics/schemes';
import type { Gpu } from '../../gpu/gpu';
import { packBf16, padRows } from '../parameters';
import { stride } from '../program';
import { kernelOutputs, kernelWords, type Check } from './check';
import { expectWords } from './compare';
import { bf16Values } from './inputs';

/** u32 words of the tensor record (lib/nvfp4). */
export const TENSOR_WORDS = 8;
const ROWS = 19;
const COLS = 81;

/** x as the device stores it: BF16 packed x2, or its transpose. */
function source(x: Float32Array, rows: number, cols: number, transposed: boolean): { words: Uint32Array; stride: number } {
  if (!transposed) return { words: packBf16(padRows(x, [rows, cols])), stride: stride(cols) };
  const turned = Float32Array.from({ length: x.length }, (_, i) => x[(i % rows) * cols + Math.floor(i / rows)] ?? 0);
  return { words: packBf16(padRows(turned, [cols, rows])), stride: stride(rows) };
}

export interface DeviceOperand {
  readonly tensor: Uint32Array;
  readonly scales: Uint32Array;
  readonly codes: Uint32Array;
}

/** x [rows, cols] of BF16 values through the quantizer's four kernels. */
export async function quantizeOnDevice(gpu: Gpu, x: Float32Array, rows: number, cols: number, operand: OperandFormat, transposed: boolean): Promise<DeviceOperand> {
  const { words, stride: sourceStride } = source(x, rows, cols, transposed);
  const size = packedSize(operand, rows, cols);
  const constants = { SRC_FMT: 1, TRANSPOSED: transposed ? 1 : 0, TILE: operand.block[0] === 16 ? 1 : 0 };
  const params = Uint32Array.of(rows, cols, sourceStride, size.scaleRowWords);
  const visitors = Math.min(64, words.length);
  const measured = await kernelWords(gpu, 'amax', { SRC_FMT: 1 }, Uint32Array.of(words.length, visitors), [words, 4 * TENSOR_WORDS], visitors);
  const tensor = await kernelWords(gpu, 'nvfp4_tensor_scales', {}, Uint32Array.of(0), [measured], 1);
  const [scales, multipliers] = await kernelOutputs(gpu, 'nvfp4_scales', constants, params, [words, tensor, 4 * size.scaleWords, 16 * size.scaleWords], size.scaleWords);
  const codes = await kernelWords(gpu, 'quantize_nvfp4', constants, params, [words, multipliers, 4 * size.codeWords], size.codeWords);
  return { tensor, scales, codes };
}

/** fl(S_enc * fl(1/6)), the fifth word of the record. */
function encodeSixth(scales: Nvfp4TensorScales): number {
  return Math.fround(scales.encode * Math.fround(1 / 6));
}

/** Fails unless record, scales and codes are the oracle's. -> words compared. */
export function expectOperand(what: string, got: DeviceOperand, expected: Nvfp4Tensor): number {
  const { tensor } = expected;
  const packed = packNvfp4(expected);
  const record = [bitsOf(tensor.amax), expected.nonFinite, ...[tensor.encode, tensor.decode, encodeSixth(tensor)].map(bitsOf)];
  return expectWords(`${what} tensor record`, got.tensor.subarray(0, 5), record)
    + expectWords(`${what} block scales`, got.scales, packed.scales)
    + expectWords(`${what} codes`, got.codes, packed.codes);
}

function hardTensor(): Float32Array {
  const x = bf16Values(ROWS * COLS, 61, 1);
  const place = (r: number, c: number): number => r * COLS + c;
  x.fill(0, place(0, 0), place(0, 16));
  for (let r = 0; r < 16; r++) x.fill(0, place(r, 16), place(r, 32));
  // A block so small that its E4M3 scale is 0, and an outlier: the tensor scale becomes 2, so that a block with amax 3
  // has scale 1 and factor 2, and odd eighths lie halfway between two codes.
  for (let c = 32; c < 48; c++) x[place(2, c)] = 2 ** -20;
  x[place(3, 50)] = 1344;
  x.set([1, 3, 5, 7, 10, 14, 20, 24, -1, -3, -5, -7, -10, -14, -20, -24].map((eighths) => eighths / 8), place(17, 0));
  x[place(18, 80)] = -768;
  x[place(1, 0)] = -0;
  return x;
}

const quantizer = (name: string, operand: OperandFormat): Check => ({
  name,
  run: async ({ gpu }) => {
    let compared = 0;
    const hard = hardTensor();
    compared += expectOperand('natural', await quantizeOnDevice(gpu, hard, ROWS, COLS, operand, false), quantizeNvfp4(hard, ROWS, COLS, operand.block));
    // Scales that no step of the chain can round away.
    const plain = bf16Values(ROWS * COLS, 62, 700);
    const expected = quantizeNvfp4(plain, ROWS, COLS, operand.block);
    const q = await quantizeOnDevice(gpu, plain, ROWS, COLS, operand, true);
    compared += expectOperand('transposed', q, expected);
    // One variant of the decode, because every variant is a pipeline; the GEMM loaders decode for themselves.
    if (operand.block[0] === 16) {
      const quads = Math.ceil(COLS / 4);
      const params = Uint32Array.of(ROWS, COLS, quads, packedSize(operand, ROWS, COLS).scaleRowWords);
      const decoded = await kernelWords(gpu, 'dequantize_nvfp4', { TILE: 1, MODE: 1 }, params, [q.codes, q.scales, q.tensor, 16 * ROWS * quads], ROWS * quads);
      compared += expectWords('decode', decoded, packRows(bitsView(expected.dequantized), ROWS, COLS, 32, stride(COLS)), true);
    }
    // Inf and NaN are counted by integers; the codes cannot show them.
    hard.set([NaN, Infinity, -Infinity], 7 * COLS + 30);
    compared += expectOperand('non-finite', await quantizeOnDevice(gpu, hard, ROWS, COLS, operand, false), quantizeNvfp4(hard, ROWS, COLS, operand.block));
    return `${compared} words bit-equal to the CPU`;
  },
});

/** Tensor scales and alpha over the whole range of FP32. */
const scalars: Check = {
  name: 'NVFP4 tensor scales',
  run: async ({ gpu }) => {
    const amaxes = [0, 1, 0x800000, bitsOf(7.9e-36), bitsOf(0.37), bitsOf(3.1), bitsOf(2688), bitsOf(7.6e35), 0x7f7fffff, 0x7f800000];
    const found = await Promise.all(amaxes.map(async (amax, i) => {
      const other = amaxes[(3 * i + 4) % amaxes.length] ?? 0;
      return {
        amax, other,
        record: await kernelWords(gpu, 'nvfp4_tensor_scales', {}, Uint32Array.of(0), [Uint32Array.of(amax, 0, 0, 0, 0, 0, 0, 0)], 1),
        alpha: await kernelWords(gpu, 'nvfp4_alpha', {}, Uint32Array.of(0), [Uint32Array.of(amax, 2), Uint32Array.of(other, 3), Uint32Array.of(0, 40, 0, 0)], 1),
      };
    }));
    let compared = 0;
    for (const { amax, other, record, alpha } of found) {
      const scales = nvfp4TensorScales(fromBits(amax));
      compared += expectWords('tensor scales', record.subarray(2, 5), [scales.encode, scales.decode, encodeSixth(scales)].map(bitsOf));
      // The second word counts the non-finite elements of a whole run.
      compared += expectWords('alpha', alpha.subarray(0, 2), [bitsOf(nvfp4Alpha(fromBits(amax), fromBits(other))), 45], true);
    }
    return `${compared} words bit-equal to the CPU`;
  },
};

export const QUANTIZER_CHECKS: readonly Check[] = [
  scalars,
  quantizer('NVFP4 1x16 quantizer', SCHEMES.nvfp4.operands.x),
  quantizer('NVFP4 16x16 quantizer', SCHEMES.nvfp4.operands.w),
];
