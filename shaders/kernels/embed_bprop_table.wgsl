// dtable[v] = sum of dy over the tokens n with id v, n ascending, plus the head's share where the table is tied.
// The host sorts the tokens by id (starts, order), so no float atomics are needed.
// @import lib/elements
// @import lib/index

struct Params { vocabulary: u32, quads: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;              // [V + 1]: where id v begins in `order`
@group(0) @binding(2) var<storage, read> order: array<u32>;               // [N]: token positions, grouped by id
@group(0) @binding(3) var<storage, read> dy: array<u32>;                  // [N, C]
@group(0) @binding(4) var<storage, read> head: array<vec4<f32>>;          // the head's dw [V, C] FP32, read where TIED = 1
@group(0) @binding(5) var<storage, read_write> dtable: array<vec4<u32>>;  // [V, C] FP32

override WG: u32 = 64u;
override BF16: u32 = 1u;
override TIED: u32 = 0u;

fn load_dy(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(dy[2u * q], dy[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(dy[4u * q], dy[4u * q + 1u], dy[4u * q + 2u], dy[4u * q + 3u]));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.vocabulary * params.quads) { return; }
  let v = id / params.quads;
  let q = id % params.quads;
  var sum = vec4<f32>(0.0);
  for (var i = starts[v]; i < starts[v + 1u]; i += 1u) { sum = sum + load_dy(order[i] * params.quads + q); }
  if (TIED == 1u) { sum = sum + head[id]; }
  dtable[id] = f32x4_encode(sum);
}
