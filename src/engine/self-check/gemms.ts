/**
 * The three GEMM layouts on FP32 and BF16 operands against float64, within 2 K 2^-24 sum |a b| (engine.md 4.3), then one
 * BF16 rounding where the output is BF16; cut into row ranges, bit for bit the same; and the packed NVFP4 GEMM equal, bit
 * for bit, to the FP32 GEMM on decoded operands.
 */
import { fromBits } from '../../numerics/float-bits';
import { nvfp4Alpha, nvfp4GemmOperand, packNvfp4, quantizeNvfp4, type Nvfp4Tensor } from '../../numerics/nvfp4';
import { SCHEMES, type BlockShape } from '../../numerics/schemes';
import type { Gpu } from '../../gpu/gpu';
import { packWords } from '../executor';
import { gemmDispatch, natural, type Gemm } from '../gemm';
import { packBf16, padRows } from '../parameters';
import { stride } from '../program';
import { fail, kernelWords, type Check } from './check';
import { expectWithin, expectWords } from './compare';
import { bf16Values, randomValues } from './inputs';

const [ROWS, COLS, DEPTH] = [21, 37, 83];
/** Not bound to anything: runKernel takes its buffers by place. */
const PLACE = { resource: '' };
const EMPTY = new Uint32Array(4);
/** Largest relative error of one rounding to BF16's 8 significant bits. */
const HALF_BF16_ULP = 2 ** -8;

interface Product {
  readonly exact: Float64Array;
  /** sum |a b| of each element. */
  readonly size: Float64Array;
}

function product(a: (i: number, k: number) => number, b: (k: number, j: number) => number): Product {
  const exact = new Float64Array(ROWS * COLS);
  const size = new Float64Array(ROWS * COLS);
  for (let i = 0; i < ROWS; i++) {
    for (let j = 0; j < COLS; j++) {
      for (let k = 0; k < DEPTH; k++) {
        const term = a(i, k) * b(k, j);
        exact[i * COLS + j] = (exact[i * COLS + j] ?? 0) + term;
        size[i * COLS + j] = (size[i * COLS + j] ?? 0) + Math.abs(term);
      }
    }
  }
  return { exact, size };
}

/** The layout's buffers in binding order. */
function buffersOf(layout: Gemm['layout'], a: ArrayBufferView, b: ArrayBufferView, bias: ArrayBufferView, outBytes: number): (ArrayBufferView | number)[] {
  return layout === 'nt' ? [a, EMPTY, b, EMPTY, bias, EMPTY, outBytes] : layout === 'nn' ? [a, b, bias, outBytes] : [a, b, outBytes];
}

/** Rows first .. first + count - 1 of C, the others as they were: zero. */
async function run(gpu: Gpu, gemm: Gemm, buffers: readonly (ArrayBufferView | number)[], first = 0, count = gemm.rows): Promise<Uint32Array> {
  const d = gemmDispatch(gemm);
  const params = [...d.params];
  params[3] = first;
  params[4] = count;
  return kernelWords(gpu, d.kernel, d.constants, packWords(params), buffers, d.split?.invocationsOf(count) ?? d.invocations);
}

/** Words of C [ROWS, stride] -> values [ROWS, COLS]; fails if the padding is not zero. */
function values(words: Uint32Array, bf16: boolean): Float64Array {
  const s = stride(COLS);
  const out = new Float64Array(ROWS * COLS);
  const padding: number[] = [];
  for (let r = 0; r < ROWS; r++) {
    for (let c = 0; c < s; c++) {
      const at = r * s + c;
      const bits = bf16 ? (((words[at >> 1] ?? 0) >>> (16 * (at & 1))) << 16) >>> 0 : (words[at] ?? 0);
      if (c < COLS) out[r * COLS + c] = fromBits(bits);
      else padding.push(bits);
    }
  }
  expectWords('padding', padding, padding.map(() => 0));
  return out;
}

