// Partial column sums of dy over fixed chunks of rows (bias gradients); column_sum_final adds the chunks in order.
// @import lib/elements
// @import lib/index

struct Params { rows: u32, quads: u32, chunk: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<u32>;                  // [N, C]
@group(0) @binding(2) var<storage, read_write> partial: array<vec4<f32>>; // [chunks, C]

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_dy(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(dy[2u * q], dy[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(dy[4u * q], dy[4u * q + 1u], dy[4u * q + 2u], dy[4u * q + 3u]));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  let chunks = (params.rows + params.chunk - 1u) / params.chunk;
  if (id >= chunks * params.quads) { return; }
  let chunk = id / params.quads;
  let q = id % params.quads;
  var sum = vec4<f32>(0.0);
  for (var row = chunk * params.chunk; row < min(params.rows, (chunk + 1u) * params.chunk); row += 1u) {
    sum = sum + load_dy(row * params.quads + q);
  }
  partial[id] = sum;
}
