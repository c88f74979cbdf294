// Four operand elements from storage words to exact FP32: BF16, or codes of at most 8 bits times a block scale (formats.md
// 1.6: a GEMM runs on q*s, exact in FP32; tensor scales go into alpha). Codes of up to 4 bits are packed x8 a word, others x4.
// Indices are in quads of four elements along the contiguous axis. Source of the layouts: formats.md 1.1, 1.6.
// @import lib/elements
// @import lib/minifloat

const SCALE_E4M3: u32 = 1u;
const SCALE_E8M0: u32 = 2u;

fn unpack_bf16(words: vec4<u32>, quad: u32) -> vec4<f32> {
  return bf16x4_decode(select(words.xy, words.zw, (quad & 1u) == 1u));
}

fn unpack_codes(f: Minifloat, words: vec4<u32>, quad: u32) -> vec4<u32> {
  if (f.bits <= 4u) {
    let half = words[(quad >> 1u) & 3u] >> (16u * (quad & 1u));
    return (vec4<u32>(half) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(0xfu);
  }
  return (vec4<u32>(words[quad & 3u]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}

// Codes -> FP32. A normal code moves its exponent bias to 127; a subnormal one is m * 2^(1 - bias - mantissa bits), a product
// that is exact; with one mantissa bit m is 0 or 1, and the bits can be multiplied. A code beyond the largest is NaN.
fn unpack_elements(f: Minifloat, code: vec4<u32>) -> vec4<f32> {
  let sign = vec4<u32>(1u << (f.bits - 1u));
  let m = code & (sign - vec4<u32>(1u));
  let normal = (m << vec4<u32>(23u - f.mantissa_bits)) + vec4<u32>((127u - f.bias) << 23u);
  let smallest = (128u - f.bias - f.mantissa_bits) << 23u;
  var subnormal = m * smallest;
  if (f.mantissa_bits != 1u) { subnormal = bitcast<vec4<u32>>(vec4<f32>(m) * bitcast<f32>(smallest)); }
  var bits = select(normal, subnormal, m < vec4<u32>(1u << f.mantissa_bits));
  if (f.max_code + 1u < sign.x) { bits = select(bits, vec4<u32>(F32_NAN), m > vec4<u32>(f.max_code)); }
  return bitcast<vec4<f32>>(bits | ((code & sign) << vec4<u32>(32u - f.bits)));
}

// Block scale code -> FP32 in two factors, because the smallest power of two, 2^-127, is no normal FP32 number. E4M3 has
// exponent bias 7 and subnormals m * 2^-9.
fn unpack_scale(kind: u32, code: u32) -> vec2<f32> {
  if (kind == SCALE_E4M3) {
    return vec2<f32>(select(bitcast<f32>((code << 20u) + 0x3c000000u), f32(code) * 0.001953125, code < 8u), 1.0);
  }
  let power = select(max(code, 1u) << 23u, F32_NAN, code == 255u);
  return vec2<f32>(bitcast<f32>(power), select(1.0, 0.5, code == 0u));
}
