// dS = P (dP - rowsum(dP P)), with the unrounded P; rounded once. One row an invocation.
// @import lib/elements
// @import lib/index

struct Params { rows: u32, length: u32, quads: u32, first_id: u32 }   // B NH T, T, quads a row

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> p: array<vec4<f32>>;         // probabilities FP32 [B NH, T, T]
@group(0) @binding(2) var<storage, read> dp: array<vec4<f32>>;        // dO V^T FP32
@group(0) @binding(3) var<storage, read_write> ds: array<u32>;

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn store_ds(q: u32, v: vec4<f32>) {
  if (BF16 == 1u) {
    let w = bf16x4_encode(v);
    ds[2u * q] = w.x;
    ds[2u * q + 1u] = w.y;
  } else {
    let w = f32x4_encode(v);
    ds[4u * q] = w.x;
    ds[4u * q + 1u] = w.y;
    ds[4u * q + 2u] = w.z;
    ds[4u * q + 3u] = w.w;
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows) { return; }
  let base = id * params.quads;
  let quads = (id % params.length) / 4u + 1u;
  var total = vec4<f32>(0.0);
  for (var q = 0u; q < quads; q += 1u) { total = total + dp[base + q] * p[base + q]; }
  let sum = (total.x + total.y) + (total.z + total.w);
  for (var q = 0u; q < params.quads; q += 1u) {
    var v = vec4<f32>(0.0);
    if (q < quads) { v = p[base + q] * (dp[base + q] - vec4<f32>(sum)); }
    store_ds(base + q, v);
  }
}
