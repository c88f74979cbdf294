// One element of the kernel's own `source` binding as FP32 bits: FP32, or BF16 packed x2.
fn source_bits(at: u32, bf16: u32) -> u32 {
  if (bf16 == 1u) { return (source[at >> 1u] >> (16u * (at & 1u))) << 16u; }
  return source[at];
}
