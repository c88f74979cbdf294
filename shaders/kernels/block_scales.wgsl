// Amax of every block -> its stored scale, and in place of the amax the FP32 factor every element of the block is
// multiplied by before the cast. One invocation owns one scale word: four one-byte scales, or one FP32 scale.
// Source: formats.md 2.3 to 2.6; packing: 1.6.
// @import lib/index
// @import lib/scales

struct Params {
  rule: u32,                   // SCALE_RULES
  largest: u32, largest_inverse: u32, overflow: u32,   // FP32 bits: lib/scales BlockFacts
  words: u32, row_words: u32,  // scale words in total and of a row of blocks
  blocks: u32,                 // blocks of a row; those past it are padding, scale 0
  per_word: u32,               // scales a word
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tensor: array<u32>;                   // the tensor record, complete
@group(0) @binding(2) var<storage, read_write> scales: array<u32>;             // [block rows, row_words]
@group(0) @binding(3) var<storage, read_write> multipliers: array<u32>;        // [block rows, per_word * row_words], FP32 bits

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.words) { return; }
  var word = 0u;
  for (var i = 0u; i < params.per_word; i += 1u) {
    let at = id * params.per_word + i;
    var scale = BlockScale(0u, 0u);
    if ((id % params.row_words) * params.per_word + i < params.blocks) {
      scale = block_scale(params.rule, BlockFacts(multipliers[at], params.largest, params.largest_inverse, params.overflow, tensor[TENSOR_ENCODE_SIXTH], tensor[TENSOR_DECODE]));
    }
    word |= scale.stored << (8u * i);
    multipliers[at] = scale.multiplier;
  }
  scales[id] = word;
}
