// Packed NVFP4 [rows, length] -> FP32 [rows, stride], padding zero; four elements an invocation.
// MODE 0: the GEMM operand q*s as the GEMM loaders decode it (exact; the tensor scales go into alpha).
// MODE 1: the decoded value fl(q * fl(fl(s * amax) * fl(1/2688))), each product on bits. Source: formats.md 1.6, 2.6.
// @import lib/index
// @import lib/nvfp4
// @import lib/unpack

struct Params {
  rows: u32, length: u32,
  quads: u32,                  // ceil(length / 4): a row of the result has 4 * quads elements
  groups: u32,                 // ceil(length / 64)
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> codes: array<u32>;            // [rows, 8 * groups]
@group(0) @binding(2) var<storage, read> scales: array<u32>;           // [rows or ceil(rows / 16), groups]
@group(0) @binding(3) var<storage, read> tensor: array<u32>;           // the tensor record; read in MODE 1
@group(0) @binding(4) var<storage, read_write> y: array<vec4<u32>>;    // [rows, quads], FP32 bits

override WG: u32 = 64u;
override TILE: u32 = 0u;
override MODE: u32 = 0u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows * params.quads) { return; }
  let r = id / params.quads;
  let q = id % params.quads;
  let block_row = select(r, r >> 4u, TILE == 1u);
  let word = codes[r * 8u * params.groups + (q >> 1u)];
  let scale_word = scales[block_row * params.groups + (q >> 4u)];
  var value = vec4<u32>(0u);
  if (MODE == 0u) {
    value = bitcast<vec4<u32>>(unpack_e2m1(vec4<u32>(word), q) * unpack_e4m3_scale(scale_word, q));
  } else {
    let factor = nvfp4_decoded_scale((scale_word >> (8u * ((q >> 2u) & 3u))) & 0xffu, tensor[TENSOR_AMAX]);
    for (var i = 0u; i < 4u; i += 1u) {
      let code = (word >> (16u * (q & 1u) + 4u * i)) & 0xfu;
      value[i] = mul_f32(decode_minifloat(E2M1, code), factor);
    }
  }
  let columns = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u);
  y[id] = select(vec4<u32>(0u), value, columns < vec4<u32>(params.length));
}
