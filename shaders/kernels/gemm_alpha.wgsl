// What a GEMM on packed operands is multiplied by once, FP32 bits: fl(inv_A * inv_B), or of NVFP4 fl(fl(amaxA * amaxB) /
// 7225344). One invocation. It also counts the Inf and NaN of both operands into a second word, which a run clears at its
// start and reads at its end: the codes cannot show them (formats.md 1.2). Source: formats.md 1.5, 1.6.
// @import lib/index
// @import lib/scales

struct Params { rule: u32 }                                            // SCALE_RULES, of both operands

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tensor_a: array<u32>;         // tensor records of the two operands
@group(0) @binding(2) var<storage, read> tensor_b: array<u32>;
@group(0) @binding(3) var<storage, read_write> alpha: array<u32>;      // [2]: alpha, count

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  if (linear_id(group, groups, local, WG) != 0u) { return; }
  let word = select(TENSOR_DECODE, TENSOR_AMAX, params.rule == RULE_NVFP4);
  let product = mul_f32(tensor_a[word], tensor_b[word]);
  alpha[0] = select(product, div_f32(product, NVFP4_RANGE_SQUARED), params.rule == RULE_NVFP4);
  alpha[1] += tensor_a[TENSOR_NON_FINITE] + tensor_b[TENSOR_NON_FINITE];
}
