// One of our own functions over an array: what tests and the start-up check compare with float64.
// OP: 0 exp, 1 logistic, 2 gelu_new, 3 its slope.
// @import lib/exp
// @import lib/gelu
// @import lib/index

struct Params { count: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

override WG: u32 = 64u;
override OP: u32 = 0u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = linear_id(group, groups, local, WG);
  if (id >= params.count) { return; }
  switch (OP) {
    case 0u: { y[id] = exp_f32(x[id]); }
    case 1u: { y[id] = logistic_f32(x[id]); }
    case 2u: { y[id] = gelu(x[id]); }
    default: { y[id] = gelu_slope(x[id]); }
  }
}
