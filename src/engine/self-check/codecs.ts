/**
 * Element codecs and exact FP32 operations of lib/minifloat and lib/exact_arith, bit for bit against src/numerics: every
 * value, every tie and its neighbours, random bits, every code back. One pipeline serves all (OP 255).
 */
import { bitsOf, fromBits } from '../../numerics/float-bits';
import { decodeE8m0, encodeE8m0, reciprocalE8m0 } from '../../numerics/e8m0';
import { FORMATS, type Minifloat } from '../../numerics/formats';
import { decodeBits, encodeBits } from '../../numerics/minifloat';
import type { Gpu } from '../../gpu/gpu';
import { kernelWords, type Bench, type Check } from './check';
import { expectWords } from './compare';
import { EDGE_WORDS, joined, randomWords, tieWords, windowedWords } from './inputs';

/** OP of shaders/kernels/codec_check.wgsl. */
const OP = { encode: 0, encodeLoose: 1, decode: 2, multiply: 3, divide: 4, up: 5, down: 6, nearest: 7, decodeE8m0: 8, reciprocalE8m0: 9, operand: 10, fromParams: 255 } as const;
const FORMAT = { BF16: 0, E4M3: 1, E5M2: 2, E2M1: 3 } as const;
type CodecName = keyof typeof FORMAT;

function codec(gpu: Gpu, op: number, a: Uint32Array, b: Uint32Array = new Uint32Array(4), format = 0): Promise<Uint32Array> {
  return kernelWords(gpu, 'codec_check', { OP: OP.fromParams }, Uint32Array.of(a.length, op, format), [a, b, 4 * a.length], a.length);
}

const sequence = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

/** Encodes with and without saturation, decodes every code. -> values compared. */
async function checkFormat(gpu: Gpu, name: CodecName): Promise<number> {
  const format: Minifloat = FORMATS[name];
  const id = FORMAT[name];
  // Exponents from two below the smallest subnormal to two above the largest value: where the roundings are.
  const low = Math.max(1, 127 - format.bias - format.mantissaBits - 2);
  const high = Math.min(254, 129 + (format.maxCode >>> format.mantissaBits) - format.bias);
  const inputs = joined(EDGE_WORDS, tieWords(format, name === 'BF16' ? 31 : 1), windowedWords(4096, 11 + id, low, high, 0x7fffff), randomWords(2048, 21 + id));
  const codes = sequence(1 << format.bits);
  const [strict, loose, decoded] = await Promise.all([codec(gpu, OP.encode, inputs, undefined, id), codec(gpu, OP.encodeLoose, inputs, undefined, id), codec(gpu, OP.decode, codes, undefined, id)]);
  return expectWords(`${name} encode`, strict, Array.from(inputs, (x) => encodeBits(format, x, true)), false, inputs)
    + expectWords(`${name} encode without saturation`, loose, Array.from(inputs, (x) => encodeBits(format, x, false)), false, inputs)
    + expectWords(`${name} decode`, decoded, Array.from(codes, (code) => decodeBits(format, code)), true, codes);
}

async function checkE8m0(gpu: Gpu): Promise<number> {
  const exponents = Array.from({ length: 255 }, (_, field) => [0, 1, 0x3fffff, 0x400000, 0x400001, 0x5fffff, 0x600000, 0x7fffff].map((mantissa) => ((field << 23) | mantissa) >>> 0)).flat();
  const inputs = Uint32Array.from([...exponents, 0x7f800000, 0x7f800001, 0x7fc00000]);
  const codes = sequence(256);
  const roundings = ['up', 'down', 'nearest'] as const;
  const [decoded, reciprocals, ...encoded] = await Promise.all([
    codec(gpu, OP.decodeE8m0, codes), codec(gpu, OP.reciprocalE8m0, codes), ...roundings.map((rounding) => codec(gpu, OP[rounding], inputs)),
  ]);
  let compared = expectWords('E8M0 decode', decoded, Array.from(codes, (c) => bitsOf(decodeE8m0(c))), true, codes)
    + expectWords('E8M0 reciprocal', reciprocals, Array.from(codes, (c) => bitsOf(reciprocalE8m0(c))), true, codes);
  roundings.forEach((rounding, i) => {
    compared += expectWords(`E8M0 ${rounding}`, encoded[i] ?? [], Array.from(inputs, (x) => encodeE8m0(x, rounding)), false, inputs);
  });
  return compared;
}

/** Pairs whose products and quotients are ties, subnormal, overflowing; and all pairs of edge values. */
function hardPairs(): readonly [Uint32Array, Uint32Array] {
  const n = EDGE_WORDS.length;
  const windows = [[100, 150, 0x7fffff, 100, 150, 0x7fffff], [120, 134, 0x7ff800, 120, 134, 0x7ff000], [1, 70, 0x7fff00, 40, 75, 0x7ff800], [0, 40, 0x7fff00, 140, 170, 0x700000], [180, 254, 0x7fffff, 100, 200, 0x7fffff]] as const;
  return [
    joined(sequence(n * n).map((i) => EDGE_WORDS[i % n] ?? 0), randomWords(2048, 31), ...windows.map(([low, high, mask], i) => windowedWords(1024, 41 + i, low, high, mask))),
    joined(sequence(n * n).map((i) => EDGE_WORDS[Math.floor(i / n)] ?? 0), randomWords(2048, 32), ...windows.map(([, , , low, high, mask], i) => windowedWords(1024, 51 + i, low, high, mask))),
  ];
}

async function checkArithmetic(gpu: Gpu, op: 'multiply' | 'divide'): Promise<number> {
  const [a, b] = hardPairs();
  const got = await codec(gpu, OP[op], a, b);
  // A double holds a product of two floats exactly, and rounding a quotient twice is innocuous at 53 >= 2 * 24 + 2 bits.
  const expected = Array.from(a, (x, i) => bitsOf(op === 'multiply' ? fromBits(x) * fromBits(b[i] ?? 0) : fromBits(x) / fromBits(b[i] ?? 0)));
  return expectWords(`integer ${op}`, got, expected, true, a);
}

/** What a GEMM loader makes of every E2M1 code with every finite E4M3 scale. */
async function checkOperand(gpu: Gpu): Promise<number> {
  const elements = sequence(16 * 127).map((i) => i % 16);
  const scales = sequence(16 * 127).map((i) => Math.floor(i / 16));
  const got = await codec(gpu, OP.operand, elements, scales);
  const expected = Array.from(elements, (code, i) => bitsOf(fromBits(decodeBits(FORMATS.E2M1, code)) * fromBits(decodeBits(FORMATS.E4M3, scales[i] ?? 0))));
  return expectWords('operand decode', got, expected, true, elements);
}

const exact = (name: string, ...parts: ((gpu: Gpu) => Promise<number>)[]): Check => ({
  name,
  run: async ({ gpu }: Bench) => {
    let compared = 0;
    for (const part of parts) compared += await part(gpu);
    return `${compared} values bit-equal to the CPU`;
  },
});

export const CODEC_CHECKS: readonly Check[] = [
  exact('FP8 codes', (gpu) => checkFormat(gpu, 'E4M3'), (gpu) => checkFormat(gpu, 'E5M2')),
  exact('FP4 codes', (gpu) => checkFormat(gpu, 'E2M1'), checkOperand),
  exact('BF16 codes', (gpu) => checkFormat(gpu, 'BF16')),
  exact('E8M0 scales', checkE8m0),
  exact('exact multiply', (gpu) => checkArithmetic(gpu, 'multiply')),
  exact('exact divide', (gpu) => checkArithmetic(gpu, 'divide')),
];
