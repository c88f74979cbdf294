// max |x| of a tensor as bits, NaN ignored and Inf kept, and how many elements are NaN or Inf: the first two words of
// the tensor record, which must be zero before. Integer maximum: exact in any order. Rows need not be told apart,
// because their padding is zero. Source: engine.md 3.3 rules 2 and 6, formats.md 2.6.
// @import lib/index
// @import lib/minifloat
// @import lib/record

struct Params { words: u32, step: u32, first_id: u32 }        // words of x; invocations, each visiting every step-th word

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;                        // SRC_FMT 0: FP32, 1: BF16 packed x2
@group(0) @binding(2) var<storage, read_write> tensor: array<atomic<u32>>;     // the tensor record

override WG: u32 = 64u;
override SRC_FMT: u32 = 1u;

fn finite_or_zero(magnitude: u32) -> u32 {
  return select(magnitude, 0u, magnitude > F32_INF);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.step) { return; }
  var largest = 0u;
  var non_finite = 0u;
  for (var at = id; at < params.words; at += params.step) {
    let word = x[at];
    if (SRC_FMT == 1u) {
      let low = (word << 16u) & 0x7fffffffu;
      let high = word & 0x7fff0000u;
      largest = max(largest, max(finite_or_zero(low), finite_or_zero(high)));
      non_finite += select(0u, 1u, low >= F32_INF) + select(0u, 1u, high >= F32_INF);
    } else {
      let magnitude = word & 0x7fffffffu;
      largest = max(largest, finite_or_zero(magnitude));
      non_finite += select(0u, 1u, magnitude >= F32_INF);
    }
  }
  if (largest > 0u) { atomicMax(&tensor[TENSOR_AMAX], largest); }
  if (non_finite > 0u) { atomicAdd(&tensor[TENSOR_NON_FINITE], non_finite); }
}
