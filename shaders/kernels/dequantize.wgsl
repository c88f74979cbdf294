// Packed codes [rows, length] -> values [rows, stride] in natural order, padding zero; one quad of elements an invocation.
// mode 0: the GEMM operand q*s, FP32, as the GEMM loaders decode it (the tensor scales go into alpha).
// mode 1: the decoded value fl(q * factor), FP32, on bits. mode 2: the same rounded to BF16, packed x2: what the readers of
// a low op group's output see. Source: formats.md 1.6, 2; method.md 4.
// @import lib/index
// @import lib/scales
// @import lib/unpack

struct Params {
  rows: u32, length: u32,
  quads: u32,                  // ceil(length / 4): a row of the result has 4 * quads elements
  element: u32,                // lib/minifloat element_of
  code_quads: u32,             // quads of a row of codes, padding included
  rule: u32,                   // SCALE_RULES
  block_rows: u32, block_cols: u32,
  per_word: u32, row_words: u32,     // scales a word, words of a row of scales; 0 without blocks
  mode: u32,
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> codes: array<vec4<u32>>;      // [rows, code_quads] quads
@group(0) @binding(2) var<storage, read> scales: array<u32>;           // [block rows, row_words]
@group(0) @binding(3) var<storage, read> tensor: array<u32>;           // the tensor record
@group(0) @binding(4) var<storage, read_write> y: array<u32>;          // [rows, quads]: four words a quad, of BF16 two

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows * params.quads) { return; }
  let r = id / params.quads;
  let q = id % params.quads;
  let f = element_of(params.element);
  let at = r * params.code_quads + q;
  let code = unpack_codes(f, codes[at >> select(2u, 3u, f.bits <= 4u)], at);
  var stored = 0u;
  if (params.per_word > 0u) {
    let block = (4u * q) / params.block_cols;
    let word = scales[(r / params.block_rows) * params.row_words + block / params.per_word];
    stored = select((word >> (8u * (block & 3u))) & 0xffu, word, params.per_word == 1u);
  }
  var value = vec4<u32>(0u);
  if (params.mode == 0u) {
    var s = vec2<f32>(1.0);
    if (params.per_word > 1u) { s = unpack_scale(select(SCALE_E8M0, SCALE_E4M3, params.rule == RULE_NVFP4), stored); }
    value = bitcast<vec4<u32>>(unpack_elements(f, code) * s.x * s.y);
  } else {
    let factor = decoded_scale(params.rule, stored, tensor[TENSOR_AMAX], tensor[TENSOR_DECODE]);
    for (var i = 0u; i < 4u; i += 1u) {
      value[i] = mul_f32(decode_minifloat(f, code[i]), factor);
      if (params.mode == 2u) { value[i] = encode_minifloat(BF16, value[i], false); }
    }
  }
  let columns = vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u);
  value = select(vec4<u32>(0u), value, columns < vec4<u32>(params.length));
  if (params.mode == 2u) {
    y[2u * id] = value.x | (value.y << 16u);
    y[2u * id + 1u] = value.z | (value.w << 16u);
  } else {
    for (var i = 0u; i < 4u; i += 1u) { y[4u * id + i] = value[i]; }
  }
}
