// NVFP4 scales in TransformerEngine's order of operations, each step one FP32 rounding on bits. The tensor record that
// every NVFP4 kernel shares is TENSOR_WORDS u32: filled by `amax`, completed by `nvfp4_tensor_scales`.
// Source: formats.md 2.6, 2.7, 1.5; the same steps as src/numerics/nvfp4.ts, which a test holds the constants against.
// @import lib/exact_arith
// @import lib/minifloat

const NVFP4_RANGE: u32 = 0x45280000u;          // 2688 = 6 * 448
const NVFP4_SIXTH: u32 = 0x3e2aaaabu;          // fl(1/6)
const NVFP4_RANGE_INVERSE: u32 = 0x39c30c31u;  // fl(1/2688)
const NVFP4_RANGE_SQUARED: u32 = 0x4adc8000u;  // 7225344

// Words of the tensor record.
const TENSOR_AMAX: u32 = 0u;
const TENSOR_NON_FINITE: u32 = 1u;
const TENSOR_ENCODE: u32 = 2u;                 // S_enc
const TENSOR_DECODE: u32 = 3u;                 // S_dec
const TENSOR_ENCODE_SIXTH: u32 = 4u;           // fl(S_enc * fl(1/6))

// S_enc = min(fl(2688 / amax), FLT_MAX); 1 for amax 0 or Inf.
fn nvfp4_encode_scale(amax: u32) -> u32 {
  let quotient = clamp_finite_f32(div_f32(NVFP4_RANGE, amax));
  return select(quotient, 0x3f800000u, amax == 0u || quotient == 0u);
}
// E4M3 code of min(fl(amax * fl(S_enc * fl(1/6))), FLT_MAX).
fn nvfp4_block_scale(amax: u32, encode_sixth: u32) -> u32 {
  return encode_minifloat(E4M3, clamp_finite_f32(mul_f32(amax, encode_sixth)), true);
}
// Factor before the cast: min(fl(1 / fl(s * S_dec)), FLT_MAX).
fn nvfp4_multiplier(scale: u32, decode_scale: u32) -> u32 {
  return clamp_finite_f32(div_f32(0x3f800000u, mul_f32(decode_minifloat(E4M3, scale), decode_scale)));
}
// Factor after the decode: fl(fl(s * amax) * fl(1/2688)).
fn nvfp4_decoded_scale(scale: u32, amax: u32) -> u32 {
  return mul_f32(mul_f32(decode_minifloat(E4M3, scale), amax), NVFP4_RANGE_INVERSE);
}
