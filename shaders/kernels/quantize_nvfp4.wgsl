// E2M1 codes of an operand [rows, length], contracted axis last, eight a word, rows padded to 64 elements with zero
// codes: q = E2M1(fl(x * factor)), product and rounding on bits. One invocation owns one word; runs after nvfp4_scales
// with the same source, TRANSPOSED and TILE. Source: formats.md 2.6, 2.7.
// @import lib/exact_arith
// @import lib/index
// @import lib/minifloat

struct Params {
  rows: u32, length: u32,
  source_stride: u32,          // elements between rows of the source
  groups: u32,                 // ceil(length / 64): a row has 8 * groups words
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;           // SRC_FMT 0: FP32, 1: BF16 packed x2
@group(0) @binding(2) var<storage, read> multipliers: array<u32>;      // [block rows, 4 * groups], FP32 bits
@group(0) @binding(3) var<storage, read_write> codes: array<u32>;      // [rows, 8 * groups]

override WG: u32 = 64u;
override SRC_FMT: u32 = 1u;
override TRANSPOSED: u32 = 0u;
override TILE: u32 = 0u;

fn bits_at(r: u32, l: u32) -> u32 {
  let at = select(r * params.source_stride + l, l * params.source_stride + r, TRANSPOSED == 1u);
  if (SRC_FMT == 1u) { return (source[at >> 1u] >> (16u * (at & 1u))) << 16u; }
  return source[at];
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  let row_words = 8u * params.groups;
  if (id >= params.rows * row_words) { return; }
  // Neighbouring invocations read neighbouring words of the source.
  let r = select(id / row_words, id % params.rows, TRANSPOSED == 1u);
  let w = select(id % row_words, id / params.rows, TRANSPOSED == 1u);
  let block_row = select(r, r >> 4u, TILE == 1u);
  let factor = multipliers[block_row * 4u * params.groups + (w >> 1u)];
  let first = 8u * w;
  let count = select(0u, min(params.length - first, 8u), first < params.length);
  var word = 0u;
  for (var i = 0u; i < count; i += 1u) {
    word |= encode_minifloat(E2M1, mul_f32(bits_at(r, first + i), factor), true) << (4u * i);
  }
  codes[r * row_words + w] = word;
}
