// y = a + b, rounded once: residual sums, and the sum of the gradients two consumers send back.
// @import lib/elements
// @import lib/index

struct Params { quads: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_a(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(a[2u * q], a[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(a[4u * q], a[4u * q + 1u], a[4u * q + 2u], a[4u * q + 3u]));
}
fn load_b(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(b[2u * q], b[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(b[4u * q], b[4u * q + 1u], b[4u * q + 2u], b[4u * q + 3u]));
}
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
  if (id >= params.quads) { return; }
  store_y(id, load_a(id) + load_b(id));
}
