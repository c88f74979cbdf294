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

// What a block's scale comes from: its amax, the element format's largest value and fl(1 / largest), the source type's
// largest value (formats.md 2.3), and of NVFP4 the tensor's fl(S_enc * fl(1/6)) and S_dec.
struct BlockFacts { amax: u32, largest: u32, largest_inverse: u32, overflow: u32, encode_sixth: u32, decode: u32 }
// The scale that is stored, and the factor before the cast.
struct BlockScale { stored: u32, multiplier: u32 }

fn block_scale(rule: u32, block: BlockFacts) -> BlockScale {
  if (rule == RULE_MX_UP || rule == RULE_MX_FLOOR) {
    let emax = (block.largest >> 23u) - 127u;
    let exponent = encode_e8m0_down(block.amax);
    let floor = select(max(exponent, emax) - emax, 255u, exponent == 255u);
    let code = select(floor, encode_e8m0_up(mul_f32(block.amax, block.largest_inverse)), rule == RULE_MX_UP);
    return BlockScale(code, reciprocal_e8m0(code));
  }
  // NVFP4: s = E4M3(min(fl(amax * fl(S_enc * fl(1/6))), FLT_MAX)), factor min(fl(1 / fl(s * S_dec)), FLT_MAX).
  let code = encode_minifloat(E4M3, clamp_finite_f32(mul_f32(block.amax, block.encode_sixth)), true);
  let factor = current_scale(block.amax, block.largest, block.overflow, rule == RULE_BLOCK_POW2);
  let inverse = div_f32(ONE, select(factor, mul_f32(decode_minifloat(E4M3, code), block.decode), rule == RULE_NVFP4));
  if (rule == RULE_NVFP4) { return BlockScale(code, clamp_finite_f32(inverse)); }
  // A power of two is stored as its exponent field: that of 2^-127 is 0.
  return BlockScale(select(inverse, inverse >> 23u, rule == RULE_BLOCK_POW2), factor);
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
