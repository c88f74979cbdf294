// One codec, exact operation or random number over an array of words: what the start-up check and the tests compare with
// the CPU. op: 0 encode saturating, 1 encode not saturating, 2 decode, 3 a * b, 4 a / b, 5 E8M0 up, 6 down, 7 nearest, 8 E8M0
// decode, 9 E8M0 reciprocal, 10 code a times scale code b as the GEMM loaders decode them, 11 a + b, 12 encode a with the
// random byte b, 13 Philox: four counter words of a, two key words of b, four words of result an invocation.
// @import lib/exact_arith
// @import lib/index
// @import lib/minifloat
// @import lib/philox
// @import lib/stochastic
// @import lib/unpack

struct Params { count: u32, op: u32, element: u32, scale: u32 }        // element: lib/minifloat element_of, 0 BF16; scale: lib/unpack

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<u32>;                // FP32 bits or codes
@group(0) @binding(2) var<storage, read> b: array<u32>;                // second operand
@group(0) @binding(3) var<storage, read_write> result: array<u32>;     // codes or FP32 bits

override WG: u32 = 64u;

fn check_format() -> Minifloat {
  if (params.element == 0u) { return BF16; }
  return element_of(params.element);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = linear_id(group, groups, local, WG);
  if (id >= params.count) { return; }
  let x = a[id];
  var y = 0u;
  switch (params.op) {
    case 0u, 1u: { y = encode_minifloat(check_format(), x, params.op == 0u); }
    case 2u: { y = decode_minifloat(check_format(), x); }
    case 3u: { y = mul_f32(x, b[id]); }
    case 4u: { y = div_f32(x, b[id]); }
    case 5u: { y = encode_e8m0_up(x); }
    case 6u: { y = encode_e8m0_down(x); }
    case 7u: { y = encode_e8m0_nearest(x); }
    case 8u: { y = decode_e8m0(x); }
    case 9u: { y = reciprocal_e8m0(x); }
    case 10u: {
      let s = unpack_scale(params.scale, b[id]);
      y = bitcast<u32>(unpack_elements(check_format(), vec4<u32>(x)).x * s.x * s.y);
    }
    case 11u: { y = add_f32(x, b[id]); }
    case 12u: { y = encode_e2m1_stochastic(check_format(), x, b[id]); }
    default: {
      let words = philox4x32(vec4<u32>(a[4u * id], a[4u * id + 1u], a[4u * id + 2u], a[4u * id + 3u]), vec2<u32>(b[2u * id], b[2u * id + 1u]));
      for (var i = 0u; i < 4u; i += 1u) { result[4u * id + i] = words[i]; }
      return;
    }
  }
  result[id] = y;
}
