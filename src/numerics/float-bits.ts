/**
 * FP32 numbers and their bit patterns. Every codec here works on the bits with integer arithmetic, as the WGSL does,
 * because that is exact everywhere (engine.md 3.3); u32 values are JavaScript numbers in 0 .. 2^32 - 1.
 */
const scratch = new DataView(new ArrayBuffer(4));

export const F32_MAX = 3.4028234663852886e38;
export const F32_INF_BITS = 0x7f800000;
export const F32_NAN_BITS = 0x7fc00000;

/** Bits of x rounded to FP32; every NaN is 0x7FC00000. */
export function bitsOf(x: number): number {
  if (Number.isNaN(x)) return F32_NAN_BITS;
  scratch.setFloat32(0, x);
  return scratch.getUint32(0);
}

/** The FP32 value of a bit pattern. */
export function fromBits(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}

/** A view of the bits of an FP32 array; no copy. */
export function bitsView(x: Float32Array): Uint32Array {
  return new Uint32Array(x.buffer, x.byteOffset, x.length);
}

/** Elements that are NaN or +-Inf, counted on the exponent field. */
export function countNonFinite(x: Float32Array): number {
  let count = 0;
  for (const bits of bitsView(x)) if ((bits & F32_INF_BITS) === F32_INF_BITS) count += 1;
  return count;
}
