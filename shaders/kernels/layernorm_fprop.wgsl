// y = (x - mean) / sqrt(var + eps) * gain + bias over each row; keeps mean and 1/sqrt(var + eps) for the backward pass.
// One row an invocation; the padding quads' tail is excluded from mean and variance.
// @import lib/elements
// @import lib/index

struct Params { rows: u32, cols: u32, quads: u32, eps: f32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;               // [N, C]
@group(0) @binding(2) var<storage, read> gain: array<vec4<f32>>;      // [C] FP32
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;      // [C] FP32
@group(0) @binding(4) var<storage, read_write> y: array<u32>;         // [N, C]
@group(0) @binding(5) var<storage, read_write> stats: array<vec2<f32>>; // [N]: mean, 1/sqrt(var + eps)

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_x(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(x[2u * q], x[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(x[4u * q], x[4u * q + 1u], x[4u * q + 2u], x[4u * q + 3u]));
}
fn store_y(q: u32, v: vec4<f32>) {
  if (BF16 == 1u) {
    let w = bf16x4_encode(v);
    y[2u * q] = w.x;
    y[2u * q + 1u] = w.y;
  } else {
    let w = f32x4_encode(v);
    y[4u * q] = w.x;
    y[4u * q + 1u] = w.y;
    y[4u * q + 2u] = w.z;
    y[4u * q + 3u] = w.w;
  }
}

// 1 where the column exists, 0 in the padding of the last quad.
fn present(q: u32) -> vec4<f32> {
  return select(vec4<f32>(0.0), vec4<f32>(1.0), vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(params.cols));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows) { return; }
  let base = id * params.quads;
  var total = vec4<f32>(0.0);
  for (var q = 0u; q < params.quads; q += 1u) { total = total + load_x(base + q); }
  let mean = ((total.x + total.y) + (total.z + total.w)) / f32(params.cols);
  var squares = vec4<f32>(0.0);
  for (var q = 0u; q < params.quads; q += 1u) {
    let d = (load_x(base + q) - vec4<f32>(mean)) * present(q);
    squares = squares + d * d;
  }
  let variance = ((squares.x + squares.y) + (squares.z + squares.w)) / f32(params.cols);
  let rstd = 1.0 / sqrt(variance + params.eps);
  for (var q = 0u; q < params.quads; q += 1u) {
    let normal = (load_x(base + q) - vec4<f32>(mean)) * rstd;
    store_y(base + q, (normal * gain[q] + bias[q]) * present(q));
  }
  stats[id] = vec2<f32>(mean, rstd);
}