const layoutCheck = (layout: Gemm['layout']): Check => ({
  name: `GEMM ${layout}`,
  run: async ({ gpu }) => {
    const aShape = layout === 'tn' ? [DEPTH, ROWS] : [ROWS, DEPTH];
    const bShape = layout === 'nt' ? [COLS, DEPTH] : [DEPTH, COLS];
    let worst = 0;
    for (const bf16 of [false, true]) {
      const make = bf16 ? bf16Values : randomValues;
      const [a, b] = [make(ROWS * DEPTH, 71, 1), make(COLS * DEPTH, 72, 1)];
      // The variants a gradient uses: BF16 fprop and dgrad round their output, wgrad does not; fprop has a bias.
      const outBf16 = bf16 && layout !== 'tn';
      const bias = bf16 && layout === 'nn' ? randomValues(COLS, 73, 2) : null;
      const gemm: Gemm = {
        layout, rows: ROWS, cols: COLS, depth: DEPTH, a: natural(PLACE, aShape[1] ?? 0, bf16), b: natural(PLACE, bShape[1] ?? 0, bf16),
        c: { data: PLACE, bf16: outBf16, stride: stride(COLS) }, ...(bias ? { bias: PLACE } : {}),
      };
      const pack = (v: Float32Array, shape: number[]): ArrayBufferView => (bf16 ? packBf16(padRows(v, shape)) : padRows(v, shape));
      const buffers = buffersOf(layout, pack(a, aShape), pack(b, bShape), bias ? padRows(bias, [COLS]) : EMPTY, ROWS * stride(COLS) * (outBf16 ? 2 : 4));
      const [all, low, high] = await Promise.all([run(gpu, gemm, buffers), run(gpu, gemm, buffers, 0, 12), run(gpu, gemm, buffers, 12, ROWS - 12)]);
      const { exact, size } = product(
        (i, k) => (layout === 'tn' ? a[k * ROWS + i] : a[i * DEPTH + k]) ?? NaN,
        (k, j) => (layout === 'nt' ? b[j * DEPTH + k] : b[k * COLS + j]) ?? NaN,
      );
      const expected = bias ? exact.map((x, i) => x + (bias[i % COLS] ?? 0)) : exact;
      const bound = size.map((s, i) => {
        const sum = 2 * (DEPTH + 1) * 2 ** -24 * (s + Math.abs(bias?.[i % COLS] ?? 0));
        return outBf16 ? sum + HALF_BF16_ULP * (Math.abs(expected[i] ?? 0) + sum) : sum;
      });
      const share = expectWithin(bf16 ? 'BF16' : 'FP32', values(all, outBf16), expected, bound);
      if (!bf16) worst = share;
      expectWords('cut into row ranges', low.map((w, i) => w | (high[i] ?? 0)), all);
    }
    return `${2 * ROWS * COLS} elements within the rounding bound (FP32: ${worst.toFixed(2)} of it), row ranges bit-equal`;
  },
});

const packedCheck: Check = {
  name: 'packed NVFP4 GEMM',
  run: async ({ gpu }) => {
    const quantized = (seed: number, rows: number, block: BlockShape): Nvfp4Tensor => quantizeNvfp4(bf16Values(rows * DEPTH, seed, 3), rows, DEPTH, block);
    const a = quantized(81, ROWS, SCHEMES.nvfp4.operands.x.block);
    let compared = 0;
    // As wgrad runs it (1x16 blocks, FP32 output), and as dgrad does (16x16 weights, BF16 output).
    for (const [role, tile] of [['dy', false], ['w', true]] as const) {
      const b = quantized(82, COLS, SCHEMES.nvfp4.operands[role].block);
      const alpha = nvfp4Alpha(a.tensor.amax, b.tensor.amax);
      const [packedA, packedB] = [packNvfp4(a), packNvfp4(b)];
      const rowElements = 64 * Math.ceil(DEPTH / 64);
      const shape = { layout: 'nt' as const, rows: ROWS, cols: COLS, depth: DEPTH };
      const outBytes = ROWS * stride(COLS) * 4;
      const [packed, decoded] = await Promise.all([
        run(gpu, {
          ...shape, alpha: PLACE, a: { data: PLACE, format: 'e2m1', stride: rowElements, scales: PLACE }, b: { data: PLACE, format: 'e2m1', stride: rowElements, scales: PLACE, tile },
          c: { data: PLACE, bf16: tile, stride: stride(COLS) },
        }, [packedA.codes, packedA.scales, packedB.codes, packedB.scales, EMPTY, Float32Array.of(alpha, 0, 0, 0), tile ? outBytes / 2 : outBytes]),
        run(gpu, {
          ...shape, scale: alpha, a: natural(PLACE, DEPTH, false), b: natural(PLACE, DEPTH, false), c: { data: PLACE, bf16: false, stride: stride(COLS) },
        }, buffersOf('nt', padRows(nvfp4GemmOperand(a), [ROWS, DEPTH]), padRows(nvfp4GemmOperand(b), [COLS, DEPTH]), EMPTY, outBytes)),
      ]);
      const expected = tile ? packBf16(new Float32Array(decoded.buffer)) : decoded;
      if (decoded.every((word) => word === 0)) fail('FP32 GEMM: 0 everywhere');
      compared += expectWords(tile ? '16x16 weights' : '1x16 blocks', packed, expected);
    }
    return `${compared} words bit-equal to the FP32 GEMM on decoded operands`;
  },
};

export const GEMM_CHECKS: readonly Check[] = [layoutCheck('nn'), layoutCheck('nt'), layoutCheck('tn'), packedCheck];
