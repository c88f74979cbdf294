// GPT-2's gelu_new(x) = 0.5 x (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), in the form x logistic(2u), which is the
// same function and keeps its digits where 1 + tanh u cancels (x below -2).
// @import lib/exp

fn gelu_argument(x: f32) -> f32 { return 1.5957691216 * (x + 0.044715 * x * x * x); }

fn gelu(x: f32) -> f32 { return x * logistic_f32(gelu_argument(x)); }

// d/dx [x s(2u)] = s + x s (1 - s) 2u', 1 - s(v) = s(-v), 2u' = 2 sqrt(2/pi) (1 + 3 * 0.044715 x^2).
fn gelu_slope(x: f32) -> f32 {
  let v = gelu_argument(x);
  let s = logistic_f32(v);
  return s + x * s * logistic_f32(-v) * (1.5957691216 * (1.0 + 0.134145 * x * x));
}
