// exp and the logistic function of our own, <= 2 ulp where the built-ins may be 15 ulp off (engine.md 3.3).
// Source: Cephes expf (S. Moshier): x = n ln2 + r, ln2 split in two, degree-6 polynomial, 2^n through the exponent bits.
// Below -87 the result is 0 (its exponent would be subnormal); above 88 it is clamped, which no caller reaches.
// A NaN comes back as it is, found by an integer test: clamp would turn it into a number and hide it.
fn exp_f32(x: f32) -> f32 {
  let clamped = clamp(x, -87.0, 88.0);
  let n = floor(clamped * 1.44269504 + 0.5);
  let r = (clamped - n * 0.693359375) + n * 2.12194440e-4;
  var p = 1.9875691500e-4 * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  let m = (p * r * r + r) + 1.0;
  let scaled = m * bitcast<f32>(u32(i32(n) + 127) << 23u);
  let result = select(scaled, 0.0, x < -87.0);
  return select(result, x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}

// 1 / (1 + e^-x), accurate to a few ulp relative on both sides. 0.5 (1 + tanh u) = logistic(2u): this form keeps its
// digits where 1 + tanh u cancels.
fn logistic_f32(x: f32) -> f32 {
  let e = exp_f32(-abs(x));
  return select(e, 1.0, x >= 0.0) / (1.0 + e);
}
