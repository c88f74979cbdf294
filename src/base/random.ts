/**
 * Philox4x32-10: random numbers addressed by (counter, key), so a draw depends on what it is for and on nothing else:
 * no hidden state, the same bits on CPU and GPU, in any order.
 * Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), and the Random123 library.
 */
export type Words2 = readonly [number, number];
export type Words4 = readonly [number, number, number, number];

const M0 = 0xd2511f53;
const M1 = 0xcd9e8d57;
const W0 = 0x9e3779b9;
const W1 = 0xbb67ae85;
const ROUNDS = 10;

/** High 32 bits of the 64-bit product of two u32, from 16-bit halves: no intermediate exceeds 2^32. */
function mulHigh(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const middle = a1 * b0 + Math.floor((a0 * b0) / 0x10000);
  const middle2 = a0 * b1 + (middle % 0x10000);
  return (a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(middle2 / 0x10000)) >>> 0;
}

/** Four counter words and two key words (u32) -> four output words (u32). */
export function philox4x32(counter: Words4, key: Words2): Words4 {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round += 1) {
    const high0 = mulHigh(M0, c0);
    const high1 = mulHigh(M1, c2);
    const low0 = Math.imul(M0, c0) >>> 0;
    const low1 = Math.imul(M1, c2) >>> 0;
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    k0 = (k0 + W0) >>> 0;
    k1 = (k1 + W1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** A whole number in 0 .. bound-1 from one u32 word; its bias is at most bound / 2^32. */
export function below(bound: number, word: number): number {
  return Math.floor((word / 0x100000000) * bound);
}
