// dz = (softmax(z) - onehot(target)) / N, rounded once: the gradient of the mean cross-entropy. One quad an invocation.
// @import lib/elements
// @import lib/exp
// @import lib/index

struct Params { rows: u32, cols: u32, quads: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> z: array<u32>;               // logits [N, V]
@group(0) @binding(2) var<storage, read> targets: array<u32>;         // [N]
@group(0) @binding(3) var<storage, read> stats: array<vec4<f32>>;     // [N]: m, sum, target logit, 0
@group(0) @binding(4) var<storage, read_write> dz: array<u32>;        // [N, V]

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_z(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(z[2u * q], z[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(z[4u * q], z[4u * q + 1u], z[4u * q + 2u], z[4u * q + 3u]));
}
fn store_dz(q: u32, v: vec4<f32>) {
  if (BF16 == 1u) {
    let w = bf16x4_encode(v);
    dz[2u * q] = w.x;
    dz[2u * q + 1u] = w.y;
  } else {
    let w = f32x4_encode(v);
    dz[4u * q] = w.x;
    dz[4u * q + 1u] = w.y;
    dz[4u * q + 2u] = w.z;
    dz[4u * q + 3u] = w.w;
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows * params.quads) { return; }
  let n = id / params.quads;
  let columns = vec4<u32>(4u * (id % params.quads)) + vec4<u32>(0u, 1u, 2u, 3u);
  let s = load_z(id) - vec4<f32>(stats[n].x);
  let p = vec4<f32>(exp_f32(s.x), exp_f32(s.y), exp_f32(s.z), exp_f32(s.w)) / vec4<f32>(stats[n].y);
  let hit = select(vec4<f32>(0.0), vec4<f32>(1.0), columns == vec4<u32>(targets[n]));
  let d = (p - hit) / vec4<f32>(f32(params.rows));
  store_dz(id, select(vec4<f32>(0.0), d, columns < vec4<u32>(params.cols)));
}
