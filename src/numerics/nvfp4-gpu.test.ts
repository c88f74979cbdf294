/**
 * The NVFP4 kernels on a device, bit-equal with every golden tensor: amax, tensor scales, block scales, factors, codes,
 * both decodes; from BF16 and FP32 sources, natural and transposed; in the packed layout, padding included.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../gpu/gpu';
import { openNodeDevice } from '../gpu/node-device';
import { runKernel } from '../gpu/run-kernel';
import { bitsOf, bitsView, countNonFinite, fromBits } from './float-bits';
import { FORMATS } from './formats';
import { caseArray, caseInput, countDifferent, goldenCases, type GoldenCase } from './golden-formats';
import { nvfp4Alpha, nvfp4GemmOperand, nvfp4TensorScales, packNvfp4, quantizeNvfp4 } from './nvfp4';
import { packRows } from './packing';
import { packedSize, type OperandFormat } from './schemes';

const ROWS = {
  amax: ['read', 'write'],
  nvfp4_tensor_scales: ['write'],
  nvfp4_alpha: ['read', 'read', 'write'],
  nvfp4_scales: ['read', 'read', 'write', 'write'],
  quantize_nvfp4: ['read', 'read', 'write'],
  dequantize_nvfp4: ['read', 'read', 'read', 'write'],
} as const;
const TENSOR_WORDS = 8;
const GARBAGE = 0xdeadbeef;

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeDevice();
});
afterAll(() => {
  expect(gpu.liveBuffers).toBe(0);
  gpu.device.destroy();
});

const garbage = (words: number): Uint32Array => new Uint32Array(words).fill(GARBAGE);

async function kernel(name: keyof typeof ROWS, constants: Record<string, number>, params: number[], buffers: Uint32Array[], invocations: number): Promise<Uint32Array[]> {
  const out = await runKernel(gpu, { row: { name, bindings: ROWS[name] }, constants, params: Uint32Array.from(params), buffers, invocations });
  return out.map((bytes) => new Uint32Array(bytes));
}

interface Source {
  readonly words: Uint32Array;
  readonly stride: number;
  readonly format: 0 | 1;
}

/** x [rows, cols] as a device tensor, rows padded to whole quads; transposed: its transpose is stored. */
function deviceTensor(x: Float32Array, rows: number, cols: number, bf16: boolean, transposed: boolean): Source {
  const [r, c] = transposed ? [cols, rows] : [rows, cols];
  const bits = bitsView(x);
  const stored = Uint32Array.from({ length: r * c }, (_, i) => bits[transposed ? (i % c) * cols + Math.floor(i / c) : i] ?? 0);
  const stride = Math.ceil(c / 4) * 4;
  const words = bf16 ? packRows(stored.map((b) => b >>> 16), r, c, 16, stride / 2) : packRows(stored, r, c, 32, stride);
  return { words, stride, format: bf16 ? 1 : 0 };
}

interface GpuResult {
  readonly tensor: Uint32Array;
  readonly scales: Uint32Array;
  readonly multipliers: Uint32Array;
  readonly codes: Uint32Array;
}

async function quantize(source: Source, rows: number, cols: number, operand: OperandFormat, transposed: boolean, givenAmax?: number): Promise<GpuResult> {
  const size = packedSize(operand, rows, cols);
  const groups = size.scaleRowWords;
  let tensor = new Uint32Array(TENSOR_WORDS);
  if (givenAmax === undefined) {
    const step = Math.min(64, source.words.length);
    [, tensor = tensor] = (await kernel('amax', { SRC_FMT: source.format }, [source.words.length, step], [source.words, tensor], step)) as [Uint32Array<ArrayBuffer>, Uint32Array<ArrayBuffer>];
  } else {
    tensor[0] = givenAmax;
  }
  const [record = tensor] = await kernel('nvfp4_tensor_scales', {}, [0], [tensor], 1);
  const constants = { SRC_FMT: source.format, TRANSPOSED: Number(transposed), TILE: Number(operand.block[0] === 16) };
  const params = [rows, cols, source.stride, groups];
  const [, , scales = record, multipliers = record] = await kernel(
    'nvfp4_scales', constants, params, [source.words, record, garbage(size.scaleWords), garbage(4 * size.scaleWords)], size.scaleWords,
  );
  const [, , codes = record] = await kernel('quantize_nvfp4', constants, params, [source.words, multipliers, garbage(size.codeWords)], size.codeWords);
  return { tensor: record, scales, multipliers, codes };
}

