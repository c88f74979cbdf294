// One codec or exact operation over an array of words: what the start-up check and the tests compare with the CPU.
// OP: 0 encode saturating, 1 encode not saturating, 2 decode, 3 a * b, 4 a / b, 5 E8M0 up, 6 down, 7 nearest,
// 8 E8M0 decode, 9 E8M0 reciprocal, 10 E2M1 code a times E4M3 scale b as the GEMM loaders decode it.
// OP 255 takes both from Params: one pipeline for the start-up check, where compiling is what costs.
// @import lib/exact_arith
// @import lib/index
// @import lib/minifloat
// @import lib/unpack

struct Params { count: u32, op: u32, format: u32 }     // op and format: read where OP = 255

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<u32>;                // FP32 bits or codes
@group(0) @binding(2) var<storage, read> b: array<u32>;                // second operand of OP 3, 4, 10
@group(0) @binding(3) var<storage, read_write> result: array<u32>;     // codes or FP32 bits

override WG: u32 = 64u;
override OP: u32 = 0u;
override FORMAT: u32 = 0u;     // of OP 0, 1, 2: 0 BF16, 1 E4M3, 2 E5M2, 3 E2M1

fn check_format() -> Minifloat {
  switch (select(FORMAT, params.format, OP == 255u)) {
    case 1u: { return E4M3; }
    case 2u: { return E5M2; }
    case 3u: { return E2M1; }
    default: { return BF16; }
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = linear_id(group, groups, local, WG);
  if (id >= params.count) { return; }
  let x = a[id];
  var y = 0u;
  switch (select(OP, params.op, OP == 255u)) {
    case 0u: { y = encode_minifloat(check_format(), x, true); }
    case 1u: { y = encode_minifloat(check_format(), x, false); }
    case 2u: { y = decode_minifloat(check_format(), x); }
    case 3u: { y = mul_f32(x, b[id]); }
    case 4u: { y = div_f32(x, b[id]); }
    case 5u: { y = encode_e8m0_up(x); }
    case 6u: { y = encode_e8m0_down(x); }
    case 7u: { y = encode_e8m0_nearest(x); }
    case 8u: { y = decode_e8m0(x); }
    case 9u: { y = reciprocal_e8m0(x); }
    case 10u: { y = bitcast<u32>(unpack_e2m1(vec4<u32>(x), 0u).x * unpack_e4m3_scale(b[id], 0u)); }
    default: { }
  }
  result[id] = y;
}
