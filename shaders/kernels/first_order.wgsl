// Partial sums of what an error d = q - r of a tensor changes the loss by, to first order, over chunks of 1,024 elements:
// clamp(g d, +-1e10)^2 and |g|^2, g the BF16 gradient that arrives at the tensor, in the places that gradient_compare and
// out_error leave free; and the count of elements of q and g that are Inf or NaN (integer test). Its only float compare,
// the clamp, is never trusted with those: what has one has no score (formats.md 7).
// @import lib/elements
// @import lib/index
// @import lib/reduce

struct Params { quads: u32, first: u32, first_id: u32 }   // quads of the tensor; first chunk's place in `sums`

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> q: array<u32>;               // BF16 or FP32
@group(0) @binding(2) var<storage, read> r: array<u32>;               // BF16 or FP32
@group(0) @binding(3) var<storage, read> g: array<vec2<u32>>;         // BF16
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;      // [chunks, 8]: ..., 5: gd, 6: gg, 7: count

override WG: u32 = 64u;
override BF16: u32 = 1u;
const CHUNK_QUADS = 256u;
const LIMIT = 1e10;

fn load_q(i: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(q[2u * i], q[2u * i + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(q[4u * i], q[4u * i + 1u], q[4u * i + 2u], q[4u * i + 3u]));
}
fn load_r(i: u32) -> vec4<f32> {
  if (BF16 == 1u) { return bf16x4_decode(vec2<u32>(r[2u * i], r[2u * i + 1u])); }
  return bitcast<vec4<f32>>(vec4<u32>(r[4u * i], r[4u * i + 1u], r[4u * i + 2u], r[4u * i + 3u]));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  let chunks = (params.quads + CHUNK_QUADS - 1u) / CHUNK_QUADS;
  if (id >= chunks) { return; }
  var gd = vec4<f32>(0.0);
  var gg = vec4<f32>(0.0);
  var bad = vec4<u32>(0u);
  for (var i = id * CHUNK_QUADS; i < min(params.quads, (id + 1u) * CHUNK_QUADS); i += 1u) {
    let low = load_q(i);
    let arriving = bf16x4_decode(g[i]);
    let change = clamp(arriving * (low - load_r(i)), vec4<f32>(-LIMIT), vec4<f32>(LIMIT));
    gd = gd + change * change;
    gg = gg + arriving * arriving;
    bad = bad + not_finite(low) + not_finite(arriving);
  }
  let at = 8u * (params.first + id);
  sums[at + 5u] = across(gd);
  sums[at + 6u] = across(gg);
  sums[at + 7u] = across_counts(bad);
}
