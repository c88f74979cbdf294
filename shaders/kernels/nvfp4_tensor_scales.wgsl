// Completes the tensor record from its amax: S_enc, S_dec and fl(S_enc * fl(1/6)). One invocation, integers only.
// Source: formats.md 2.6.
// @import lib/index
// @import lib/nvfp4

struct Params { unused: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> tensor: array<u32>;     // the tensor record

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  if (linear_id(group, groups, local, WG) != 0u) { return; }
  let encode_scale = nvfp4_encode_scale(tensor[TENSOR_AMAX]);
  tensor[TENSOR_ENCODE] = encode_scale;
  tensor[TENSOR_DECODE] = div_f32(0x3f800000u, encode_scale);
  tensor[TENSOR_ENCODE_SIXTH] = mul_f32(encode_scale, NVFP4_SIXTH);
}
