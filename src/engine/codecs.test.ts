/**
 * The WGSL codecs, exact FP32 operations, random numbers and stochastic rounding on a device, through
 * shaders/kernels/codec_check.wgsl: bit-equal with the goldens on every element input, with Math.fround on hard bit
 * patterns, with known answers. The WGSL constants equal FORMATS and SCALE_RULES.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { philox4x32 } from '../base/random';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { runKernel } from '../gpu/run-kernel';
import { decodeE8m0 } from '../numerics/e8m0';
import { bitsOf, fromBits } from '../numerics/float-bits';
import { FORMATS, type FormatName } from '../numerics/formats';
import { countDifferent, elementArray, goldenBytes, goldenPhilox } from '../numerics/golden-formats';
import { decode, decodeBits } from '../numerics/minifloat';
import { NVFP4_RANGE } from '../numerics/nvfp4';
import { SCALE_RULES } from '../numerics/schemes';
import { encodeE2m1Stochastic } from '../numerics/stochastic';
import { elementWord } from './format-words';
import { KERNELS } from './kernels';

const OP = { encode: 0, encodeLoose: 1, decode: 2, multiply: 3, divide: 4, up: 5, down: 6, nearest: 7, decodeE8m0: 8, reciprocalE8m0: 9, operand: 10, add: 11, stochastic: 12, philox: 13 };
const SCALE = { E4M3: 1, E8M0: 2 };

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

async function run(op: number, a: Uint32Array, b: Uint32Array = new Uint32Array(4), element: FormatName = 'BF16', scale = 0, count = a.length): Promise<Uint32Array> {
  const garbage = new Uint32Array(a.length).fill(0xdeadbeef);
  const params = Uint32Array.of(count, op, element === 'BF16' ? 0 : elementWord(element), scale);
  const out = await runKernel(gpu, { row: KERNELS.codec_check, params, buffers: [a, b, garbage], invocations: count });
  return new Uint32Array(out[2] ?? new ArrayBuffer(0));
}

const allBf16 = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => (i << 16) >>> 0);
const codes = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

describe('constants', () => {
  const text = (name: string): string => readFileSync(new URL(`../../shaders/lib/${name}.wgsl`, import.meta.url), 'utf8');
  it('minifloat.wgsl holds the rows of FORMATS that it names', () => {
    const rows = [...text('minifloat').matchAll(/^const (\w+) = Minifloat\(([^)]*)\);/gm)];
    expect(rows.map((m) => m[1])).toEqual(['BF16', 'E4M3']);
    const values = rows.map((m) => (m[2] ?? '').split(',').map((v) => Number(v.trim().replace(/u$/, ''))));
    expect(values).toEqual([FORMATS.BF16, FORMATS.E4M3].map((f) => [f.bits, f.mantissaBits, f.bias, f.maxCode, f.overflowCode, f.nanCode]));
  });
  it('scales.wgsl holds the codes of SCALE_RULES, 2688, its square and the reciprocals', () => {
    const constants = Object.fromEntries([...text('scales').matchAll(/^const (\w+): u32 = (\w+)u;/gm)].map((m) => [m[1], Number(m[2])]));
    const rules = Object.entries(SCALE_RULES).filter(([name]) => name !== 'none').map(([name, { code }]) => [`RULE_${name.toUpperCase().replace('-', '_')}`, code]);
    expect(constants).toEqual({
      ...Object.fromEntries(rules) as Record<string, number>, ONE: bitsOf(1), F32_MAX: bitsOf(3.4028234663852886e38),
      NVFP4_RANGE: bitsOf(NVFP4_RANGE), NVFP4_SIXTH: bitsOf(1 / 6), NVFP4_RANGE_INVERSE: bitsOf(1 / NVFP4_RANGE), NVFP4_RANGE_SQUARED: bitsOf(NVFP4_RANGE ** 2),
    });
  });
});

describe('element codecs equal the goldens', () => {
  it.each(['E4M3', 'E5M2', 'E2M1'] as const)('%s: ties, codes, edges, all 65,536 BF16 values, decode', async (name) => {
    for (const [input, array] of [[elementArray(name, 'input'), 'codes'], [allBf16(65536), 'allBf16']] as const) {
      const strict = await run(OP.encode, input, undefined, name);
      expect(countDifferent(strict, elementArray(name, array), false), array).toBe(0);
      // E2M1 has no overflow code: both casts saturate.
      const looseArray = name === 'E2M1' ? array : array === 'codes' ? 'codesNonSaturating' : 'allBf16NonSaturating';
      const loose = await run(OP.encodeLoose, input, undefined, name);
      expect(countDifferent(loose, elementArray(name, looseArray), false), looseArray).toBe(0);
    }
    const golden = elementArray(name, 'decode');
    expect(countDifferent(await run(OP.decode, codes(golden.length), undefined, name), golden, true)).toBe(0);
  });
  it('BF16: encode, and decode of all 65,536 codes', async () => {
    expect(countDifferent(await run(OP.encodeLoose, elementArray('BF16', 'input'), undefined, 'BF16'), elementArray('BF16', 'codes'), false)).toBe(0);
    expect(countDifferent(await run(OP.decode, codes(65536), undefined, 'BF16'), allBf16(65536), true)).toBe(0);
  });
  it('E8M0: up, down, nearest, decode, reciprocal', async () => {
    const input = elementArray('E8M0', 'input');
    for (const [op, name] of [[OP.up, 'Up'], [OP.down, 'Down'], [OP.nearest, 'Nearest']] as const) {
      expect(countDifferent(await run(op, input), elementArray('E8M0', name.toLowerCase()), false), name).toBe(0);
      expect(countDifferent(await run(op, allBf16(32768)), elementArray('E8M0', `allBf16${name}`), false), `${name}, all BF16`).toBe(0);
    }
    expect(countDifferent(await run(OP.decodeE8m0, codes(256)), elementArray('E8M0', 'decode'), true)).toBe(0);
    expect(countDifferent(await run(OP.reciprocalE8m0, codes(256)), elementArray('E8M0', 'reciprocal'), true)).toBe(0);
  });
  it.each(['E2M1', 'E4M3', 'E5M2'] as const)('GEMM loader: every code of %s times every scale', async (name) => {
    const format = FORMATS[name];
    for (const [kind, finite, value] of [['E4M3', 127, (c: number) => decode(FORMATS.E4M3, c)], ['E8M0', 256, decodeE8m0]] as const) {
      const element = Uint32Array.from({ length: finite << format.bits }, (_, i) => i & ((1 << format.bits) - 1));
      const scale = element.map((_, i) => i >> format.bits);
      const expected = Array.from(element, (code, i) => bitsOf(fromBits(decodeBits(format, code)) * value(scale[i] ?? 0)));
      // A float multiply may flush a subnormal result; Inf codes, which no cast of ours makes, load as NaN.
      const got = (await run(OP.operand, element, scale, name, SCALE[kind])).map((bits, i) => ((expected[i] ?? 0) & 0x7f800000) === 0 && (bits & 0x7fffffff) === 0 ? (expected[i] ?? 0) : bits);
      const magnitude = (1 << (format.bits - 1)) - 1;
      expect(countDifferent(got, expected.map((bits, i) => (((element[i] ?? 0) & magnitude) > format.maxCode ? 0x7fc00000 : bits)), true), kind).toBe(0);
    }
  });
});

describe('random numbers', () => {
  it('Philox: known answers and 4096 random counters', async () => {
    const known = goldenPhilox.map(({ counter, key, output }) => [counter, key, output].map((words) => words.map((word) => parseInt(word, 16))));
    const pattern = (i: number, j: number): number => Math.imul(i + 1, 0x9e3779b1 + 2 * j) >>> 0;
    const drawn = Array.from({ length: 4096 }, (_, i) => {
      const [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map((j) => pattern(i, j)) as [number, number, number, number, number, number];
      return [[a, b, c, d], [e, f], [...philox4x32([a, b, c, d], [e, f])]];
    });
    const rows = [...known, ...drawn];
    const column = (k: number): Uint32Array => Uint32Array.from(rows.flatMap((row) => row[k] ?? []));
    expect(known.length).toBeGreaterThanOrEqual(3);
    expect(countDifferent(await run(OP.philox, column(0), column(1), 'BF16', 0, rows.length), column(2), false)).toBe(0);
  });

  it('the byte of every element of a tensor, little end first: goldens', async () => {
    for (const { shape: [rows, cols], seed, stream, step, draw, bytes } of goldenBytes) {
      const calls = Math.ceil(cols / 16);
      const sequence = codes(rows * calls);
      const counters = Uint32Array.from([...sequence].flatMap((i) => [i, step, draw, 0]));
      const drawn = new Uint8Array((await run(OP.philox, counters, Uint32Array.from([...sequence].flatMap(() => [seed, stream])), 'BF16', 0, sequence.length)).buffer);
      expect(countDifferent(bytes.map((_, i) => drawn[Math.floor(i / cols) * 16 * calls + (i % cols)] ?? 0), bytes, false)).toBe(0);
    }
  });

  it('stochastic rounding: 100,000 elements and bytes, and every threshold of formats.md 8, as the CPU', async () => {
    const count = 100_000;
    const words = Array.from({ length: count / 2 }, (_, i) => philox4x32([i, 0, 0, 0], [5, 6])).flat();
    // Exponents around E2M1's range, and now and then any bits at all.
    const x = Uint32Array.from({ length: count }, (_, i) => {
      const w = words[2 * i] ?? 0;
      return i % 16 === 0 ? w : ((w & 0x807fffff) | ((100 + ((w >>> 23) % 32)) << 23)) >>> 0;
    });
    const bytes = x.map((_, i) => (words[2 * i + 1] ?? 0) & 0xff);
    expect(countDifferent(await run(OP.stochastic, x, bytes, 'E2M1'), Array.from(x, (bits, i) => encodeE2m1Stochastic(bits, bytes[i] ?? 0)), false)).toBe(0);
    // Vector 27: the smallest byte that rounds up; then the corner below 0.5.
    const thresholds: [number, number, number, number][] = [[2.4, 4, 5, 154], [5, 6, 7, 128], [1.75, 3, 4, 128], [0.1, 0, 1, 205], [1.9, 3, 4, 52], [3.9, 5, 6, 26], [4.5, 6, 7, 192]];
    const edge = Uint32Array.from(thresholds.flatMap(([v]) => [bitsOf(v), bitsOf(v)]));
    expect([...await run(OP.stochastic, edge, Uint32Array.from(thresholds.flatMap(([, , , r]) => [r - 1, r])), 'E2M1')]).toEqual(thresholds.flatMap(([, low, high]) => [low, high]));
    const fixed = [6, 7, 0, Infinity, NaN, -0, 0.5 - 2 ** -25].map(bitsOf);
    expect([...await run(OP.stochastic, Uint32Array.from(fixed), new Uint32Array(7), 'E2M1')]).toEqual([7, 7, 0, 7, 7, 8, 0]);
  });
});

describe('exact FP32 operations equal Math.fround', () => {
  /** xorshift32, so that the pairs are the same in every run. */
  function words(count: number, seed: number): Uint32Array {
    let s = seed;
    return Uint32Array.from({ length: count }, () => {
      s ^= s << 13;
      s ^= s >>> 17;
      s ^= s << 5;
      return s >>> 0;
    });
  }
  const EDGES = [
    0, 1, 2, 3, 0x3fffff, 0x400000, 0x400001, 0x7fffff, 0x800000, 0x800001, 0xffffff, 0x1000000, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001,
    0x3fffffff, 0x40000000, 0x40400000, 0x45280000, 0x3e2aaaab, 0x7effffff, 0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
  ].flatMap((bits) => [bits, (bits | 0x80000000) >>> 0]);
  /** Exponents restricted to a window, so that results fall on a chosen edge; few mantissa bits, so that ties are common. */
  const windowed = (count: number, seed: number, low: number, high: number, mask: number): Uint32Array =>
    words(count, seed).map((w, i) => ((w & (0x80000000 | mask)) | ((low + (((w >>> 16) ^ i) % (high - low + 1))) << 23)) >>> 0);
  const N = 1 << 16;
  const PAIRS: Record<string, [Uint32Array, Uint32Array]> = {
    'all pairs of edge values': [
      Uint32Array.from({ length: EDGES.length ** 2 }, (_, i) => EDGES[i % EDGES.length] ?? 0),
      Uint32Array.from({ length: EDGES.length ** 2 }, (_, i) => EDGES[Math.floor(i / EDGES.length)] ?? 0),
    ],
    'random bits': [words(N, 1), words(N, 2)],
    'ordinary exponents': [windowed(N, 3, 100, 150, 0x7fffff), windowed(N, 4, 100, 150, 0x7fffff)],
    'few mantissa bits, so many ties': [windowed(N, 5, 120, 134, 0x7ff800), windowed(N, 6, 120, 134, 0x7ff000)],
    'products that are subnormal': [windowed(N, 7, 1, 70, 0x7fff00), windowed(N, 8, 40, 75, 0x7ff800)],
    'products that overflow, quotients that are subnormal': [windowed(N, 9, 180, 200, 0x7fffff), windowed(N, 10, 180, 200, 0x7fffff)],
    'quotients that are subnormal': [windowed(N, 11, 0, 40, 0x7fff00), windowed(N, 12, 140, 170, 0x700000)],
    'quotients that overflow': [windowed(N, 13, 240, 254, 0x7fffff), windowed(N, 14, 100, 127, 0x7fffff)],
    'near opposites, so sums that cancel': [windowed(N, 17, 120, 122, 0x7fffff), windowed(N, 18, 120, 122, 0x7fffff)],
    'sums on ties': [windowed(N, 19, 127, 128, 0x7fffff), windowed(N, 20, 100, 106, 0x600000)],
    'sums around the smallest normal': [windowed(N, 21, 0, 2, 0x7fffff), windowed(N, 22, 0, 2, 0x7fffff)],
    'subnormal operands': [windowed(N, 15, 0, 0, 0x7fffff), windowed(N, 16, 100, 254, 0x7fffff)],
  };
  it.each(Object.entries(PAIRS))('%s', async (_name, [a, b]) => {
    const product = Array.from(a, (x, i) => bitsOf(Math.fround(fromBits(x) * fromBits(b[i] ?? 0))));
    const quotient = Array.from(a, (x, i) => bitsOf(Math.fround(fromBits(x) / fromBits(b[i] ?? 0))));
    const sum = Array.from(a, (x, i) => bitsOf(Math.fround(fromBits(x) + fromBits(b[i] ?? 0))));
    expect(countDifferent(await run(OP.add, a, b), sum, true), 'a + b').toBe(0);
    expect(countDifferent(await run(OP.multiply, a, b), product, true), 'a * b').toBe(0);
    expect(countDifferent(await run(OP.divide, a, b), quotient, true), 'a / b').toBe(0);
  });
  it('the pairs reach every edge: subnormal, overflowing and tied results', () => {
    const reached = { subnormal: 0, overflow: 0, tie: 0 };
    for (const [a, b] of Object.values(PAIRS)) {
      a.forEach((x, i) => {
        const exact = Math.abs(fromBits(x) * fromBits(b[i] ?? 0));
        const rounded = Math.fround(exact);
        if (rounded > 0 && rounded < 2 ** -126) reached.subnormal += 1;
        if (rounded === Infinity && exact !== Infinity) reached.overflow += 1;
        const neighbour = fromBits(bitsOf(rounded) + (exact > rounded ? 1 : -1));
        if (exact !== rounded && Number.isFinite(rounded) && Math.abs(exact - rounded) === Math.abs(neighbour - exact)) reached.tie += 1;
      });
    }
    expect(Math.min(reached.subnormal, reached.overflow, reached.tie)).toBeGreaterThan(5000);
  });
});
