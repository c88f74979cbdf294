// How a scale comes from an amax and what it multiplies, by the rules of SCALE_RULES; each step is one FP32 rounding on
// bits. `largest`: the element format's largest value. The same steps as src/numerics/scale-rules.ts and nvfp4.ts; a
// test holds the constants against them. Source: formats.md 2.1 (tensor), 2.3 (blocks), 2.4 and 2.5 (MX), 2.6 (NVFP4).
// @import lib/exact_arith
// @import lib/minifloat
// @import lib/record

const RULE_TENSOR: u32 = 1u;
const RULE_TENSOR_POW2: u32 = 2u;
const RULE_BLOCK_F32: u32 = 3u;
const RULE_BLOCK_POW2: u32 = 4u;
const RULE_MX_UP: u32 = 5u;
const RULE_MX_FLOOR: u32 = 6u;
const RULE_NVFP4: u32 = 7u;

const ONE: u32 = 0x3f800000u;
const F32_MAX: u32 = 0x7f7fffffu;
const NVFP4_RANGE: u32 = 0x45280000u;          // 2688 = 6 * 448
const NVFP4_SIXTH: u32 = 0x3e2aaaabu;          // fl(1/6)
const NVFP4_RANGE_INVERSE: u32 = 0x39c30c31u;  // fl(1/2688)
const NVFP4_RANGE_SQUARED: u32 = 0x4adc8000u;  // 7225344

// fl(largest / amax), 1 for amax 0 or Inf; `overflow` where the quotient is Inf; pow2: rounded down to a power of two.
fn current_scale(amax: u32, largest: u32, overflow: u32, pow2: bool) -> u32 {
  let quotient = div_f32(largest, amax);
  let finite = select(quotient, overflow, quotient == F32_INF);
  return select(select(finite, finite & F32_INF, pow2), ONE, amax == 0u || amax == F32_INF);
}

// The tensor's scale before the cast. NVFP4: S_enc = min(fl(2688 / amax), FLT_MAX), 1 for amax 0 or Inf. Else 1.
fn tensor_encode(rule: u32, amax: u32, largest: u32) -> u32 {
  if (rule != RULE_TENSOR && rule != RULE_TENSOR_POW2 && rule != RULE_NVFP4) { return ONE; }
  return current_scale(amax, select(largest, NVFP4_RANGE, rule == RULE_NVFP4), F32_MAX, rule == RULE_TENSOR_POW2);
}

// The scale that is stored, and the factor before the cast.
struct BlockScale { stored: u32, multiplier: u32 }

fn block_scale(rule: u32, amax: u32, largest: u32, overflow: u32, encode_sixth: u32, decode: u32) -> BlockScale {
  switch (rule) {
    case RULE_BLOCK_F32: {
      let multiplier = current_scale(amax, largest, overflow, false);
      return BlockScale(div_f32(ONE, multiplier), multiplier);
    }
    case RULE_BLOCK_POW2: {
      // 1 / 2^(f - 127) = 2^((254 - f) - 127).
      let multiplier = current_scale(amax, largest, overflow, true);
      return BlockScale(254u - (multiplier >> 23u), multiplier);
    }
    case RULE_MX_UP: {
      let code = encode_e8m0_up(mul_f32(amax, div_f32(ONE, largest)));
      return BlockScale(code, reciprocal_e8m0(code));
    }
    case RULE_MX_FLOOR: {
      let emax = (largest >> 23u) - 127u;
      let exponent = encode_e8m0_down(amax);
      let code = select(max(exponent, emax) - emax, 255u, exponent == 255u);
      return BlockScale(code, reciprocal_e8m0(code));
    }
    case RULE_NVFP4: {
      // d = min(fl(amax * fl(S_enc * fl(1/6))), FLT_MAX); factor min(fl(1 / fl(s * S_dec)), FLT_MAX).
      let code = encode_minifloat(E4M3, clamp_finite_f32(mul_f32(amax, encode_sixth)), true);
      return BlockScale(code, clamp_finite_f32(div_f32(ONE, mul_f32(decode_minifloat(E4M3, code), decode))));
    }
    default: { return BlockScale(0u, ONE); }
  }
}

// The factor after the cast. NVFP4: fl(fl(s * amax) * fl(1/2688)).
fn decoded_scale(rule: u32, stored: u32, amax: u32, decode: u32) -> u32 {
  switch (rule) {
    case RULE_TENSOR, RULE_TENSOR_POW2: { return decode; }
    case RULE_BLOCK_F32: { return stored; }
    case RULE_NVFP4: { return mul_f32(mul_f32(decode_minifloat(E4M3, stored), amax), NVFP4_RANGE_INVERSE); }
    default: { return decode_e8m0(stored); }
  }
}
