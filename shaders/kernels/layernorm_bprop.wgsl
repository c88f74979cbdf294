// dx = rstd (a - mean(a) - n mean(a n)), a = dy gain, n = (x - mean) rstd: layer norm's input gradient, a row an invocation.
// @import lib/elements
// @import lib/index

struct Params { rows: u32, cols: u32, quads: u32, eps: f32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;               // [N, C]
@group(0) @binding(2) var<storage, read> dy: array<u32>;              // [N, C]
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;      // [C] FP32
@group(0) @binding(4) var<storage, read> stats: array<vec2<f32>>;     // [N]: mean, rstd
@group(0) @binding(5) var<storage, read_write> dx: array<u32>;        // [N, C]

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_x(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(x[2u * q], x[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(x[4u * q], x[4u * q + 1u], x[4u * q + 2u], x[4u * q + 3u]));
}
fn load_dy(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(dy[2u * q], dy[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(dy[4u * q], dy[4u * q + 1u], dy[4u * q + 2u], dy[4u * q + 3u]));
}
fn store_dx(q: u32, v: vec4<f32>) {
  if (BF16 == 1u) {
    let w = bf16x4_encode(v);
    dx[2u * q] = w.x;
    dx[2u * q + 1u] = w.y;
  } else {
    let w = f32x4_encode(v);
    dx[4u * q] = w.x;
    dx[4u * q + 1u] = w.y;
    dx[4u * q + 2u] = w.z;
    dx[4u * q + 3u] = w.w;
  }
}

fn present(q: u32) -> vec4<f32> {
  return select(vec4<f32>(0.0), vec4<f32>(1.0), vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(params.cols));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows) { return; }
  let base = id * params.quads;
  let mean = stats[id].x;
  let rstd = stats[id].y;
  var sum = vec4<f32>(0.0);
  var along = vec4<f32>(0.0);
  for (var q = 0u; q < params.quads; q += 1u) {
    let a = load_dy(base + q) * gain[q];
    sum = sum + a;
    along = along + a * ((load_x(base + q) - vec4<f32>(mean)) * rstd);
  }
  let m1 = ((sum.x + sum.y) + (sum.z + sum.w)) / f32(params.cols);
  let m2 = ((along.x + along.y) + (along.z + along.w)) / f32(params.cols);
  for (var q = 0u; q < params.quads; q += 1u) {
    let a = load_dy(base + q) * gain[q];
    let normal = (load_x(base + q) - vec4<f32>(mean)) * rstd;
    store_dx(base + q, (a - vec4<f32>(m1) - normal * m2) * rstd * present(q));
  }
}
