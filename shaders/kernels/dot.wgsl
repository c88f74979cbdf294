// Partial sums of a.b over chunks of 1,024 elements, one chunk an invocation, in fixed order; the host adds the chunks in
// FP64 (engine.md 6.2).
// @import lib/index
// @import lib/reduce

struct Params { quads: u32, first: u32, first_id: u32 }   // quads of the tensors; first chunk's place in `sums`

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;      // [chunks]

override WG: u32 = 64u;
const CHUNK_QUADS = 256u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  let chunks = (params.quads + CHUNK_QUADS - 1u) / CHUNK_QUADS;
  if (id >= chunks) { return; }
  var sum = vec4<f32>(0.0);
  for (var q = id * CHUNK_QUADS; q < min(params.quads, (id + 1u) * CHUNK_QUADS); q += 1u) {
    sum = sum + a[q] * b[q];
  }
  sums[params.first + id] = across(sum);
}
