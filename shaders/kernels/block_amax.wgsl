// max |x| of every block of an operand [rows, length] whose contracted axis is last, NaN ignored and Inf kept: one
// invocation visits one row of one block, an integer maximum joins the rows of a tile. `amax` must be zero before.
// transposed = 1: element (r, l) of the operand is source (l, r). Source: formats.md 2.3, engine.md 3.3 rule 2.
// @import lib/index
// @import lib/source

struct Params {
  rows: u32, length: u32,
  source_stride: u32,          // elements between rows of the source
  source_bf16: u32, transposed: u32,
  block_rows: u32, block_cols: u32,
  blocks: u32,                 // ceil(length / block_cols)
  amax_stride: u32,            // words of a row of blocks
  first_id: u32,               // lib/index: where a cut dispatch begins
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;                   // FP32, or BF16 packed x2
@group(0) @binding(2) var<storage, read_write> amax: array<atomic<u32>>;       // [block rows, amax_stride], FP32 bits

override WG: u32 = 64u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  if (id >= params.rows * params.blocks) { return; }
  // Neighbouring invocations read neighbouring words of the source.
  let transposed = params.transposed == 1u;
  let r = select(id / params.blocks, id % params.rows, transposed);
  let b = select(id % params.blocks, id / params.rows, transposed);
  let first = b * params.block_cols;
  let end = min(first + params.block_cols, params.length);
  let step = select(1u, params.source_stride, transposed);
  var at = select(r * params.source_stride + first, first * params.source_stride + r, transposed);
  var largest = 0u;
  for (var l = first; l < end; l += 1u) {
    let magnitude = source_bits(at, params.source_bf16) & 0x7fffffffu;
    largest = max(largest, select(magnitude, 0u, magnitude > 0x7f800000u));
    at += step;
  }
  if (largest > 0u) { atomicMax(&amax[(r / params.block_rows) * params.amax_stride + b], largest); }
}
