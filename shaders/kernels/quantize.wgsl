// Codes of an operand [rows, length], contracted axis last, rows padded with zero codes: q = cast(fl(x * factor)), product
// and rounding on bits, to nearest even or stochastically (E2M1). Or what the codes stand for, where nobody keeps them:
// BF16(fl(q * fl(1 / factor))), which is `dequantize` mode 2 by every rule but NVFP4's. One invocation owns the elements of
// one word of codes, eight or four; runs after block_scales (or tensor_scale) on the same source. Source: formats.md 2, 2.8.
// @import lib/exact_arith
// @import lib/index
// @import lib/philox
// @import lib/source
// @import lib/stochastic

struct Params {
  rows: u32, length: u32,
  source_stride: u32,          // elements between rows of the source
  source_bf16: u32, transposed: u32,
  element: u32,                // lib/minifloat element_of
  per_word: u32, row_pieces: u32,                // codes a word, invocations a row
  form: u32, row_words: u32,                     // what is written, and words of a row of it
  block_rows: u32, block_cols: u32,
  factors_first: u32, factors_stride: u32,       // of row 0, and words between rows of blocks
  calls: u32, first_call: u32,                   // Philox calls of a row of the tensor, and number of the first one here
  step: u32, draw: u32, seed: u32, stream: u32,  // Philox counter and key
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;           // FP32, or BF16 packed x2
@group(0) @binding(2) var<storage, read> factors: array<u32>;          // FP32 bits: [block rows, factors_stride], or the tensor record
@group(0) @binding(3) var<storage, read_write> y: array<u32>;          // [rows, row_words] codes, or BF16 packed x2

const FORM_CODES: u32 = 0u;
const FORM_IN_PLACE: u32 = 2u;                 // 1: BF16 of the source; 2: of what y holds itself, BF16 in natural order

override WG: u32 = 64u;
override STOCHASTIC: u32 = 0u;

fn element_bits(at: u32) -> u32 {
  if (params.form == FORM_IN_PLACE) { return (y[at >> 1u] >> (16u * (at & 1u))) << 16u; }
  return source_bits(at, params.source_bf16);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows * params.row_pieces) { return; }
  // Neighbouring invocations read neighbouring words of the source.
  let transposed = params.transposed == 1u;
  let r = select(id / params.row_pieces, id % params.rows, transposed);
  let w = select(id % params.row_pieces, id / params.rows, transposed);
  let first = params.per_word * w;
  let count = select(0u, min(params.length - first, params.per_word), first < params.length);
  let factor = factors[params.factors_first + (r / params.block_rows) * params.factors_stride + first / params.block_cols];
  let f = element_of(params.element);
  let width = select(16u, 32u / params.per_word, params.form == FORM_CODES);
  var decode = 0u;
  if (params.form != FORM_CODES) { decode = div_f32(0x3f800000u, factor); }
  let advance = select(1u, params.source_stride, transposed);
  var at = select(r * params.source_stride + first, first * params.source_stride + r, transposed);
  // Element l of row r takes byte l & 15 of call r * calls + l / 16, little end first (formats.md 2.8).
  var random = vec4<u32>(0u);
  if (STOCHASTIC == 1u) {
    random = philox4x32(vec4<u32>(params.first_call + r * params.calls + (first >> 4u), params.step, params.draw, 0u), vec2<u32>(params.seed, params.stream));
  }
  var words = vec4<u32>(0u);
  for (var i = 0u; i < count; i += 1u) {
    let scaled = mul_f32(element_bits(at), factor);
    var code = 0u;
    if (STOCHASTIC == 1u) {
      let place = (first + i) & 15u;
      code = encode_e2m1_stochastic(f, scaled, (random[place >> 2u] >> (8u * (place & 3u))) & 0xffu);
    } else {
      code = encode_minifloat(f, scaled, true);
    }
    if (params.form != FORM_CODES) { code = encode_minifloat(BF16, mul_f32(decode_minifloat(f, code), decode), false); }
    words[(width * i) >> 5u] |= code << ((width * i) & 31u);
    at += advance;
  }
  let start = (first * width) >> 5u;
  let end = min(start + ((params.per_word * width) >> 5u), params.row_words);
  for (var i = start; i < end; i += 1u) { y[r * params.row_words + i] = words[i - start]; }
}
