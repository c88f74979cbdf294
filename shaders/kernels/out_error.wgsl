// Partial sums of a rounded BF16 tensor q against the tensor r it was made from, over chunks of 1,024 elements: |r|^2 and
// |q-r|^2, in the places where gradient_compare keeps r.r and |g-r|^2 (local error of an op group's output, method.md 7).
// @import lib/elements
// @import lib/index
// @import lib/reduce

struct Params { quads: u32, first: u32, first_id: u32 }   // quads of the tensor; first chunk's place in `sums`

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> q: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> r: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;      // [chunks, 8]: 0, rr, dd, 0, ...

override WG: u32 = 64u;
const CHUNK_QUADS = 256u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  let chunks = (params.quads + CHUNK_QUADS - 1u) / CHUNK_QUADS;
  if (id >= chunks) { return; }
  var rr = vec4<f32>(0.0);
  var dd = vec4<f32>(0.0);
  for (var i = id * CHUNK_QUADS; i < min(params.quads, (id + 1u) * CHUNK_QUADS); i += 1u) {
    let b = bf16x4_decode(r[i]);
    let d = bf16x4_decode(q[i]) - b;
    rr = rr + b * b;
    dd = dd + d * d;
  }
  let at = 8u * (params.first + id);
  sums[at + 1u] = across(rr);
  sums[at + 2u] = across(dd);
}
