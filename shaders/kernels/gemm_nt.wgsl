// C = A B^T, A [rows, depth], B [cols, depth], the contracted axis last in both: dgrad of a weight stored [in, out],
// fprop of one stored [out, in] (the tied head), Q K^T and dO V^T of attention, and every GEMM with packed operands,
// which are stored contracted axis last (formats.md 1.6). 4x4 outputs an invocation in registers, K in steps of four.
// @import lib/gemm
// @import lib/unpack

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;        // A: FP32, BF16 x2, or codes
@group(0) @binding(2) var<storage, read> a_scales: array<u32>;       // one byte a block, rows of a_scale_stride words, where A_SCALE > 0
@group(0) @binding(3) var<storage, read> b: array<vec4<u32>>;        // B
@group(0) @binding(4) var<storage, read> b_scales: array<u32>;       // where B_SCALE > 0
@group(0) @binding(5) var<storage, read> bias: array<vec4<f32>>;     // [cols], read where BIAS = 1
@group(0) @binding(6) var<storage, read> alpha: array<u32>;          // FP32 bits of the tensor scales' product, where ALPHA = 1
@group(0) @binding(7) var<storage, read_write> c: array<u32>;        // C, OUT_BF16: packed x2, else FP32

override WG: u32 = 64u;
// Storage of an operand: 0 FP32, 1 BF16, else codes of lib/minifloat element_of with block scales in SCALE of lib/unpack (0
// none), blocks of TILE rows (a multiple of 4, or 1) by BLOCK elements along the depth.
override A_ELEMENT: u32 = 1u;
override A_SCALE: u32 = 0u;
override A_TILE: u32 = 1u;
override A_BLOCK: u32 = 16u;
override B_ELEMENT: u32 = 1u;
override B_SCALE: u32 = 0u;
override B_TILE: u32 = 1u;
override B_BLOCK: u32 = 16u;
override BIAS: u32 = 0u;
override ALPHA: u32 = 0u;

// Quad k of a row whose quads begin at `first` and whose block scales begin at word `scales`.
fn load_a(first: u32, scales: u32, k: u32) -> vec4<f32> {
  let q = first + k;
  if (A_ELEMENT == 0u) { return bitcast<vec4<f32>>(a[q]); }
  if (A_ELEMENT == 1u) { return unpack_bf16(a[q >> 1u], q); }
  let f = element_of(A_ELEMENT);
  let v = unpack_elements(f, unpack_codes(f, a[q / select(4u, 8u, f.bits <= 4u)], q));
  if (A_SCALE == 0u) { return v; }
  let block = k / (A_BLOCK / 4u);
  let s = unpack_scale(A_SCALE, (a_scales[scales + block / 4u] >> (8u * (block % 4u))) & 0xffu);
  if (A_SCALE == SCALE_E4M3) { return v * s.x; }
  return v * s.x * s.y;
}
fn load_b(first: u32, scales: u32, k: u32) -> vec4<f32> {
  let q = first + k;
  if (B_ELEMENT == 0u) { return bitcast<vec4<f32>>(b[q]); }
  if (B_ELEMENT == 1u) { return unpack_bf16(b[q >> 1u], q); }
  let f = element_of(B_ELEMENT);
  let v = unpack_elements(f, unpack_codes(f, b[q / select(4u, 8u, f.bits <= 4u)], q));
  if (B_SCALE == 0u) { return v; }
  let block = k / (B_BLOCK / 4u);
  let s = unpack_scale(B_SCALE, (b_scales[scales + block / 4u] >> (8u * (block % 4u))) & 0xffu);
  if (B_SCALE == SCALE_E4M3) { return v * s.x; }
  return v * s.x * s.y;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let t = gemm_tile(linear_id(group, groups, local, WG));
  if (!t.valid) { return; }
  var c0 = vec4<f32>(0.0);
  var c1 = vec4<f32>(0.0);
  var c2 = vec4<f32>(0.0);
  var c3 = vec4<f32>(0.0);
  let four = vec4<u32>(0u, 1u, 2u, 3u);
  let a_rows = min(vec4<u32>(t.row) + four, vec4<u32>(params.rows - 1u));
  let b_rows = min(vec4<u32>(t.col) + four, vec4<u32>(params.cols - 1u));
  let a_first = vec4<u32>(t.a) + a_rows * params.a_stride;
  let b_first = vec4<u32>(t.b) + b_rows * params.b_stride;
  // Four rows of a tile share one row of scales.
  let a_blocks = select(a_rows / A_TILE, vec4<u32>(t.row / A_TILE), A_TILE > 1u) * params.a_scale_stride;
  let b_blocks = select(b_rows / B_TILE, vec4<u32>(t.col / B_TILE), B_TILE > 1u) * params.b_scale_stride;
  let quads = select((params.depth + 3u) / 4u, 0u, gemm_above_diagonal(t));
  for (var k = 0u; k < quads; k += 1u) {
    let x0 = load_a(a_first.x, a_blocks.x, k);
    let x1 = load_a(a_first.y, a_blocks.y, k);
    let x2 = load_a(a_first.z, a_blocks.z, k);
    let x3 = load_a(a_first.w, a_blocks.w, k);
    let y0 = load_b(b_first.x, b_blocks.x, k);
    let y1 = load_b(b_first.y, b_blocks.y, k);
    let y2 = load_b(b_first.z, b_blocks.z, k);
    let y3 = load_b(b_first.w, b_blocks.w, k);
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
