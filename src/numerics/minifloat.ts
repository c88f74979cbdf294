/**
 * Element codecs: FP32 bits -> code with u32 operations only, the same steps as shaders/lib/minifloat.wgsl, and code
 * -> FP32. Round to nearest, ties to the even code. Source: formats.md 1.3; its step 1 (FP32 subnormals are zero) is
 * widened so that BF16, which keeps them, is a row like the others.
 */
import { bitsView, F32_INF_BITS, F32_NAN_BITS, fromBits } from './float-bits';
import type { Minifloat } from './formats';

/**
 * FP32 bits -> code. Saturating: beyond the largest finite value, Inf included, becomes that value; otherwise the
 * format's overflow code. A zero result keeps the sign; a NaN loses it.
 */
export function encodeBits(format: Minifloat, bits: number, saturate: boolean = format.saturates): number {
  const u = bits & 0x7fffffff;
  if (u > F32_INF_BITS) return format.nanCode;
  const sign = bits >>> 31 << (format.bits - 1);
  const limit = saturate ? format.maxCode : format.overflowCode;
  if (u === F32_INF_BITS) return sign | limit;
  const field = u >>> 23;
  const emin = 1 - format.bias;
  const exponent = Math.max(field, 1) - 127;
  const significand = (u & 0x7fffff) | (field > 0 ? 0x800000 : 0);
  // The value is rounded on the grid of exponent `kept`: `shift` bits of the significand fall away.
  const kept = Math.max(exponent, emin);
  const shift = 23 - format.mantissaBits + (kept - exponent);
  if (shift > 24) return sign;
  const rounded = (significand + (1 << (shift - 1)) - 1 + ((significand >>> shift) & 1)) >>> shift;
  return sign | Math.min(((kept - emin) << format.mantissaBits) + rounded, limit);
}

/** FP32 value -> code, see encodeBits. */
export function encode(format: Minifloat, x: number, saturate: boolean = format.saturates): number {
  one[0] = x;
  return encodeBits(format, oneBits[0] ?? 0, saturate);
}
const one = new Float32Array(1);
const oneBits = bitsView(one);

/** FP32 array -> codes (u8 up to 8 bits, else u16), same length. */
export function encodeAll(format: Minifloat, x: Float32Array, saturate: boolean = format.saturates): Uint8Array | Uint16Array {
  const codes = format.bits > 8 ? new Uint16Array(x.length) : new Uint8Array(x.length);
  const bits = bitsView(x);
  for (let i = 0; i < x.length; i++) codes[i] = encodeBits(format, bits[i] ?? 0, saturate);
  return codes;
}

/** Code -> FP32 bits; exact, every value is an FP32 number. Codes above the overflow code are NaN. */
export function decodeBits(format: Minifloat, code: number): number {
  const sign = ((code >>> (format.bits - 1)) & 1) << 31 >>> 0;
  const magnitude = code & ((1 << (format.bits - 1)) - 1);
  if (magnitude > format.maxCode) {
    const infinite = magnitude === format.overflowCode && format.overflowCode !== format.nanCode;
    return infinite ? (sign | F32_INF_BITS) >>> 0 : F32_NAN_BITS;
  }
  const field = magnitude >>> format.mantissaBits;
  const fraction = magnitude & ((1 << format.mantissaBits) - 1);
  // Exponents as FP32 fields; a subnormal of the format is a normal FP32 number unless the format is BF16.
  const base = 127 - format.bias;
  if (field > 0) return (sign | ((field + base) << 23) | (fraction << (23 - format.mantissaBits))) >>> 0;
  if (fraction === 0) return sign;
  const leading = 31 - Math.clz32(fraction);
  const exponent = 1 + base + leading - format.mantissaBits;
  if (exponent < 1) return (sign | (fraction << (23 - format.mantissaBits))) >>> 0;
  return (sign | (exponent << 23) | ((fraction << (23 - leading)) & 0x7fffff)) >>> 0;
}

/** Code -> FP32 value. */
export function decode(format: Minifloat, code: number): number {
  return fromBits(decodeBits(format, code));
}

const tables = new Map<string, Float32Array>();

/** FP32 value of every code, [2^bits]; made once per format name. Callers do not write into it. */
export function decodeTable(format: Minifloat): Float32Array {
  let table = tables.get(format.name);
  if (!table) {
    table = Float32Array.from({ length: 1 << format.bits }, (_, code) => decode(format, code));
    tables.set(format.name, table);
  }
  return table;
}
