// Block scales of an operand [rows, length], contracted axis last: E4M3 codes, four a word, and the factor every block
// is multiplied by before the cast. One invocation owns one scale word: four blocks of 1x16, or of 16x16 (TILE = 1).
// TRANSPOSED = 1: element (r, l) of the operand is source (l, r). Source: formats.md 2.6, 2.7.
// @import lib/index
// @import lib/nvfp4

struct Params {
  rows: u32, length: u32,
  source_stride: u32,          // elements between rows of the source
  groups: u32,                 // ceil(length / 64): scale words of a row of blocks
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;                   // SRC_FMT 0: FP32, 1: BF16 packed x2
@group(0) @binding(2) var<storage, read> tensor: array<u32>;                   // the tensor record, complete
@group(0) @binding(3) var<storage, read_write> scales: array<u32>;             // [block rows, groups]
@group(0) @binding(4) var<storage, read_write> multipliers: array<vec4<u32>>;  // [block rows, groups], FP32 bits

override WG: u32 = 64u;
override SRC_FMT: u32 = 1u;
override TRANSPOSED: u32 = 0u;
override TILE: u32 = 0u;

fn magnitude_at(r: u32, l: u32) -> u32 {
  let at = select(r * params.source_stride + l, l * params.source_stride + r, TRANSPOSED == 1u);
  var bits = 0u;
  if (SRC_FMT == 1u) {
    bits = (source[at >> 1u] >> (16u * (at & 1u))) << 16u;
  } else {
    bits = source[at];
  }
  let magnitude = bits & 0x7fffffffu;
  return select(magnitude, 0u, magnitude > F32_INF);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  let height = select(1u, 16u, TILE == 1u);
  let block_rows = (params.rows + height - 1u) / height;
  if (id >= block_rows * params.groups) { return; }
  // Neighbouring invocations read neighbouring words of the source.
  let block_row = select(id / params.groups, id % block_rows, TRANSPOSED == 1u);
  let block_group = select(id % params.groups, id / block_rows, TRANSPOSED == 1u);
  let first_row = block_row * height;
  let end_row = min(first_row + height, params.rows);
  var word = 0u;
  var factors = vec4<u32>(0u);
  for (var b = 0u; b < 4u; b += 1u) {
    let first = 64u * block_group + 16u * b;
    let end = min(first + 16u, params.length);
    var amax = 0u;
    for (var r = first_row; r < end_row; r += 1u) {
      for (var l = first; l < end; l += 1u) { amax = max(amax, magnitude_at(r, l)); }
    }
    // Blocks past the end are padding: scale 0, like every block of zeros.
    let scale = nvfp4_block_scale(amax, tensor[TENSOR_ENCODE_SIXTH]);
    word |= scale << (8u * b);
    factors[b] = nvfp4_multiplier(scale, tensor[TENSOR_DECODE]);
  }
  let at = block_row * params.groups + block_group;
  scales[at] = word;
  multipliers[at] = factors;
}
