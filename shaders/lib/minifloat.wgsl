// Element codecs on FP32 bits, u32 arithmetic only: the same steps as src/numerics/minifloat.ts and e8m0.ts. Floats
// would not do: a device may flush, round up or down, or assume NaN away (engine.md 3.3). Source: formats.md 1.3, 2.4.
// A format of at most 8 bits arrives as a word made from its row of FORMATS (src/engine/format-words.ts).

struct Minifloat { bits: u32, mantissa_bits: u32, bias: u32, max_code: u32, overflow_code: u32, nan_code: u32 }

const BF16 = Minifloat(16u, 7u, 127u, 0x7f7fu, 0x7f80u, 0x7fc0u);
// The format of NVFP4's block scales.
const E4M3 = Minifloat(8u, 3u, 7u, 0x7eu, 0x7fu, 0x7fu);

// From bit 0: bits, mantissa bits (4 each), bias, largest code, NaN code (8 each). Where there is an overflow code it
// follows the largest one.
fn element_of(word: u32) -> Minifloat {
  let max_code = (word >> 16u) & 0xffu;
  let nan_code = word >> 24u;
  return Minifloat(word & 0xfu, (word >> 4u) & 0xfu, (word >> 8u) & 0xffu, max_code, min(max_code + 1u, nan_code), nan_code);
}

const F32_INF: u32 = 0x7f800000u;
const F32_NAN: u32 = 0x7fc00000u;
const F32_SIGN: u32 = 0x80000000u;

// FP32 bits -> code, nearest even. saturate: too large values and Inf become the largest finite value, else the
// overflow code. A zero result keeps the sign, a NaN loses it.
fn encode_minifloat(f: Minifloat, bits: u32, saturate: bool) -> u32 {
  let u = bits & 0x7fffffffu;
  let sign = (bits >> 31u) << (f.bits - 1u);
  let limit = select(f.overflow_code, f.max_code, saturate);
  let field = u >> 23u;
  let emin = 1 - i32(f.bias);
  let exponent = max(i32(field), 1) - 127;
  let significand = (u & 0x7fffffu) | select(0u, 0x800000u, field > 0u);
  // The value is rounded on the grid of exponent `kept`: `shift` bits of the significand fall away.
  let kept = max(exponent, emin);
  let shift = 23u - f.mantissa_bits + u32(kept - exponent);
  let s = min(shift, 24u);
  let rounded = (significand + (1u << (s - 1u)) - 1u + ((significand >> s) & 1u)) >> s;
  var code = min((u32(kept - emin) << f.mantissa_bits) + rounded, limit);
  code = select(code, 0u, shift > 24u);
  code = select(code, limit, u == F32_INF);
  return select(sign | code, f.nan_code, u > F32_INF);
}

// Code -> FP32 bits, exact. Codes above the overflow code are NaN.
fn decode_minifloat(f: Minifloat, code: u32) -> u32 {
  let sign = ((code >> (f.bits - 1u)) & 1u) << 31u;
  let magnitude = code & ((1u << (f.bits - 1u)) - 1u);
  if (magnitude > f.max_code) {
    let infinite = magnitude == f.overflow_code && f.overflow_code != f.nan_code;
    return select(F32_NAN, sign | F32_INF, infinite);
  }
  let field = magnitude >> f.mantissa_bits;
  let fraction = magnitude & ((1u << f.mantissa_bits) - 1u);
  let base = 127u - f.bias;
  if (field > 0u) { return sign | ((field + base) << 23u) | (fraction << (23u - f.mantissa_bits)); }
  if (fraction == 0u) { return sign; }
  // A subnormal of the format is a normal FP32 number unless the format is BF16.
  let leading = firstLeadingBit(fraction);
  let exponent = 1 + i32(base) + i32(leading) - i32(f.mantissa_bits);
  if (exponent < 1) { return sign | (fraction << (23u - f.mantissa_bits)); }
  return sign | (u32(exponent) << 23u) | ((fraction << (23u - leading)) & 0x7fffffu);
}

// E8M0, code c = 2^(c - 127): FP32 bits of a value >= 0 -> smallest power of two not below it (TransformerEngine).
fn encode_e8m0_up(bits: u32) -> u32 {
  let field = bits >> 23u;
  let mantissa = bits & 0x7fffffu;
  // 2^-127 is the FP32 subnormal 0x400000: what does not exceed it is code 0.
  let above = mantissa > select(0u, 0x400000u, field == 0u);
  var code = select(field, field + 1u, above && field < 254u);
  code = select(code, 254u, bits == F32_INF);
  return select(code, 255u, bits > F32_INF);
}
// Largest power of two not above it; Inf and NaN 0xff (OCP).
fn encode_e8m0_down(bits: u32) -> u32 {
  return min(bits >> 23u, 255u);
}
// Nearest, ties up; zero, NaN and overflow 0xff.
fn encode_e8m0_nearest(bits: u32) -> u32 {
  let field = bits >> 23u;
  let code = select((bits + 0x400000u) >> 23u, select(0u, 1u, (bits & 0x7fffffu) >= 0x600000u), field == 0u);
  return select(code, 255u, bits == 0u || field >= 255u);
}
fn decode_e8m0(code: u32) -> u32 {
  let bits = select(code << 23u, 0x00400000u, code == 0u);
  return select(bits, F32_NAN, code == 255u);
}
// 2^(127 - c), the factor before the cast.
fn reciprocal_e8m0(code: u32) -> u32 {
  return select(decode_e8m0(254u - min(code, 254u)), F32_NAN, code == 255u);
}
