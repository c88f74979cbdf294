/**
 * SHA-256 and canonical JSON: what every hash of a model, a token list or a plan is made of (`sha256:<hex>`).
 * WebCrypto where there is one. A page served over plain http has none, and it must still open, edit and export plans,
 * so the same function is written out below (FIPS 180-4).
 */
import { BendscopeError } from './errors';

/** `sha256:<64 hex digits>` of the bytes, or of the UTF-8 of a text. */
export async function sha256(data: string | Uint8Array): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return sha256Portable(bytes);
  return name(new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
}

/** The same without WebCrypto: about 100 MB/s, meant for plans and configs rather than for weights. */
export function sha256Portable(bytes: Uint8Array): string {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const tail = new Uint8Array(128);
  const whole = Math.floor(bytes.length / 64);
  tail.set(bytes.subarray(whole * 64));
  tail[bytes.length - whole * 64] = 0x80;
  const tailView = new DataView(tail.buffer);
  const tailBytes = (blocks - whole) * 64;
  tailView.setUint32(tailBytes - 8, Math.floor(bytes.length / 2 ** 29));
  tailView.setUint32(tailBytes - 4, (bytes.length * 8) >>> 0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const state = Uint32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);
  const schedule = new Uint32Array(64);
  for (let block = 0; block < blocks; block++) {
    const source = block < whole ? view : tailView;
    const offset = (block < whole ? block : block - whole) * 64;
    for (let i = 0; i < 16; i++) schedule[i] = source.getUint32(offset + 4 * i);
    compress(state, schedule);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return name(new Uint8Array(digest.buffer));
}

/**
 * JSON with sorted keys and no white space, so that equal values give equal text. Keys whose value is undefined are left out.
 * Throws E-BUG-03 for a number that JSON cannot hold.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new BendscopeError('E-BUG-03', `canonicalJson: expected a finite number, got ${value}`);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

function name(digest: Uint8Array): string {
  return `sha256:${[...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Round constants: the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2), derived exactly. */
const ROUND = roundConstants();

function roundConstants(): Uint32Array {
  const constants: number[] = [];
  for (let n = 2; constants.length < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) prime &&= n % d !== 0;
    if (!prime) continue;
    // floor(cbrt(n) * 2^32), by bisection on integers: cbrt(n * 2^96).
    const cube = BigInt(n) << 96n;
    let low = 0n;
    let high = 1n << 36n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle * middle * middle <= cube) low = middle;
      else high = middle;
    }
    constants.push(Number(low & 0xffffffffn));
  }
  return Uint32Array.from(constants);
}

function compress(state: Uint32Array, w: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const s0 = rotate(w[i - 15]!, 7) ^ rotate(w[i - 15]!, 18) ^ (w[i - 15]! >>> 3);
    const s1 = rotate(w[i - 2]!, 17) ^ rotate(w[i - 2]!, 19) ^ (w[i - 2]! >>> 10);
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const t1 = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i]! + w[i]!) | 0;
    const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = (state[i]! + word) | 0));
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
