/**
 * The quantizers on the device, bit for bit against src/numerics, one check a scheme: tensor record, block scales, factors,
 * codes and decoded values; tensor scales and alpha; the Hadamard transform. The tensors hold what goes wrong first: zero
 * and underflowing blocks, an outlier, a ragged tail of one element (ux.md 7, reports 2, 5, 6). All schemes share pipelines.
 */
import { canonicalJson } from '../../base/canonical-json';
import { PASS_SCHEMES, type PassScheme } from '../../graph/policy';
import { RECIPES } from '../../graph/recipes';
import { bitsOf, bitsView, fromBits } from '../../numerics/float-bits';
import { rht, RHT_SIGN_MASK, rhtLength } from '../../numerics/hadamard';
import { nvfp4Alpha } from '../../numerics/nvfp4';
import { gemmOperand, outValues, quantize } from '../../numerics/quantize';
import { elementOf, RULE_ARITHMETIC } from '../../numerics/scale-rules';
import { operandFormat, type OperandFormat } from '../../numerics/schemes';
import { randomBytes, type RandomKey } from '../../numerics/stochastic';
import type { Gpu } from '../../gpu/gpu';
import { NamedBuffers } from '../named-buffers';
import { alphaDispatch, hadamardDispatch, tensorScaleDispatch } from '../quantize-commands';
import { deviceWords, oracleWords, quantizeOnDevice, roundOnDevice, rowWords } from '../quantize-readback';
import type { Check } from './check';
import { expectWords } from './compare';
import { bf16Values, randomValues } from './inputs';

const [ROWS, COLS] = [19, 145];

interface Case {
  readonly what: string;
  readonly x: Float32Array;
  readonly bf16?: boolean;
  readonly transposed?: boolean;
  readonly random?: RandomKey;
}

/** The values that x's codes stand for, made without codes, in another buffer and in place: what a low op group's gradient is. -> words compared. */
async function expectRounded(gpu: Gpu, format: OperandFormat, x: Float32Array): Promise<number> {
  const given = { rows: ROWS, cols: COLS, bf16: true, transposed: false };
  const expected = rowWords(outValues(quantize(x, ROWS, COLS, format)), ROWS, COLS, true);
  return expectWords('rounded', await roundOnDevice(gpu, x, given, format), expected)
    + expectWords('rounded in place', await roundOnDevice(gpu, x, given, format, true), expected);
}

/** Fails unless everything that the device makes of x is the oracle's. -> words compared. */
async function expectOracle(gpu: Gpu, format: OperandFormat, { what, x, bf16 = true, transposed = false, random }: Case): Promise<number> {
  const got = await quantizeOnDevice(gpu, x, { rows: ROWS, cols: COLS, bf16, transposed }, format, random ? { random } : {});
  const oracle = quantize(x, ROWS, COLS, format, { inputDtype: bf16 ? 'bf16' : 'fp32', ...(random ? { randomBytes: randomBytes(ROWS, COLS, random) } : {}) });
  const { record, scales, factors, codes } = oracleWords(oracle);
  return expectWords(`${what} tensor record`, got.record, record)
    + expectWords(`${what} block factors`, got.factors, factors, true)
    + expectWords(`${what} block scales`, got.scales, scales)
    + expectWords(`${what} codes`, got.codes, codes)
    + expectWords(`${what} decode`, got.decoded.f32, rowWords(oracle.dequantized, ROWS, COLS), true)
    + expectWords(`${what} decode to BF16`, got.decoded.bf16, rowWords(outValues(oracle), ROWS, COLS, true))
    + expectWords(`${what} GEMM operand`, got.decoded.operand, rowWords(gemmOperand(oracle), ROWS, COLS), true);
}

function hardTensor(): Float32Array {
  const x = bf16Values(ROWS * COLS, 61, 1);
  const place = (r: number, c: number): number => r * COLS + c;
  x.fill(0, place(0, 0), place(0, 32));
  for (let r = 0; r < 16; r++) x.fill(0, place(r, 16), place(r, 32));
  // A block so small that its E4M3 scale is 0, and an outlier: NVFP4's tensor scale becomes 2, so that a block with amax 3
  // has scale 1 and factor 2, and odd eighths lie halfway between two codes.
  for (let c = 32; c < 48; c++) x[place(2, c)] = 2 ** -20;
  x[place(3, 50)] = 1344;
  x.set([1, 3, 5, 7, 10, 14, 20, 24, -1, -3, -5, -7, -10, -14, -20, -24].map((eighths) => eighths / 8), place(17, 0));
  x[place(18, 144)] = -768;
  x[place(1, 0)] = -0;
  return x;
}

/** Inf and NaN are counted by integers; the codes cannot show them. */
function spoiled(): Float32Array {
  const x = hardTensor();
  x.set([NaN, Infinity, -Infinity], 7 * COLS + 30);
  return x;
}

const quantizer = (name: string, ...formats: OperandFormat[]): Check => ({
  name,
  run: async ({ gpu }) => {
    let compared = 0;
    for (const [i, format] of formats.entries()) {
      compared += await expectOracle(gpu, format, { what: 'natural', x: hardTensor() });
      // Scales that no step of the chain can round away.
      compared += await expectOracle(gpu, format, { what: 'transposed', x: bf16Values(ROWS * COLS, 62, 700), transposed: true });
      if (format.scale !== 'nvfp4') compared += await expectRounded(gpu, format, hardTensor());
      if (i > 0) continue;
      compared += await expectOracle(gpu, format, { what: 'non-finite', x: spoiled() });
    }
    return `${compared} words bit-equal to the CPU`;
  },
});

