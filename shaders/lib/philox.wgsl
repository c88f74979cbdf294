// Philox4x32-10: four random words addressed by counter and key. Source: Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3" (SC 2011); the counterpart of src/base/random.ts.

// High 32 bits of the 64-bit product of two u32, from 16-bit halves: no intermediate exceeds 2^32.
fn mul_high(a: u32, b: u32) -> u32 {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let middle = a1 * b0 + ((a0 * b0) >> 16u);
  let middle2 = a0 * b1 + (middle & 0xffffu);
  return a1 * b1 + (middle >> 16u) + (middle2 >> 16u);
}

fn philox4x32(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var k = key;
  for (var round = 0u; round < 10u; round += 1u) {
    let high0 = mul_high(0xd2511f53u, c.x);
    let high1 = mul_high(0xcd9e8d57u, c.z);
    c = vec4<u32>(high1 ^ c.y ^ k.x, 0xcd9e8d57u * c.z, high0 ^ c.w ^ k.y, 0xd2511f53u * c.x);
    k += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}
