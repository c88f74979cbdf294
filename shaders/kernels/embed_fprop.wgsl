// y = table[id] + positions[t], rounded once: the token embedding, one quad of one token an invocation.
// @import lib/elements
// @import lib/index

struct Params { tokens: u32, length: u32, quads: u32, first_id: u32 }   // N = B T, T, quads a row

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> ids: array<u32>;                 // token ids [N]
@group(0) @binding(2) var<storage, read> table: array<vec4<f32>>;         // wte [V, C] FP32
@group(0) @binding(3) var<storage, read> positions: array<vec4<f32>>;     // wpe [P, C] FP32
@group(0) @binding(4) var<storage, read_write> y: array<u32>;             // [N, C]

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn store_y(q: u32, v: vec4<f32>) {
  if (BF16 == 1u) {
    let w = bf16x4_encode(v);
    y[2u * q] = w.x;
    y[2u * q + 1u] = w.y;
  } else {
    let w = f32x4_encode(v);
    y[4u * q] = w.x;
    y[4u * q + 1u] = w.y;
    y[4u * q + 2u] = w.z;
    y[4u * q + 3u] = w.w;
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.tokens * params.quads) { return; }
  let n = id / params.quads;
  let q = id % params.quads;
  store_y(id, table[ids[n] * params.quads + q] + positions[(n % params.length) * params.quads + q]);
}
