// C = A B, A [rows, depth], B [depth, cols], both in natural order: fprop of a weight stored [in, out], dgrad of one
// stored [out, in], and P V, dS K of attention. 4x4 outputs an invocation in registers, K in steps of four.
// @import lib/gemm
// @import lib/unpack

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;      // A, A_BF16: packed x2, else FP32
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>;      // B, B_BF16: packed x2, else FP32
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;   // [cols], read where BIAS = 1
@group(0) @binding(4) var<storage, read_write> c: array<u32>;      // C, OUT_BF16: packed x2, else FP32

override WG: u32 = 64u;
override A_BF16: u32 = 1u;
override B_BF16: u32 = 1u;
override BIAS: u32 = 0u;

fn load_a(q: u32) -> vec4<f32> {
  if (A_BF16 == 1u) { return unpack_bf16(a[q >> 1u], q); }
  return bitcast<vec4<f32>>(a[q]);
}
fn load_b(q: u32) -> vec4<f32> {
  if (B_BF16 == 1u) { return unpack_bf16(b[q >> 1u], q); }
  return bitcast<vec4<f32>>(b[q]);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let t = gemm_tile(linear_id(group, groups, local, WG));
  if (!t.valid) { return; }
  var c0 = vec4<f32>(0.0);
  var c1 = vec4<f32>(0.0);
  var c2 = vec4<f32>(0.0);
  var c3 = vec4<f32>(0.0);
  let last = params.rows - 1u;
  let a0 = t.a + min(t.row, last) * params.a_stride;
  let a1 = t.a + min(t.row + 1u, last) * params.a_stride;
  let a2 = t.a + min(t.row + 2u, last) * params.a_stride;
  let a3 = t.a + min(t.row + 3u, last) * params.a_stride;
  let b0 = t.b + (t.col >> 2u);
  let k_last = params.depth - 1u;
  let k_end = gemm_k_end(t);
  for (var k = 0u; k < k_end; k += 4u) {
    let x0 = load_a(a0 + (k >> 2u));
    let x1 = load_a(a1 + (k >> 2u));
    let x2 = load_a(a2 + (k >> 2u));
    let x3 = load_a(a3 + (k >> 2u));
    // Past the end of depth A's padding is zero, so any finite row of B will do.
    let y0 = load_b(b0 + k * params.b_stride);
    let y1 = load_b(b0 + min(k + 1u, k_last) * params.b_stride);
    let y2 = load_b(b0 + min(k + 2u, k_last) * params.b_stride);
    let y3 = load_b(b0 + min(k + 3u, k_last) * params.b_stride);
    c0 = c0 + x0.x * y0; c1 = c1 + x1.x * y0; c2 = c2 + x2.x * y0; c3 = c3 + x3.x * y0;
    c0 = c0 + x0.y * y1; c1 = c1 + x1.y * y1; c2 = c2 + x2.y * y1; c3 = c3 + x3.y * y1;
    c0 = c0 + x0.z * y2; c1 = c1 + x1.z * y2; c2 = c2 + x2.z * y2; c3 = c3 + x3.z * y2;
    c0 = c0 + x0.w * y3; c1 = c1 + x1.w * y3; c2 = c2 + x2.w * y3; c3 = c3 + x3.w * y3;
  }
  var add = vec4<f32>(0.0);
  if (BIAS == 1u) { add = bias[t.col >> 2u]; }
  store_row(t, 0u, c0 * params.scale + add);
  store_row(t, 1u, c1 * params.scale + add);
  store_row(t, 2u, c2 * params.scale + add);
  store_row(t, 3u, c3 * params.scale + add);
}
