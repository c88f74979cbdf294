// d = g - r over whole FP32 tensors: the shift of a gradient against its reference, kept for inner products with others.
// @import lib/elements
// @import lib/index

struct Params { quads: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> g: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> r: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> d: array<vec4<u32>>;

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.quads) { return; }
  d[id] = f32x4_encode(g[id] - r[id]);
}