async function dequantize(q: GpuResult, rows: number, cols: number, operand: OperandFormat, mode: 0 | 1): Promise<Uint32Array> {
  const quads = Math.ceil(cols / 4);
  const groups = packedSize(operand, rows, cols).scaleRowWords;
  const constants = { TILE: Number(operand.block[0] === 16), MODE: mode };
  const [, , , y = q.codes] = await kernel('dequantize_nvfp4', constants, [rows, cols, quads, groups], [q.codes, q.scales, q.tensor, garbage(rows * quads * 4)], rows * quads);
  return y;
}

const isBf16 = (x: Float32Array): boolean => bitsView(x).every((bits) => (bits & 0xffff) === 0);
const operandOf = (golden: GoldenCase): OperandFormat => ({ element: 'E2M1', blockScale: 'E4M3', block: golden.block });

describe('goldens, bit for bit', () => {
  it.each(goldenCases.map((golden) => [golden.name, golden] as const))('%s', async (_name, golden) => {
    const [rows, cols] = golden.shape;
    const x = caseInput(golden);
    const operand = operandOf(golden);
    const size = packedSize(operand, rows, cols);
    const blocks = Math.ceil(cols / 16);
    const given = golden.options.tensorAmax === undefined ? undefined : Number(golden.tensor.amaxBits);
    const expected = {
      codes: packRows(caseArray(golden, 'codes'), rows, cols, 4, size.codeRowWords),
      scales: packRows(caseArray(golden, 'scale'), size.scaleRows, blocks, 8, size.scaleRowWords),
    };
    const cpu = quantizeNvfp4(x, rows, cols, golden.block, given === undefined ? undefined : fromBits(given));
    const stride = Math.ceil(cols / 4) * 4;
    const decoded = packRows(caseArray(golden, 'dequantized'), rows, cols, 32, stride);
    const operandValues = packRows(bitsView(nvfp4GemmOperand(cpu)), rows, cols, 32, stride);
    for (const bf16 of isBf16(x) ? [true, false] : [false]) {
      for (const transposed of [false, true]) {
        const what = `${bf16 ? 'BF16' : 'FP32'} source${transposed ? ', transposed' : ''}`;
        const q = await quantize(deviceTensor(x, rows, cols, bf16, transposed), rows, cols, operand, transposed, given);
        expect([q.tensor[0], q.tensor[2], q.tensor[3]], what).toEqual([golden.tensor.amaxBits, golden.tensor.encodeBits, golden.tensor.decodeBits].map(Number));
        expect(q.tensor[1], what).toBe(given === undefined ? countNonFinite(x) : 0);
        expect(countDifferent(q.scales, expected.scales, false), `${what}: scales`).toBe(0);
        // Factors of the blocks that exist; those of padding blocks are never used.
        const factors = Array.from({ length: size.scaleRows * blocks }, (_, i) => q.multipliers[Math.floor(i / blocks) * 4 * size.scaleRowWords + (i % blocks)] ?? 0);
        expect(countDifferent(factors, caseArray(golden, 'multiplier'), true), `${what}: factors`).toBe(0);
        expect(countDifferent(q.codes, expected.codes, false), `${what}: codes`).toBe(0);
        expect(countDifferent(await dequantize(q, rows, cols, operand, 1), decoded, true), `${what}: decoded`).toBe(0);
        expect(countDifferent(await dequantize(q, rows, cols, operand, 0), operandValues, true), `${what}: GEMM operand`).toBe(0);
      }
    }
  });
});

