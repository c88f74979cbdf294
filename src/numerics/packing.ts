/**
 * Codes <-> u32 words: BF16 x2, 8-bit codes x4, E2M1 x8 a word, the lower index in the lower bits, so FP4 (1, -6) is
 * byte 0xF2. Every row starts at a word; padding codes are 0. Source: formats.md 1.6.
 */
import { assert } from '../base/errors';

/** Codes [rows, cols] of `bits` bits each -> words [rows, rowWords]. */
export function packRows(codes: ArrayLike<number>, rows: number, cols: number, bits: number, rowWords: number): Uint32Array {
  const perWord = 32 / bits;
  assert(codes.length === rows * cols && cols <= rowWords * perWord, `packRows: expected ${rows}x${cols} codes in rows of ${rowWords} words, got ${codes.length}`);
  const words = new Uint32Array(rows * rowWords);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const at = r * rowWords + Math.floor(c / perWord);
      words[at] = (words[at] ?? 0) | ((codes[r * cols + c] ?? 0) << (bits * (c % perWord)));
    }
  }
  return words;
}

/** Words [rows, rowWords] -> codes [rows, cols], one an entry; the inverse of packRows on the unpadded part. */
export function unpackRows(words: Uint32Array, rows: number, cols: number, bits: number, rowWords: number): Uint32Array {
  const perWord = 32 / bits;
  assert(words.length >= rows * rowWords && cols <= rowWords * perWord, `unpackRows: expected ${rows} rows of ${rowWords} words, got ${words.length} words`);
  const codes = new Uint32Array(rows * cols);
  const mask = bits === 32 ? 0xffffffff : 2 ** bits - 1;
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const word = words[r * rowWords + Math.floor(c / perWord)] ?? 0;
      codes[r * cols + c] = (word >>> (bits * (c % perWord))) & mask;
    }
  }
  return codes;
}
