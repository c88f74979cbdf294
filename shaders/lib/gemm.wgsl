// What the three GEMM kernels share: sizes, batch offsets, the tile an invocation owns, and the epilogue.
// A batch is (sequence, head) of attention, or the single matrix of a linear. Bases and strides of A and B are in quads.
// Order of every sum: k ascending in one invocation. Epilogue: times alpha or scale, plus bias (FP32), one rounding.
// @import lib/elements
// @import lib/index

struct Params {
  rows: u32, cols: u32, depth: u32,
  row_start: u32, row_count: u32,
  heads: u32, batches: u32,
  scale: f32,
  a_base: u32, a_stride: u32, a_batch: u32, a_head: u32,
  b_base: u32, b_stride: u32, b_batch: u32, b_head: u32,
  c_base: u32, c_stride: u32, c_batch: u32, c_head: u32,
  a_scale_stride: u32, b_scale_stride: u32,    // words between rows of block scales; gemm_nt
}

struct Tile { row: u32, col: u32, a: u32, b: u32, c: u32, valid: bool }

// CAUSAL: 0 none; 1 the output is lower triangular (tiles above the diagonal are zero);
// 2 row r of A ends at k = r; 3 row k of A is zero before k = row (its transpose). All three skip exact zeros only.
override CAUSAL: u32 = 0u;
override OUT_BF16: u32 = 0u;

fn gemm_tile(id: u32) -> Tile {
  let tiles_n = (params.cols + 3u) / 4u;
  let tiles_m = (params.row_count + 3u) / 4u;
  let batch = id / (tiles_n * tiles_m);
  let inside = id % (tiles_n * tiles_m);
  let sequence = batch / params.heads;
  let head = batch % params.heads;
  return Tile(
    params.row_start + 4u * (inside / tiles_n),
    4u * (inside % tiles_n),
    params.a_base + sequence * params.a_batch + head * params.a_head,
    params.b_base + sequence * params.b_batch + head * params.b_head,
    params.c_base + sequence * params.c_batch + head * params.c_head,
    batch < params.batches,
  );
}

fn gemm_above_diagonal(t: Tile) -> bool {
  return CAUSAL == 1u && t.col > t.row + 3u;
}
fn gemm_k_end(t: Tile) -> u32 {
  return select(params.depth, min(params.depth, t.row + 4u), CAUSAL == 2u);
}
fn gemm_k_start(t: Tile) -> u32 {
  return select(0u, t.row & ~3u, CAUSAL == 3u);
}

// Writes four outputs of row t.row + i; `c` and `params` are the kernel's own bindings.
fn store_row(t: Tile, i: u32, v: vec4<f32>) {
  let row = t.row + i;
  if (row >= params.row_start + params.row_count) { return; }
  let columns = vec4<u32>(t.col) + vec4<u32>(0u, 1u, 2u, 3u);
  // The padding of a row stays zero, and so does what lies above the diagonal of a causal product.
  var keep = columns < vec4<u32>(params.cols);
  if (CAUSAL == 1u) { keep = keep & (columns <= vec4<u32>(row)); }
  let value = select(vec4<f32>(0.0), v, keep);
  let at = t.c + row * params.c_stride + t.col;
  if (OUT_BF16 == 1u) {
    let w = bf16x4_encode(value);
    c[at >> 1u] = w.x;
    c[(at >> 1u) + 1u] = w.y;
  } else {
    let w = f32x4_encode(value);
    c[at] = w.x;
    c[at + 1u] = w.y;
    c[at + 2u] = w.z;
    c[at + 3u] = w.w;
  }
}
