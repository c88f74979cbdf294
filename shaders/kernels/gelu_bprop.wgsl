// dx = dy gelu'(x), one quad an invocation.
// @import lib/elements
// @import lib/gelu
// @import lib/index

struct Params { quads: u32, first_id: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> dy: array<u32>;
@group(0) @binding(3) var<storage, read_write> dx: array<u32>;

override WG: u32 = 64u;
override BF16: u32 = 1u;

fn load_x(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(x[2u * q], x[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(x[4u * q], x[4u * q + 1u], x[4u * q + 2u], x[4u * q + 3u]));
}
fn load_dy(q: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(dy[2u * q], dy[2u * q + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(dy[4u * q], dy[4u * q + 1u], dy[4u * q + 2u], dy[4u * q + 3u]));
}
fn store_dx(q: u32, v: vec4<f32>) {
  if (BF16 == 1u) {
    let w = bf16x4_encode(v);
    dx[2u * q] = w.x;
    dx[2u * q + 1u] = w.y;
  } else {
    let w = f32x4_encode(v);
    dx[4u * q] = w.x;
    dx[4u * q + 1u] = w.y;
    dx[4u * q + 2u] = w.z;
    dx[4u * q + 3u] = w.w;
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.quads) { return; }
  let v = load_x(id);
  store_dx(id, load_dy(id) * vec4<f32>(gelu_slope(v.x), gelu_slope(v.y), gelu_slope(v.z), gelu_slope(v.w)));
}
