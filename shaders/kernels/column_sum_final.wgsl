// out[q] = sum over the chunks of partial[chunk], chunk ascending; `first` and `stride` in quads pick one of several sums.
// @import lib/elements
// @import lib/index

struct Params { chunks: u32, quads: u32, first: u32, stride: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partial: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;     // [C] FP32

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.quads) { return; }
  var sum = vec4<f32>(0.0);
  for (var i = 0u; i < params.chunks; i += 1u) { sum = sum + partial[params.first + i * params.stride + id]; }
  out[id] = f32x4_encode(sum);
}
