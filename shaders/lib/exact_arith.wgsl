// FP32 add, multiply, divide and minimum on bit patterns, IEEE 754 round to nearest even, subnormals kept: what WGSL's float
// operators do not promise (engine.md 3.3). 24x24 -> 48-bit product; long division, eight quotient bits a step.
// Every NaN result is 0x7fc00000. Checked against Math.fround of a + b, a * b and a / b.
// @import lib/minifloat

// A magnitude as significand in [2^23, 2^24) times 2^(exponent - 150); not for zero, Inf, NaN.
struct Unpacked { significand: u32, exponent: i32 }

fn unpack_f32(magnitude: u32) -> Unpacked {
  let field = magnitude >> 23u;
  let fraction = magnitude & 0x7fffffu;
  let up = countLeadingZeros(fraction | 1u) - 8u;
  if (field == 0u) { return Unpacked(fraction << up, 1 - i32(up)); }
  return Unpacked(fraction | 0x800000u, i32(field));
}

// (significand + rest / 2^24) * 2^(exponent - 150), significand in [2^23, 2^24), rounded once.
fn round_f32(sign: u32, exponent: i32, significand: u32, rest: u32) -> u32 {
  if (exponent >= 255) { return sign | F32_INF; }
  if (exponent >= 1) {
    let up = rest > 0x800000u || (rest == 0x800000u && (significand & 1u) == 1u);
    // The significand's hidden bit is the missing one of the exponent; a carry moves into it, and on into Inf.
    return sign | ((u32(exponent - 1) << 23u) + significand + select(0u, 1u, up));
  }
  if (exponent < -23) { return sign; }
  let shift = u32(1 - exponent);
  let kept = significand >> shift;
  let dropped = significand & ((1u << shift) - 1u);
  let half = 1u << (shift - 1u);
  let up = dropped > half || (dropped == half && (rest != 0u || (kept & 1u) == 1u));
  return sign | (kept + select(0u, 1u, up));
}

fn mul_f32(a: u32, b: u32) -> u32 {
  let sign = (a ^ b) & F32_SIGN;
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  if (x >= F32_INF || y >= F32_INF) {
    return select(sign | F32_INF, F32_NAN, x > F32_INF || y > F32_INF || x == 0u || y == 0u);
  }
  if (x == 0u || y == 0u) { return sign; }
  let p = unpack_f32(x);
  let q = unpack_f32(y);
  // In halves of 12 bits: product = high * 2^24 + low.
  let p1 = p.significand >> 12u;
  let p0 = p.significand & 0xfffu;
  let q1 = q.significand >> 12u;
  let q0 = q.significand & 0xfffu;
  let middle = p1 * q0 + p0 * q1;
  let t = p0 * q0 + ((middle & 0xfffu) << 12u);
  let high = p1 * q1 + (middle >> 12u) + (t >> 24u);
  let low = t & 0xffffffu;
  let exponent = p.exponent + q.exponent - 127;
  if (high >= 0x800000u) { return round_f32(sign, exponent + 1, high, low); }
  return round_f32(sign, exponent, (high << 1u) | (low >> 23u), (low << 1u) & 0xffffffu);
}

fn add_f32(a: u32, b: u32) -> u32 {
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  let differ = (a ^ b) >= F32_SIGN;
  if (x >= F32_INF || y >= F32_INF) {
    if (x > F32_INF || y > F32_INF || (x == y && differ)) { return F32_NAN; }
    return select(b, a, x == F32_INF);
  }
  let high = max(x, y);
  let low = min(x, y);
  let sign = select(b, a, x >= y) & F32_SIGN;
  // Significands with three bits below the last: two of the sum's and one that says whether anything was lost.
  var exponent = max(high >> 23u, 1u);
  let shift = min(exponent - max(low >> 23u, 1u), 27u);
  let p = ((high & 0x7fffffu) | select(0u, 0x800000u, high >= 0x800000u)) << 3u;
  let q = ((low & 0x7fffffu) | select(0u, 0x800000u, low >= 0x800000u)) << 3u;
  let kept = (q >> shift) | select(0u, 1u, (q & ((1u << shift) - 1u)) != 0u);
  var sum = select(p + kept, p - kept, differ);
  // Signed zeros: -0 only of two of them.
  if (sum == 0u) { return select(sign, 0u, differ); }
  if (sum >= 0x8000000u) {
    sum = (sum >> 1u) | (sum & 1u);
    exponent += 1u;
  } else {
    let up = min(countLeadingZeros(sum) - 5u, exponent - 1u);
    sum = sum << up;
    exponent -= up;
  }
  let rest = sum & 7u;
  let significand = sum >> 3u;
  let up = rest > 4u || (rest == 4u && (significand & 1u) == 1u);
  // The significand's hidden bit is the missing one of the exponent; a carry moves into it, and on into Inf.
  return sign | min(((exponent - 1u) << 23u) + significand + select(0u, 1u, up), F32_INF);
}

fn div_f32(a: u32, b: u32) -> u32 {
  let sign = (a ^ b) & F32_SIGN;
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  if (x > F32_INF || y > F32_INF || (x == y && (x == 0u || x == F32_INF))) { return F32_NAN; }
  if (x == F32_INF || y == 0u) { return sign | F32_INF; }
  if (x == 0u || y == F32_INF) { return sign; }
  let p = unpack_f32(x);
  let q = unpack_f32(y);
  let less = p.significand < q.significand;
  // The quotient is in [1, 2): its leading 1, then 24 bits.
  var remainder = select(p.significand, p.significand << 1u, less) - q.significand;
  var quotient = 1u;
  for (var i = 0u; i < 3u; i += 1u) {
    let digit = (remainder << 8u) / q.significand;
    remainder = (remainder << 8u) - digit * q.significand;
    quotient = (quotient << 8u) | digit;
  }
  let rest = ((quotient & 1u) << 23u) | select(0u, 1u, remainder != 0u);
  return round_f32(sign, p.exponent - q.exponent + select(127, 126, less), quotient >> 1u, rest);
}

// min(x, FLT_MAX) of a value >= 0 that is not NaN: bits of such values order as integers.
fn clamp_finite_f32(bits: u32) -> u32 {
  return min(bits, 0x7f7fffffu);
}
