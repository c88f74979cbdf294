/**
 * Fixed inputs of the checks: random words from Philox, so that every device sees the same ones, and the bit patterns
 * where rounding goes wrong first: ties and their neighbours, subnormals, the edges of the range.
 */
import { philox4x32 } from '../../base/random';
import { bitsOf, fromBits } from '../../numerics/float-bits';
import type { Minifloat } from '../../numerics/formats';
import { decode } from '../../numerics/minifloat';

export function randomWords(count: number, seed: number): Uint32Array {
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i += 4) out.set(philox4x32([i, 0, 0, 0], [seed, 0x5e1f]).slice(0, count - i), i);
  return out;
}

/** Sums of three uniform numbers, about normal: mean 0, deviation `scale`. */
export function randomValues(count: number, seed: number, scale: number): Float32Array {
  const words = randomWords(3 * count, seed);
  const uniform = (i: number): number => (words[i] ?? 0) / 2 ** 31 - 1;
  return Float32Array.from({ length: count }, (_, i) => scale * (uniform(3 * i) + uniform(3 * i + 1) + uniform(3 * i + 2)));
}

/** Random bits with exponent fields in low..high; a short `mantissa` mask makes exact ties common. */
export function windowedWords(count: number, seed: number, low: number, high: number, mantissa: number): Uint32Array {
  return randomWords(count, seed).map((w) => ((w & (0x80000000 | mantissa)) | ((low + (((w >>> 23) & 0xff) % (high - low + 1))) << 23)) >>> 0);
}

export const EDGE_WORDS = Uint32Array.from([
  0, 1, 2, 0x3fffff, 0x400000, 0x400001, 0x7fffff, 0x800000, 0x800001, 0xffffff, 0x1000000, 0x3e2aaaab, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001,
  0x3fffffff, 0x40000000, 0x40400000, 0x45280000, 0x7effffff, 0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
].flatMap((bits) => [bits, (bits | 0x80000000) >>> 0]));

/** Every value of a format, every midpoint of two neighbours and the FP32 numbers next to it, both signs; `step` thins. */
export function tieWords(format: Minifloat, step = 1): Uint32Array {
  const out: number[] = [];
  for (let code = 0; code <= format.maxCode; code += step) {
    const value = decode(format, code);
    // Beyond the largest value the tie is half a step further, as if the format went on.
    const next = code < format.maxCode ? decode(format, code + 1) : 2 * value - decode(format, code - 1);
    const tie = bitsOf((value + next) / 2);
    for (const bits of [bitsOf(value), tie - 1, tie, tie + 1]) out.push(bits, (bits | 0x80000000) >>> 0);
  }
  return Uint32Array.from(out);
}

/** Values of a BF16 grid: what a BF16 tensor holds. */
export function bf16Values(count: number, seed: number, scale: number): Float32Array {
  return randomValues(count, seed, scale).map((x) => fromBits((bitsOf(x) & 0xffff0000) >>> 0));
}

export function joined(...parts: readonly Uint32Array[]): Uint32Array {
  const out = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
