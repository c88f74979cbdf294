// y = x with one BF16 ulp added to one element (its bits plus one): the perturbation of the noise floor (method.md 1).
// @import lib/index

struct Params { words: u32, word: u32, upper: u32, first_id: u32 }   // words of x; the element's word; 1 if it sits in the upper half

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;               // BF16 packed x2
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.words) { return; }
  let w = x[id];
  let flipped = select((w & 0xffff0000u) | ((w + 1u) & 0xffffu), w + 0x10000u, params.upper == 1u);
  y[id] = select(w, flipped, id == params.word);
}