const fp32Source: Check = {
  name: 'quantizer of FP32',
  run: async ({ gpu }) => `${await expectOracle(gpu, operandFormat('nvfp4', 'x'), { what: 'FP32', x: randomValues(ROWS * COLS, 63, 30), bf16: false })} words bit-equal to the CPU`,
};

const stochastic: Check = {
  name: 'stochastic rounding',
  run: async ({ gpu }) => {
    const random = { seed: 0x9abcdef0, stream: 15, step: 3, draw: 2 };
    const format = operandFormat('nvfp4', 'dy');
    const compared = await expectOracle(gpu, format, { what: 'natural', x: hardTensor(), random })
      + await expectOracle(gpu, format, { what: 'transposed', x: bf16Values(ROWS * COLS, 64, 700), transposed: true, random });
    return `${compared} words bit-equal to the CPU`;
  },
};

/** Groups whose sums need a rounding up to leave a BF16 tie, and groups of zeros whose sums are all -0. */
function tiedGroups(): Float32Array {
  const x = bf16Values(ROWS * COLS, 66, 1);
  for (let c = 0; c < 32; c++) x[c] = (RHT_SIGN_MASK >>> (c % 16)) & 1 ? 0 : -0;
  for (let r = 2; r < ROWS; r++) {
    x.fill(0, r * COLS, r * COLS + 16);
    x.set([1, 2 ** -8, 1.5 * 2 ** -24].map((v) => v * 2 ** r), r * COLS);
  }
  return x;
}

const hadamard: Check = {
  name: 'Hadamard transform',
  run: async ({ gpu }) => {
    const width = rhtLength(COLS);
    let compared = 0;
    for (const [what, x] of [['ordinary', bf16Values(ROWS * COLS, 65, 1)], ['ties', tiedGroups()], ['non-finite', spoiled()]] as const) {
      // [ROWS, COLS] with the tokens last is stored [tokens, ROWS].
      const buffers = new NamedBuffers(gpu, { x: deviceWords(x, { rows: ROWS, cols: COLS, bf16: true, transposed: true }), y: 2 * ROWS * width });
      try {
        await buffers.run([hadamardDispatch({ resource: 'x' }, COLS, ROWS, { resource: 'y' })]);
        compared += expectWords(what, await buffers.read('y', (ROWS * width) / 2), rowWords(rht(x, ROWS, COLS), ROWS, width, true));
      } finally {
        buffers.dispose();
      }
    }
    return `${compared} words bit-equal to the CPU`;
  },
};

/** Tensor scales and alpha over the whole range of FP32. */
const scalars: Check = {
  name: 'tensor scales',
  run: async ({ gpu }) => {
    const amaxes = [0, 1, 0x800000, bitsOf(7.9e-36), bitsOf(0.37), bitsOf(3.1), bitsOf(2688), bitsOf(7.6e35), 0x7f7fffff, 0x7f800000];
    let compared = 0;
    for (const [scheme, scale, format] of [['NVFP4', 'nvfp4', operandFormat('nvfp4', 'x')], ['FP8', 'tensor', operandFormat('fp8', 'x')], ['FP8 power-of-two', 'tensor-pow2', operandFormat('fp8', 'dy', { pow2: true })]] as const) {
      const names = amaxes.map((_, i) => `record ${i}`);
      const other = (i: number): number => (3 * i + 4) % amaxes.length;
      const buffers = new NamedBuffers(gpu, {
        ...Object.fromEntries(amaxes.map((amax, i) => [names[i], Uint32Array.of(amax, i, 0, 0, 0, 0, 0, 0)])), 'low:alpha': 16,
      });
      try {
        await buffers.run(names.map((name) => tensorScaleDispatch(format, { resource: name })));
        let count = 0;
        for (const [i, amax] of amaxes.entries()) {
          const [ours, theirs] = [amax, amaxes[other(i)] ?? 0].map((bits) => RULE_ARITHMETIC[scale].tensor(fromBits(bits), elementOf(format)));
          if (!ours || !theirs) continue;
          await buffers.run([alphaDispatch(format, { resource: names[i] ?? '' }, { resource: names[other(i)] ?? '' })]);
          count += i + other(i);
          const product = scale === 'nvfp4' ? nvfp4Alpha(ours.amax, theirs.amax) : Math.fround(ours.decode * theirs.decode);
          const scales = [ours.encode, ours.decode, Math.fround(ours.encode * Math.fround(1 / 6))];
          compared += expectWords(`${scheme} scales`, (await buffers.read(names[i] ?? '')).subarray(2, 5), bitsView(Float32Array.from(scales)));
          // The second word counts the non-finite elements of a whole run.
          compared += expectWords(`${scheme} alpha`, await buffers.read('low:alpha', 2), [bitsOf(product), count], true);
        }
      } finally {
        buffers.dispose();
      }
    }
    return `${compared} words bit-equal to the CPU`;
  },
};

/** All switches on: the rarer form of an operand. */
const SWITCHED = { weights1d: true, pow2: true, floor: true, e5m2Grad: true };

/** The form of x, and of the other forms of a scheme the first that differs from it. */
function twoForms(scheme: PassScheme): [OperandFormat, OperandFormat] {
  const x = operandFormat(scheme, 'x');
  const others = [operandFormat(scheme, 'w'), operandFormat(scheme, 'dy'), operandFormat(scheme, 'dy', SWITCHED), operandFormat(scheme, 'w', SWITCHED)];
  return [x, others.find((form) => canonicalJson(form) !== canonicalJson(x)) ?? x];
}

export const QUANTIZER_CHECKS: readonly Check[] = [
  scalars,
  ...PASS_SCHEMES.map((scheme) => quantizer(`${RECIPES[scheme].label} quantizer`, ...twoForms(scheme))),
  fp32Source,
  stochastic,
  hadamard,
];
