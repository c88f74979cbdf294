// Partial sums of g against r over chunks of 1,024 elements: g.g, r.r, |g-r|^2, (g-r).r, and the count of elements of g
// that are Inf or NaN (integer test). |g-r|^2 is taken directly: at small shifts the other form cancels (engine.md 6.2).
// One chunk an invocation; the host adds the chunks in FP64.
// @import lib/index
// @import lib/reduce

struct Params { quads: u32, first: u32, first_id: u32 }   // quads of the tensor; first chunk's place in `sums`

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> g: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> r: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;      // [chunks, 8]: gg, rr, dd, dr, count bits, 0, 0, 0

override WG: u32 = 64u;
const CHUNK_QUADS = 256u;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let id = params.first_id + linear_id(group, groups, local, WG);
  let chunks = (params.quads + CHUNK_QUADS - 1u) / CHUNK_QUADS;
  if (id >= chunks) { return; }
  var gg = vec4<f32>(0.0);
  var rr = vec4<f32>(0.0);
  var dd = vec4<f32>(0.0);
  var dr = vec4<f32>(0.0);
  var bad = vec4<u32>(0u);
  for (var q = id * CHUNK_QUADS; q < min(params.quads, (id + 1u) * CHUNK_QUADS); q += 1u) {
    let a = g[q];
    let b = r[q];
    let d = a - b;
    gg = gg + a * a;
    rr = rr + b * b;
    dd = dd + d * d;
    dr = dr + d * b;
    bad = bad + not_finite(a);
  }
  let at = 8u * (params.first + id);
  sums[at] = across(gg);
  sums[at + 1u] = across(rr);
  sums[at + 2u] = across(dd);
  sums[at + 3u] = across(dr);
  sums[at + 4u] = across_counts(bad);
}
