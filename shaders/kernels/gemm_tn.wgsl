// C = A^T B, A [depth, rows], B [depth, cols], both in natural order: wgrad (dw = x^T dy; for a weight stored
// [out, in] dw = dy^T x), and P^T dO, dS^T Q of attention. 4x4 outputs an invocation in registers, K unrolled by four.
// @import lib/gemm
// @import lib/unpack

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;      // A, A_BF16: packed x2, else FP32
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>;      // B, B_BF16: packed x2, else FP32
@group(0) @binding(3) var<storage, read_write> c: array<u32>;      // C, OUT_BF16: packed x2, else FP32

override WG: u32 = 64u;
override A_BF16: u32 = 1u;
override B_BF16: u32 = 1u;

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
  let start = gemm_k_start(t);
  var qa = t.a + (t.row >> 2u) + start * params.a_stride;
  var qb = t.b + (t.col >> 2u) + start * params.b_stride;
  let whole_end = start + ((params.depth - start) & ~3u);
  for (var k = start; k < whole_end; k += 4u) {
    let x0 = load_a(qa);
    let x1 = load_a(qa + params.a_stride);
    let x2 = load_a(qa + 2u * params.a_stride);
    let x3 = load_a(qa + 3u * params.a_stride);
    let y0 = load_b(qb);
    let y1 = load_b(qb + params.b_stride);
    let y2 = load_b(qb + 2u * params.b_stride);
    let y3 = load_b(qb + 3u * params.b_stride);
    c0 = c0 + x0.x * y0; c1 = c1 + x0.y * y0; c2 = c2 + x0.z * y0; c3 = c3 + x0.w * y0;
    c0 = c0 + x1.x * y1; c1 = c1 + x1.y * y1; c2 = c2 + x1.z * y1; c3 = c3 + x1.w * y1;
    c0 = c0 + x2.x * y2; c1 = c1 + x2.y * y2; c2 = c2 + x2.z * y2; c3 = c3 + x2.w * y2;
    c0 = c0 + x3.x * y3; c1 = c1 + x3.y * y3; c2 = c2 + x3.z * y3; c3 = c3 + x3.w * y3;
    qa += 4u * params.a_stride;
    qb += 4u * params.b_stride;
  }
  for (var k = whole_end; k < params.depth; k += 1u) {
    let x = load_a(qa);
    let y = load_b(qb);
    c0 = c0 + x.x * y; c1 = c1 + x.y * y; c2 = c2 + x.z * y; c3 = c3 + x.w * y;
    qa += params.a_stride;
    qb += params.b_stride;
  }
  store_row(t, 0u, c0 * params.scale);
  store_row(t, 1u, c1 * params.scale);
  store_row(t, 2u, c2 * params.scale);
  store_row(t, 3u, c3 * params.scale);
}
