// Four operand elements from storage words to exact FP32: format 0 FP32, 1 BF16, 2 E2M1 times its E4M3 block scale
// (formats.md 1.6: an NVFP4 GEMM runs on q*s, exact in FP32; the tensor scales go into alpha).
// Indices are in quads of four elements along the contiguous axis. Source of the layouts: formats.md 1.1, 1.6.
// @import lib/elements

fn unpack_bf16(words: vec4<u32>, quad: u32) -> vec4<f32> {
  return bf16x4_decode(select(words.xy, words.zw, (quad & 1u) == 1u));
}

// E4M3 code without sign -> FP32. Normal: exponent bias 7 -> 127; subnormal: m * 2^-9.
fn unpack_e4m3_scale(word: u32, quad: u32) -> f32 {
  let s = (word >> (8u * ((quad >> 2u) & 3u))) & 0x7fu;
  return select(bitcast<f32>((s << 20u) + 0x3c000000u), f32(s) * 0.001953125, s < 8u);
}

// E2M1: magnitudes 0, 0.5 below code 2, else exponent code m >> 1 with bias 1 and one mantissa bit.
fn unpack_e2m1(words: vec4<u32>, quad: u32) -> vec4<f32> {
  let half = words[(quad >> 1u) & 3u] >> (16u * (quad & 1u));
  let code = (vec4<u32>(half) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(0xfu);
  let m = code & vec4<u32>(7u);
  let normal = (m << vec4<u32>(22u)) + vec4<u32>(0x3f000000u);
  let bits = select(normal, m * vec4<u32>(0x3f000000u), m < vec4<u32>(2u));
  return bitcast<vec4<f32>>(bits | ((code & vec4<u32>(8u)) << vec4<u32>(28u)));
}