describe('the CPU oracle, bit for bit, where the goldens have no tensor', () => {
  const wave = (count: number, scale: number): Float32Array => Float32Array.from({ length: count }, (_, i) => Math.sin(i * i) * scale * 2 ** -(i % 23));
  const TENSORS: [string, number, number, Float32Array][] = [
    ['all zero, some of it -0', 3, 21, Float32Array.from({ length: 63 }, (_, i) => (i % 3 === 0 ? -0 : 0))],
    ['tiny: S_enc clamps', 2, 19, wave(38, 1e-36)],
    ['subnormal only', 1, 17, wave(17, 1e-39)],
    ['large: the decode overflows, padding stays zero', 2, 5, Float32Array.of(1e36, 0, -1, 3e38, 0, 0, 1, 2, -1e37, 5)],
    ['one row across three groups', 1, 131, wave(131, 7)],
    ['one column', 33, 1, wave(33, 1e5)],
    ['ragged in both axes', 49, 67, wave(49 * 67, 1e3)],
  ];
  it.each(TENSORS)('%s', async (_name, rows, cols, x) => {
    for (const block of [[1, 16], [16, 16]] as const) {
      const operand: OperandFormat = { element: 'E2M1', blockScale: 'E4M3', block };
      const cpu = quantizeNvfp4(x, rows, cols, block);
      const packed = packNvfp4(cpu);
      for (const transposed of [false, true]) {
        const q = await quantize(deviceTensor(x, rows, cols, false, transposed), rows, cols, operand, transposed);
        expect(countDifferent(q.codes, packed.codes, false), 'codes').toBe(0);
        expect(countDifferent(q.scales, packed.scales, false), 'scales').toBe(0);
        const decoded = packRows(bitsView(cpu.dequantized), rows, cols, 32, Math.ceil(cols / 4) * 4);
        expect(countDifferent(await dequantize(q, rows, cols, operand, 1), decoded, true), 'decoded').toBe(0);
      }
    }
  });
});

describe('tensor scalars', () => {
  const AMAXES = [0, 1, 0x400000, 0x800000, bitsOf(1e-36), bitsOf(7.9e-36), bitsOf(1), bitsOf(3.1), bitsOf(48), bitsOf(2688), bitsOf(458752), bitsOf(7.6e35), 0x7f7fffff, 0x7f800000];
  it('S_enc, S_dec and alpha at the edges of FP32', async () => {
    for (const amax of AMAXES) {
      const [record = garbage(0)] = await kernel('nvfp4_tensor_scales', {}, [0], [Uint32Array.of(amax, 0, 0, 0, 0, 0, 0, 0)], 1);
      const cpu = nvfp4TensorScales(fromBits(amax));
      const sixth = Math.fround(cpu.encode * Math.fround(1 / 6));
      expect([...record.subarray(2, 5)]).toEqual([cpu.encode, cpu.decode, sixth].map(bitsOf));
      for (const other of [bitsOf(0.37), bitsOf(1e30), 1]) {
        const [, , alpha = garbage(1)] = await kernel('nvfp4_alpha', {}, [0], [Uint32Array.of(amax, 0), Uint32Array.of(other, 0), garbage(1)], 1);
        expect(alpha[0]).toBe(bitsOf(nvfp4Alpha(fromBits(amax), fromBits(other))));
      }
    }
  });

  it('amax and the non-finite count do not depend on how many invocations share the words', async () => {
    const x = Float32Array.from({ length: 1001 }, (_, i) => Math.fround(Math.sin(i) * 10));
    x.set([NaN, Infinity, -Infinity], 500);
    for (const values of [x, x.map((v) => (Number.isFinite(v) ? v : 0))]) {
      const finite = Array.from(values).map(Math.abs).filter((v) => !Number.isNaN(v));
      for (const step of [1, 7, 64, 1001]) {
        const [, tensor = garbage(2)] = await kernel('amax', { SRC_FMT: 0 }, [values.length, step], [Uint32Array.from(bitsView(values)), new Uint32Array(TENSOR_WORDS)], step);
        expect([tensor[0], tensor[1]]).toEqual([bitsOf(Math.max(...finite)), countNonFinite(values)]);
      }
    }
  });

  it('formats have the code widths the kernels assume', () => {
    expect([FORMATS.E2M1.bits, FORMATS.E4M3.bits]).toEqual([4, 8]);
  });
});
