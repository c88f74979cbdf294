/**
 * SHA-256 in plain TypeScript (FIPS 180-4), for pages that are not a secure context: there WebCrypto is missing, but
 * plans still open and export. Where WebCrypto exists, src/data/hash.ts uses that.
 */
const K = new Uint32Array(64);
const INITIAL = new Uint32Array(8);

// The constants are the first 32 bits of the fractional parts of cube (K) and square (INITIAL) roots of the first primes.
for (let prime = 2, found = 0; found < 64; prime += 1) {
  let divisor = 2;
  while (divisor * divisor <= prime && prime % divisor !== 0) divisor += 1;
  if (divisor * divisor <= prime) continue;
  if (found < 8) INITIAL[found] = fraction(Math.sqrt(prime));
  K[found] = fraction(Math.cbrt(prime));
  found += 1;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 0x100000000);
}

function rotate(x: number, by: number): number {
  return (x >>> by) | (x << (32 - by));
}

/** Bytes -> 64 lower-case hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  const tail = bytes.length % 64;
  const padded = new Uint8Array(bytes.length - tail + (tail < 56 ? 64 : 128));
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, (bytes.length * 8) >>> 0);
  const hash = INITIAL.slice();
  const w = new Uint32Array(64);
  const at = (array: Uint32Array, i: number): number => array[i] ?? 0;
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i += 1) w[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const x = at(w, i - 15);
      const y = at(w, i - 2);
      w[i] = at(w, i - 16) + (rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)) + at(w, i - 7) + (rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10));
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
    for (let i = 0; i < 64; i += 1) {
      const t1 = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + at(K, i) + at(w, i)) | 0;
      const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] = at(hash, i) + word));
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, '0')).join('');
}
