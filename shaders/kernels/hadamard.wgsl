// The random Hadamard transform of a wgrad operand along its tokens: BF16 [tokens, cols] in natural order -> BF16 packed x2
// [cols, 16 * groups], tokens last and padded with zeros. y = v diag(sgn) H16 / 4 of every 16 tokens; order of operations:
// signs; butterflies (a + b, a - b) at distances 1, 2, 4, 8, each sum one FP32 rounding on bits; times 0.25, a zero is +0;
// rounded to BF16. One invocation owns one group. Source: formats.md 2.9; oracle: src/numerics/hadamard.ts.
// @import lib/exact_arith
// @import lib/index
// @import lib/minifloat

struct Params {
  tokens: u32, cols: u32,
  source_stride: u32,          // elements between rows of the source
  groups: u32,                 // ceil(tokens / 16)
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;           // BF16 packed x2
@group(0) @binding(2) var<storage, read_write> y: array<u32>;          // BF16 packed x2

override WG: u32 = 64u;

const SIGN_MASK: u32 = 0xd7e8u;                // bit i: element i changes its sign

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.cols * params.groups) { return; }
  let col = id % params.cols;
  let first = 16u * (id / params.cols);
  var v = array<u32, 16>();
  for (var i = 0u; i < 16u; i += 1u) {
    if (first + i >= params.tokens) { continue; }
    let at = (first + i) * params.source_stride + col;
    let bits = (source[at >> 1u] >> (16u * (at & 1u))) << 16u;
    v[i] = bits ^ (((SIGN_MASK >> i) & 1u) << 31u);
  }
  for (var distance = 1u; distance < 16u; distance *= 2u) {
    for (var pair = 0u; pair < 8u; pair += 1u) {
      let i = 2u * pair - (pair & (distance - 1u));
      let a = v[i];
      let b = v[i + distance];
      v[i] = add_f32(a, b);
      v[i + distance] = add_f32(a, b ^ F32_SIGN);
    }
  }
  let row = col * 8u * params.groups + first / 2u;
  for (var i = 0u; i < 8u; i += 1u) {
    y[row + i] = quarter_bf16(v[2u * i]) | (quarter_bf16(v[2u * i + 1u]) << 16u);
  }
}

// BF16 code of x / 4, +0 for a zero.
fn quarter_bf16(x: u32) -> u32 {
  let quarter = mul_f32(x, 0x3e800000u);
  return encode_minifloat(BF16, select(quarter, 0u, (quarter & 0x7fffffffu) == 0u), false);
}
