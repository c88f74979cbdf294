/**
 * The element types a safetensors file may name, their sizes, and the floating-point ones decoded to FP32.
 * Source: the `Dtype` enumeration of the safetensors library, types of whole bytes.
 */
export const DTYPE_BYTES = {
  F64: 8, I64: 8, U64: 8, C64: 8,
  F32: 4, I32: 4, U32: 4,
  F16: 2, BF16: 2, I16: 2, U16: 2,
  F8_E4M3: 1, F8_E5M2: 1, F8_E8M0: 1, I8: 1, U8: 1, BOOL: 1,
} as const;
export type Dtype = keyof typeof DTYPE_BYTES;

export function isDtype(value: unknown): value is Dtype {
  return typeof value === 'string' && Object.hasOwn(DTYPE_BYTES, value);
}

/** The value of every half-precision pattern; every product below is exact. */
const FROM_F16 = Float32Array.from({ length: 65536 }, (_, half) => {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const mantissa = half & 1023;
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * mantissa * 2 ** -24 : sign * (1024 + mantissa) * 2 ** (exponent - 25);
});

/** Little-endian bytes of whole elements -> FP32, exact for F32, F16, BF16; F64 rounds to nearest even; other types: null. */
export function decodeFloats(dtype: Dtype, bytes: Uint8Array<ArrayBuffer>): Float32Array<ArrayBuffer> | null {
  const { buffer, byteOffset, byteLength } = bytes;
  switch (dtype) {
    case 'F32':
      return new Float32Array(buffer, byteOffset, byteLength / 4);
    case 'F64':
      return new Float32Array(new Float64Array(buffer, byteOffset, byteLength / 8));
    case 'BF16': {
      // Plain loops: `from` with a function took 140 ms instead of 3 ms on gpt2-mini.
      const brain = new Uint16Array(buffer, byteOffset, byteLength / 2);
      const bits = new Uint32Array(brain.length);
      for (let i = 0; i < bits.length; i += 1) bits[i] = (brain[i] ?? 0) << 16;
      return new Float32Array(bits.buffer);
    }
    case 'F16': {
      const half = new Uint16Array(buffer, byteOffset, byteLength / 2);
      const values = new Float32Array(half.length);
      for (let i = 0; i < values.length; i += 1) values[i] = FROM_F16[half[i] ?? 0] ?? 0;
      return values;
    }
    default:
      return null;
  }
}
