/**
 * Element codecs, exact FP32 operations and random numbers of shaders/lib, bit for bit against src/numerics and src/base:
 * every value, every tie and its neighbours, random bits, every code back. One pipeline serves all.
 */
import { philox4x32, type Words2, type Words4 } from '../../base/random';
import { bitsOf, fromBits } from '../../numerics/float-bits';
import { decodeE8m0, encodeE8m0, reciprocalE8m0 } from '../../numerics/e8m0';
import { FORMATS, type Minifloat } from '../../numerics/formats';
import { decodeBits, encodeBits } from '../../numerics/minifloat';
import { encodeE2m1Stochastic } from '../../numerics/stochastic';
import type { Gpu } from '../../gpu/gpu';
import { elementWord } from '../format-words';
import { kernelWords, type Bench, type Check } from './check';
import { expectWords } from './compare';
import { EDGE_WORDS, joined, randomWords, tieWords, windowedWords } from './inputs';

/** `op` and `scale` of shaders/kernels/codec_check.wgsl. */
const OP = {
  encode: 0, encodeLoose: 1, decode: 2, multiply: 3, divide: 4, up: 5, down: 6, nearest: 7, decodeE8m0: 8, reciprocalE8m0: 9, operand: 10, add: 11, stochastic: 12, philox: 13,
} as const;
const SCALE = { E4M3: 1, E8M0: 2 } as const;
const CODECS = ['BF16', 'E4M3', 'E5M2', 'E2M1'] as const;
type CodecName = (typeof CODECS)[number];

interface CodecRun {
  readonly b?: Uint32Array;
  readonly element?: CodecName;
  readonly scale?: number;
  /** Invocations, one a word of a unless given. */
  readonly count?: number;
}

function codec(gpu: Gpu, op: number, a: Uint32Array, { b = new Uint32Array(4), element = 'BF16', scale = 0, count = a.length }: CodecRun = {}): Promise<Uint32Array> {
  return kernelWords(gpu, 'codec_check', {}, Uint32Array.of(count, op, element === 'BF16' ? 0 : elementWord(element), scale), [a, b, 4 * a.length], count);
}

const sequence = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

