// dpositions[t] = sum over the sequences b of dy[b, t], b ascending; zero for positions past T.
// @import lib/elements
// @import lib/index

struct Params { sequences: u32, length: u32, quads: u32, positions: u32, first_id: u32 }   // B, T, quads a row, rows of wpe

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<u32>;                      // [B T, C]
@group(0) @binding(2) var<storage, read_write> dpositions: array<vec4<u32>>;  // [P, C] FP32

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_dy(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(dy[2u * q], dy[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(dy[4u * q], dy[4u * q + 1u], dy[4u * q + 2u], dy[4u * q + 3u]));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.positions * params.quads) { return; }
  let t = id / params.quads;
  var sum = vec4<f32>(0.0);
  if (t < params.length) {
    for (var b = 0u; b < params.sequences; b += 1u) { sum = sum + load_dy(b * params.length * params.quads + id); }
  }
  dpositions[id] = f32x4_encode(sum);
}
