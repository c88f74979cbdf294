// Of each row of logits: the maximum m, sum exp(z - m), and the target's logit. The host forms the loss
// m + log(sum) - z_target in FP64, because the built-in log is coarse (engine.md 3.3). One row an invocation.
// @import lib/elements
// @import lib/exp
// @import lib/index

struct Params { rows: u32, cols: u32, quads: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> z: array<u32>;                   // logits [N, V]
@group(0) @binding(2) var<storage, read> targets: array<u32>;             // [N]
@group(0) @binding(3) var<storage, read_write> stats: array<vec4<f32>>;   // [N]: m, sum, target logit, 0

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_z(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(z[2u * q], z[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(z[4u * q], z[4u * q + 1u], z[4u * q + 2u], z[4u * q + 3u]));
}

fn present(q: u32) -> vec4<bool> { return vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(params.cols); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows) { return; }
  let base = id * params.quads;
  var top = vec4<f32>(-3.0e38);
  for (var q = 0u; q < params.quads; q += 1u) { top = max(top, select(vec4<f32>(-3.0e38), load_z(base + q), present(q))); }
  let m = max(max(top.x, top.y), max(top.z, top.w));
  var total = vec4<f32>(0.0);
  for (var q = 0u; q < params.quads; q += 1u) {
    let s = load_z(base + q) - vec4<f32>(m);
    total = total + select(vec4<f32>(0.0), vec4<f32>(exp_f32(s.x), exp_f32(s.y), exp_f32(s.z), exp_f32(s.w)), present(q));
  }
  let target_quad = load_z(base + targets[id] / 4u);
  stats[id] = vec4<f32>(m, (total.x + total.y) + (total.z + total.w), target_quad[targets[id] % 4u], 0.0);
}
