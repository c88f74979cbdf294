// What kernels of partial sums share: four lanes to one number, always in the order (x + y) + (z + w), and which lanes are
// Inf or NaN, by an integer test because compilers may assume a float comparison away (engine.md 3.3).
fn across(v: vec4<f32>) -> f32 { return (v.x + v.y) + (v.z + v.w); }
fn across_counts(v: vec4<u32>) -> f32 { return f32((v.x + v.y) + (v.z + v.w)); }

// 1 where a lane is Inf or NaN, else 0.
fn not_finite(v: vec4<f32>) -> vec4<u32> {
  return select(vec4<u32>(0u), vec4<u32>(1u), (bitcast<vec4<u32>>(v) & vec4<u32>(0x7f800000u)) == vec4<u32>(0x7f800000u));
}
