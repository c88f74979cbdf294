// C = A B^T, A [rows, depth], B [cols, depth], the contracted axis last in both: dgrad of a weight stored [in, out],
// fprop of one stored [out, in] (the tied head), Q K^T and dO V^T of attention, and every GEMM with NVFP4 operands,
// which are stored contracted axis last (formats.md 1.6). 4x4 outputs an invocation in registers, K in steps of four.
// @import lib/gemm
// @import lib/unpack

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;        // A in format A_FORMAT of lib/unpack
@group(0) @binding(2) var<storage, read> a_scales: array<u32>;       // E4M3 bytes, one per 16 elements, where A_FORMAT = 2
@group(0) @binding(3) var<storage, read> b: array<vec4<u32>>;        // B in format B_FORMAT
@group(0) @binding(4) var<storage, read> b_scales: array<u32>;       // E4M3 bytes, per block or per 16x16 tile (B_TILE)
@group(0) @binding(5) var<storage, read> bias: array<vec4<f32>>;     // [cols], read where BIAS = 1
@group(0) @binding(6) var<storage, read> alpha: array<u32>;          // FP32 bits of the tensor scales' product, where ALPHA = 1
@group(0) @binding(7) var<storage, read_write> c: array<u32>;        // C, OUT_BF16: packed x2, else FP32

override WG: u32 = 64u;
override A_FORMAT: u32 = 1u;
override B_FORMAT: u32 = 1u;
override B_TILE: u32 = 0u;
override BIAS: u32 = 0u;
override ALPHA: u32 = 0u;

fn load_a(q: u32) -> vec4<f32> {
  if (A_FORMAT == 2u) { return unpack_e2m1(a[q >> 3u], q) * unpack_e4m3_scale(a_scales[q >> 4u], q); }
  if (A_FORMAT == 1u) { return unpack_bf16(a[q >> 1u], q); }
  return bitcast<vec4<f32>>(a[q]);
}
fn load_b(q: u32, tile: u32) -> vec4<f32> {
  if (B_FORMAT == 2u) { return unpack_e2m1(b[q >> 3u], q) * unpack_e4m3_scale(b_scales[tile >> 4u], tile); }
  if (B_FORMAT == 1u) { return unpack_bf16(b[q >> 1u], q); }
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
  let a_last = params.rows - 1u;
  let b_last = params.cols - 1u;
  let a0 = t.a + min(t.row, a_last) * params.a_stride;
  let a1 = t.a + min(t.row + 1u, a_last) * params.a_stride;
  let a2 = t.a + min(t.row + 2u, a_last) * params.a_stride;
  let a3 = t.a + min(t.row + 3u, a_last) * params.a_stride;
  let b0 = t.b + min(t.col, b_last) * params.b_stride;
  let b1 = t.b + min(t.col + 1u, b_last) * params.b_stride;
  let b2 = t.b + min(t.col + 2u, b_last) * params.b_stride;
  let b3 = t.b + min(t.col + 3u, b_last) * params.b_stride;
  let tile = select(0u, (t.col >> 4u) * params.b_stride, B_TILE == 1u);
  let quads = select((params.depth + 3u) / 4u, 0u, gemm_above_diagonal(t));
  for (var q = 0u; q < quads; q += 1u) {
    let x0 = load_a(a0 + q);
    let x1 = load_a(a1 + q);
    let x2 = load_a(a2 + q);
    let x3 = load_a(a3 + q);
    let y0 = load_b(b0 + q, select(b0 + q, tile + q, B_TILE == 1u));
    let y1 = load_b(b1 + q, select(b1 + q, tile + q, B_TILE == 1u));
    let y2 = load_b(b2 + q, select(b2 + q, tile + q, B_TILE == 1u));
    let y3 = load_b(b3 + q, select(b3 + q, tile + q, B_TILE == 1u));
    let z0 = vec4<f32>(y0.x, y1.x, y2.x, y3.x);
    let z1 = vec4<f32>(y0.y, y1.y, y2.y, y3.y);
    let z2 = vec4<f32>(y0.z, y1.z, y2.z, y3.z);
    let z3 = vec4<f32>(y0.w, y1.w, y2.w, y3.w);
    c0 = c0 + x0.x * z0; c1 = c1 + x1.x * z0; c2 = c2 + x2.x * z0; c3 = c3 + x3.x * z0;
    c0 = c0 + x0.y * z1; c1 = c1 + x1.y * z1; c2 = c2 + x2.y * z1; c3 = c3 + x3.y * z1;
    c0 = c0 + x0.z * z2; c1 = c1 + x1.z * z2; c2 = c2 + x2.z * z2; c3 = c3 + x3.z * z2;
    c0 = c0 + x0.w * z3; c1 = c1 + x1.w * z3; c2 = c2 + x2.w * z3; c3 = c3 + x3.w * z3;
  }
  var factor = params.scale;
  if (ALPHA == 1u) { factor = bitcast<f32>(alpha[0]); }
  var add = vec4<f32>(0.0);
  if (BIAS == 1u) { add = bias[t.col >> 2u]; }
  store_row(t, 0u, c0 * factor + add);
  store_row(t, 1u, c1 * factor + add);
  store_row(t, 2u, c2 * factor + add);
  store_row(t, 3u, c3 * factor + add);
}
