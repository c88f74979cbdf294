// What the device's own FP32 arithmetic does with given operands: facts for the report, and exact results that any device
// must get right. No gradient depends on the rest: what is bit-defined is integer work. Source: engine.md 3.3.
// @import lib/index

struct Params { count: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read> c: array<f32>;
@group(0) @binding(4) var<storage, read_write> facts: array<vec4<f32>>;   // [count, 2]: a b, a + b, a / b, a b + c; a * 1, sqrt |a|, 0, 0

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = linear_id(group, groups, local, WG);
  if (id >= params.count) { return; }
  let x = a[id];
  let y = b[id];
  // Read from memory, so that no compiler can fold the product away.
  let one = c[params.count];
  facts[2u * id] = vec4<f32>(x * y, x + y, x / y, x * y + c[id]);
  facts[2u * id + 1u] = vec4<f32>(x * one, sqrt(abs(x)), 0.0, 0.0);
}
