// Stochastic rounding to E2M1 with 8 random bits, TransformerEngine's software rule in integers: t = fl(|x| + byte/256 *
// step), step 0.5 below 2, 1 below 4, else 2; t is rounded down to the grid and clamped to 6. Units are 2^-26: values from
// 0.5 up are exact in them, and smaller ones lose only what cannot matter, except that FP32 lifts t = 0.5 - 2^-26 to 0.5.
// The counterpart of src/numerics/stochastic.ts. Source: formats.md 2.8.
// @import lib/minifloat

fn encode_e2m1_stochastic(f: Minifloat, bits: u32, byte: u32) -> u32 {
  let u = bits & 0x7fffffffu;
  let field = u >> 23u;
  let significand = (u & 0x7fffffu) | 0x800000u;
  // |x| = significand * 2^(field - 150): field 124 is already in units. Below 2^-26 nothing is left.
  let fixed = select(significand >> min(124u - min(field, 124u), 24u), significand << min(max(field, 124u) - 124u, 5u), field > 124u);
  // Beyond 6 the clamp decides; this keeps the sum inside u32.
  let x = min(select(fixed, 6u << 26u, field > 129u), 6u << 26u);
  let doubled = select(select(0u, 1u, x >= (2u << 26u)), 2u, x >= (4u << 26u));
  let t = x + (byte << (17u + doubled)) + select(0u, 1u, x < (1u << 25u));
  // From 2 on a step is 1, from 4 on it is 2.
  let fine = t >> 25u;
  let code = select(select(fine, 2u + (t >> 26u), fine >= 4u), select(6u, f.max_code, fine >= 12u), fine >= 8u);
  return select(((bits >> 31u) << 3u) | code, f.nan_code, u > F32_INF);
}