/** Encodes with and without saturation, decodes every code. -> values compared. */
async function checkFormat(gpu: Gpu, name: CodecName): Promise<number> {
  const format: Minifloat = FORMATS[name];
  const id = CODECS.indexOf(name);
  // Exponents from two below the smallest subnormal to two above the largest value: where the roundings are.
  const low = Math.max(1, 127 - format.bias - format.mantissaBits - 2);
  const high = Math.min(254, 129 + (format.maxCode >>> format.mantissaBits) - format.bias);
  const inputs = joined(EDGE_WORDS, tieWords(format, name === 'BF16' ? 31 : 1), windowedWords(4096, 11 + id, low, high, 0x7fffff), randomWords(2048, 21 + id));
  const codes = sequence(1 << format.bits);
  const [strict, loose, decoded] = await Promise.all([codec(gpu, OP.encode, inputs, { element: name }), codec(gpu, OP.encodeLoose, inputs, { element: name }), codec(gpu, OP.decode, codes, { element: name })]);
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

/** A double holds a product of two floats exactly, and rounding a sum or quotient twice is innocuous at 53 >= 2 * 24 + 2 bits. */
const EXACT = { multiply: (x: number, y: number) => x * y, divide: (x: number, y: number) => x / y, add: (x: number, y: number) => x + y } as const;

async function checkArithmetic(gpu: Gpu, op: keyof typeof EXACT): Promise<number> {
  const [a, b] = hardPairs();
  const got = await codec(gpu, OP[op], a, { b });
  const expected = Array.from(a, (x, i) => bitsOf(EXACT[op](fromBits(x), fromBits(b[i] ?? 0))));
  return expectWords(`integer ${op}`, got, expected, true, a);
}

/** What a GEMM loader makes of every code with every scale whose product is no subnormal number: a float multiply may flush those. */
async function checkOperand(gpu: Gpu, element: Exclude<CodecName, 'BF16'>, kind: keyof typeof SCALE): Promise<number> {
  const format = FORMATS[element];
  const every = sequence(kind === 'E4M3' ? 127 : 255);
  // Scales between the smallest ones and the largest act alike: every seventeenth stands for them.
  const scales = every.filter((code) => code < 24 || code > every.length - 4 || code % 17 === 0);
  const value = (code: number): number => (kind === 'E4M3' ? fromBits(decodeBits(FORMATS.E4M3, code)) : decodeE8m0(code));
  const kept = [...scales].flatMap((scale) => Array.from(sequence(1 << format.bits), (code) => ({ scale, code, product: fromBits(decodeBits(format, code)) * value(scale) })))
    .filter(({ product }) => product === 0 || Number.isNaN(product) || (Math.abs(product) >= 2 ** -126 && Math.abs(product) < 2 ** 128));
  const codes = Uint32Array.from(kept, ({ code }) => code);
  const got = await codec(gpu, OP.operand, codes, { b: Uint32Array.from(kept, ({ scale }) => scale), element, scale: SCALE[kind] });
  return expectWords(`${element} operand decode`, got, kept.map(({ product }) => bitsOf(product)), true, codes);
}

/** Random numbers of any counter and key, and what stochastic rounding makes of a byte. */
async function checkRandom(gpu: Gpu): Promise<number> {
  const [calls, count] = [256, 4096];
  const [counters, keys] = [joined(randomWords(4 * calls - 8, 71), Uint32Array.of(0, 0, 0, 0, ...new Array<number>(4).fill(0xffffffff))), randomWords(2 * calls, 72)];
  const expected = Array.from({ length: calls }, (_, i) => philox4x32([...counters.subarray(4 * i, 4 * i + 4)] as unknown as Words4, [...keys.subarray(2 * i, 2 * i + 2)] as unknown as Words2)).flat();
  // t = 0.5 - 2^-26 becomes 0.5, and no other sum below it does.
  const corners = [[0.25 - 2 ** -26, 128], [2 ** -9 - 2 ** -26, 255], [0.25 - 2 ** -25, 128], [2 ** -9 - 2 ** -26, 254]] as const;
  const x = joined(EDGE_WORDS, windowedWords(count, 73, 100, 131, 0x7fffff), Uint32Array.from(corners, ([value]) => bitsOf(value)));
  const bytes = joined(randomWords(x.length - corners.length, 74).map((word) => word & 0xff), Uint32Array.from(corners, ([, byte]) => byte));
  return expectWords('Philox', await codec(gpu, OP.philox, counters, { b: keys, count: calls }), expected)
    + expectWords('E2M1 by a random byte', await codec(gpu, OP.stochastic, x, { b: bytes, element: 'E2M1' }), Array.from(x, (bits, i) => encodeE2m1Stochastic(bits, bytes[i] ?? 0)), false, x);
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
  exact('FP8 codes', (gpu) => checkFormat(gpu, 'E4M3'), (gpu) => checkFormat(gpu, 'E5M2'), (gpu) => checkOperand(gpu, 'E4M3', 'E8M0'), (gpu) => checkOperand(gpu, 'E5M2', 'E8M0')),
  exact('FP4 codes', (gpu) => checkFormat(gpu, 'E2M1'), (gpu) => checkOperand(gpu, 'E2M1', 'E4M3'), (gpu) => checkOperand(gpu, 'E2M1', 'E8M0')),
  exact('BF16 codes', (gpu) => checkFormat(gpu, 'BF16')),
  exact('E8M0 scales', checkE8m0),
  exact('exact add', (gpu) => checkArithmetic(gpu, 'add')),
  exact('exact multiply', (gpu) => checkArithmetic(gpu, 'multiply')),
  exact('exact divide', (gpu) => checkArithmetic(gpu, 'divide')),
  exact('random numbers', checkRandom),
];
