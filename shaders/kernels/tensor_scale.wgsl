// Completes the tensor record from its amax: encode scale, decode scale and NVFP4's fl(S_enc * fl(1/6)). One invocation,
// integers only. Source: formats.md 2.1, 2.6.
// @import lib/index
// @import lib/scales

struct Params { rule: u32, largest: u32 }                              // SCALE_RULES; FP32 bits of the largest element

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> tensor: array<u32>;     // the tensor record

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  if (linear_id(group, groups, local, WG) != 0u) { return; }
  let encode = tensor_encode(params.rule, tensor[TENSOR_AMAX], params.largest);
  tensor[TENSOR_ENCODE] = encode;
  tensor[TENSOR_DECODE] = div_f32(ONE, encode);
  tensor[TENSOR_ENCODE_SIXTH] = mul_f32(encode, NVFP4_SIXTH);
}
