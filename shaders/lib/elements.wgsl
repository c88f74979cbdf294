// Four elements at a time: BF16 packed x2 per word (lower index in the lower half) or FP32, one per word.
// Stores round with integers (nearest even) and turn FP32 subnormals into zeros of the same sign, so that devices that
// flush and devices that do not agree (engine.md 3.3, rules 1 and 5).

fn bf16x4_decode(w: vec2<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(w.x << 16u, w.x & 0xffff0000u, w.y << 16u, w.y & 0xffff0000u));
}

// FP32 -> BF16 bits in the upper half, nearest even. NaN -> 0x7fc0; Inf stays; overflow carries into Inf.
fn bf16_round(v: vec4<f32>) -> vec4<u32> {
  let b = bitcast<vec4<u32>>(v);
  let magnitude = b & vec4<u32>(0x7fffffffu);
  let kept = select(b, b & vec4<u32>(0x80000000u), magnitude < vec4<u32>(0x00800000u));
  let rounded = (kept + vec4<u32>(0x7fffu) + ((kept >> vec4<u32>(16u)) & vec4<u32>(1u))) & vec4<u32>(0xffff0000u);
  return select(rounded, vec4<u32>(0x7fc00000u), magnitude > vec4<u32>(0x7f800000u));
}

fn bf16x4_encode(v: vec4<f32>) -> vec2<u32> {
  let r = bf16_round(v);
  return vec2<u32>((r.x >> 16u) | r.y, (r.z >> 16u) | r.w);
}

fn f32x4_encode(v: vec4<f32>) -> vec4<u32> {
  let b = bitcast<vec4<u32>>(v);
  let zero = (b & vec4<u32>(0x7f800000u)) == vec4<u32>(0u);
  return select(b, b & vec4<u32>(0x80000000u), zero);
}
