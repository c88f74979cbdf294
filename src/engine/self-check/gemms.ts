/**
 * The three GEMM layouts on FP32 and BF16 operands against float64, within 2 K 2^-24 sum |a b| (engine.md 4.3), then one
 * BF16 rounding where the output is BF16; cut into row ranges, bit for bit the same; and packed GEMMs equal, bit for bit,
 * to the FP32 GEMM on decoded operands.
 */
import { fromBits } from '../../numerics/float-bits';
import { gemmAlpha, gemmOperand, packQuantized, quantize } from '../../numerics/quantize';
import { operandFormat, type OperandFormat } from '../../numerics/schemes';
import type { Gpu } from '../../gpu/gpu';
import { packWords } from '../executor';
import { gemmDispatch, natural, packed, type Gemm } from '../gemm';
import { packBf16, padRows } from '../parameters';
import { stride } from '../program';
import { hasAlpha } from '../quantize-commands';
import { fail, kernelWords, type Check } from './check';
import { expectWithin, expectWords } from './compare';
import { bf16Values, randomValues } from './inputs';

const [ROWS, COLS, DEPTH] = [21, 37, 147];
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

/** Values whose magnitudes differ within a block, down to an element format's subnormals, and from block to block. */
function spreadValues(rows: number, seed: number): Float32Array {
  return bf16Values(rows * DEPTH, seed, 3).map((x, i) => x * 2 ** -((i % 11) + (((i % DEPTH) >> 4) % 5)));
}

/** Each variant is a pipeline, so there is one for every way of decoding: the forms of wgrad and dgrad, and every kind of scale. */
const packedCheck = (name: string, variants: readonly (readonly [what: string, a: OperandFormat, b: OperandFormat, bf16: boolean])[]): Check => ({
  name,
  run: async ({ gpu }) => {
    let compared = 0;
    for (const [what, formatA, formatB, bf16] of variants) {
      const [a, b] = [quantize(spreadValues(ROWS, 81), ROWS, DEPTH, formatA), quantize(spreadValues(COLS, 82), COLS, DEPTH, formatB)];
      const alpha = gemmAlpha(a, b);
      const [packedA, packedB] = [packQuantized(a), packQuantized(b)];
      const shape = { layout: 'nt' as const, rows: ROWS, cols: COLS, depth: DEPTH };
      const outBytes = ROWS * stride(COLS) * 4;
      const scalesOf = (scales: Uint32Array): Uint32Array => (scales.length === 0 ? EMPTY : scales);
      const [low, decoded] = await Promise.all([
        run(gpu, {
          ...shape, ...(hasAlpha(formatA) ? { alpha: PLACE } : {}), a: packed(PLACE, PLACE, formatA, ROWS, DEPTH), b: packed(PLACE, PLACE, formatB, COLS, DEPTH),
          c: { data: PLACE, bf16, stride: stride(COLS) },
        }, [packedA.codes, scalesOf(packedA.scales), packedB.codes, scalesOf(packedB.scales), EMPTY, Float32Array.of(alpha, 0, 0, 0), bf16 ? outBytes / 2 : outBytes]),
        run(gpu, {
          ...shape, scale: alpha, a: natural(PLACE, DEPTH, false), b: natural(PLACE, DEPTH, false), c: { data: PLACE, bf16: false, stride: stride(COLS) },
        }, buffersOf('nt', padRows(gemmOperand(a), [ROWS, DEPTH]), padRows(gemmOperand(b), [COLS, DEPTH]), EMPTY, outBytes)),
      ]);
      if (decoded.every((word) => word === 0)) fail('FP32 GEMM: 0 everywhere');
      compared += expectWords(what, low, bf16 ? packBf16(new Float32Array(decoded.buffer)) : decoded);
    }
    return `${compared} words bit-equal to the FP32 GEMM on decoded operands`;
  },
});

export const GEMM_CHECKS: readonly Check[] = [
  layoutCheck('nn'), layoutCheck('nt'), layoutCheck('tn'),
  packedCheck('packed NVFP4 GEMM', [
    ['1x16 blocks', operandFormat('nvfp4', 'x'), operandFormat('nvfp4', 'dy'), false],
    ['16x16 weights', operandFormat('nvfp4', 'dy'), operandFormat('nvfp4', 'w'), true],
  ]),
  packedCheck('packed FP8 GEMM', [
    ['tensor scales', operandFormat('fp8', 'x'), operandFormat('fp8', 'dy'), false],
    ['1x32 blocks and 128x128 tiles', operandFormat('mxfp8', 'x'), operandFormat('fp8-block', 'w'), false],
  ]),
];
