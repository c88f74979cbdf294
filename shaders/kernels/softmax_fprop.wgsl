// P = softmax of the scores of row t over s <= t, FP32 in place, and its rounding, the operand of P V and P^T dO.
// One row an invocation; entries above the diagonal are zero in both.
// @import lib/elements
// @import lib/exp
// @import lib/index

struct Params { rows: u32, length: u32, quads: u32, first_id: u32 }   // B NH T, T, quads a row

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> p: array<vec4<f32>>;   // scores in, probabilities out [B NH, T, T]
@group(0) @binding(2) var<storage, read_write> y: array<u32>;         // rounded probabilities, same shape

override WG: u32 = 64u;
override BF16: u32 = 1u;

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

fn present(q: u32, t: u32) -> vec4<bool> { return vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u) <= vec4<u32>(t); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows) { return; }
  let t = id % params.length;
  let base = id * params.quads;
  let quads = t / 4u + 1u;
  var top = vec4<f32>(-3.0e38);
  for (var q = 0u; q < quads; q += 1u) { top = max(top, select(vec4<f32>(-3.0e38), p[base + q], present(q, t))); }
  let m = max(max(top.x, top.y), max(top.z, top.w));
  var total = vec4<f32>(0.0);
  for (var q = 0u; q < quads; q += 1u) {
    let s = p[base + q] - vec4<f32>(m);
    let e = select(vec4<f32>(0.0), vec4<f32>(exp_f32(s.x), exp_f32(s.y), exp_f32(s.z), exp_f32(s.w)), present(q, t));
    p[base + q] = e;
    total = total + e;
  }
  let sum = (total.x + total.y) + (total.z + total.w);
  for (var q = 0u; q < params.quads; q += 1u) {
    var v = vec4<f32>(0.0);
    if (q < quads) { v = bitcast<vec4<f32>>(f32x4_encode(p[base + q] / vec4<f32>(sum))); }
    p[base + q] = v;
    store_y(base + q, v);
  }
}
