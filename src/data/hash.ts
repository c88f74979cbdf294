/**
 * SHA-256 names of what a measurement depends on: model bytes, config text, token ids. Written `sha256:<hex>`.
 */
import { sha256Hex } from '../base/sha256';

/** Bytes -> `sha256:<hex>`, by WebCrypto where the context has it (browser over https or localhost, Node 20). */
export async function sha256(bytes: Uint8Array): Promise<string> {
  // In a page that is not a secure context `crypto.subtle` is undefined, whatever its type says.
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return `sha256:${sha256Hex(bytes)}`;
  const plain = bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
  const digest = new Uint8Array(await subtle.digest('SHA-256', plain));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * Batches of rows of token ids -> `sha256:<hex>` of their canonical bytes, little-endian u32: the number of batches; for
 * each batch its number of rows; for each row its length, then its ids.
 */
export function hashTokens(batches: readonly (readonly ArrayLike<number>[])[]): Promise<string> {
  const words: number[] = [batches.length];
  for (const rows of batches) {
    words.push(rows.length);
    for (const row of rows) {
      words.push(row.length);
      for (let i = 0; i < row.length; i += 1) words.push(row[i] ?? 0);
    }
  }
  const bytes = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, i) => bytes.setUint32(4 * i, word, true));
  return sha256(new Uint8Array(bytes.buffer));
}

/**
 * Identity of a model: its weights and the numbers of its configuration that the arithmetic depends on (heads and epsilon
 * are not in the weights). `weights` is the sha256 of model.safetensors.
 */
export function modelHash(weights: string, config: Readonly<Record<string, string | number | boolean>>): string {
  const numbers = Object.entries(config).filter(([name]) => name !== 'model');
  const text = JSON.stringify([weights, numbers.sort(([a], [b]) => (a < b ? -1 : 1))]);
  return `sha256:${sha256Hex(new TextEncoder().encode(text))}`;
}
