/**
 * The WGSL codecs and exact FP32 operations on a device, through shaders/kernels/codec_check.wgsl: bit-equal with the
 * goldens on every element input, and with Math.fround on hard bit patterns. The WGSL constants equal FORMATS.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../gpu/gpu';
import { openNodeDevice } from '../gpu/node-device';
import { runKernel } from '../gpu/run-kernel';
import { bitsOf, fromBits } from './float-bits';
import { FORMATS, type Minifloat } from './formats';
import { countDifferent, elementArray } from './golden-formats';
import { decodeBits } from './minifloat';
import { NVFP4_RANGE } from './nvfp4';

const ROW = { name: 'codec_check', bindings: ['read', 'read', 'write'] } as const;
const OP = { encode: 0, encodeLoose: 1, decode: 2, multiply: 3, divide: 4, up: 5, down: 6, nearest: 7, decodeE8m0: 8, reciprocalE8m0: 9, blockValue: 10 };
const FORMAT = { BF16: 0, E4M3: 1, E5M2: 2, E2M1: 3 };

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeDevice();
});
afterAll(() => {
  expect(gpu.liveBuffers).toBe(0);
  gpu.device.destroy();
});

async function run(op: number, a: Uint32Array, b: Uint32Array = new Uint32Array(4), format = 0): Promise<Uint32Array> {
  const garbage = new Uint32Array(a.length).fill(0xdeadbeef);
  const out = await runKernel(gpu, { row: ROW, constants: { OP: op, FORMAT: format }, params: Uint32Array.of(a.length), buffers: [a, b, garbage], invocations: a.length });
  return new Uint32Array(out[2] ?? new ArrayBuffer(0));
}

const allBf16 = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => (i << 16) >>> 0);
const codes = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

describe('constants', () => {
  const text = (name: string): string => readFileSync(new URL(`../../shaders/lib/${name}.wgsl`, import.meta.url), 'utf8');
  it('minifloat.wgsl holds the rows of FORMATS', () => {
    const rows = [...text('minifloat').matchAll(/^const (\w+) = Minifloat\(([^)]*)\);/gm)];
    const expected = Object.values(FORMATS).filter((f): f is typeof f & Minifloat => f.kind === 'minifloat');
    expect(rows.map((m) => m[1])).toEqual(expected.map((f) => f.name));
    const values = rows.map((m) => (m[2] ?? '').split(',').map((v) => Number(v.trim().replace(/u$/, ''))));
    expect(values).toEqual(expected.map((f) => [f.bits, f.mantissaBits, f.bias, f.maxCode, f.overflowCode, f.nanCode]));
  });
  it('nvfp4.wgsl holds 2688, its square and the reciprocals', () => {
    const constants = Object.fromEntries([...text('nvfp4').matchAll(/^const (NVFP4_\w+): u32 = (0x[0-9a-f]+)u;/gm)].map((m) => [m[1], Number(m[2])]));
    expect(constants).toEqual({
      NVFP4_RANGE: bitsOf(NVFP4_RANGE),
      NVFP4_SIXTH: bitsOf(1 / 6),
      NVFP4_RANGE_INVERSE: bitsOf(1 / NVFP4_RANGE),
      NVFP4_RANGE_SQUARED: bitsOf(NVFP4_RANGE ** 2),
    });
  });
});

describe('element codecs equal the goldens', () => {
  it.each(['E4M3', 'E5M2', 'E2M1'] as const)('%s: ties, codes, edges, all 65,536 BF16 values, decode', async (name) => {
    for (const [input, array] of [[elementArray(name, 'input'), 'codes'], [allBf16(65536), 'allBf16']] as const) {
      const strict = await run(OP.encode, input, undefined, FORMAT[name]);
      expect(countDifferent(strict, elementArray(name, array), false), array).toBe(0);
      // E2M1 has no overflow code: both casts saturate.
      const looseArray = name === 'E2M1' ? array : array === 'codes' ? 'codesNonSaturating' : 'allBf16NonSaturating';
      const loose = await run(OP.encodeLoose, input, undefined, FORMAT[name]);
      expect(countDifferent(loose, elementArray(name, looseArray), false), looseArray).toBe(0);
    }
    const golden = elementArray(name, 'decode');
    expect(countDifferent(await run(OP.decode, codes(golden.length), undefined, FORMAT[name]), golden, true)).toBe(0);
  });
  it('BF16: encode, and decode of all 65,536 codes', async () => {
    expect(countDifferent(await run(OP.encodeLoose, elementArray('BF16', 'input'), undefined, FORMAT.BF16), elementArray('BF16', 'codes'), false)).toBe(0);
    expect(countDifferent(await run(OP.decode, codes(65536), undefined, FORMAT.BF16), allBf16(65536), true)).toBe(0);
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
  it('GEMM loader: every E2M1 code times every finite E4M3 scale', async () => {
    const element = Uint32Array.from({ length: 16 * 127 }, (_, i) => i % 16);
    const scale = Uint32Array.from({ length: 16 * 127 }, (_, i) => Math.floor(i / 16));
    const expected = Array.from(element, (code, i) => bitsOf(fromBits(decodeBits(FORMATS.E2M1, code)) * fromBits(decodeBits(FORMATS.E4M3, scale[i] ?? 0))));
    expect(countDifferent(await run(OP.blockValue, element, scale), expected, true)).toBe(0);
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
    'subnormal operands': [windowed(N, 15, 0, 0, 0x7fffff), windowed(N, 16, 100, 254, 0x7fffff)],
  };
  it.each(Object.entries(PAIRS))('%s', async (_name, [a, b]) => {
    const product = Array.from(a, (x, i) => bitsOf(Math.fround(fromBits(x) * fromBits(b[i] ?? 0))));
    const quotient = Array.from(a, (x, i) => bitsOf(Math.fround(fromBits(x) / fromBits(b[i] ?? 0))));
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
