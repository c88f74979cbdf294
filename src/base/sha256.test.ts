/** SHA-256 against Node's own implementation, at every length around the padding borders and on random bytes. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Hex } from './sha256';

const oracle = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('sha256Hex equals node:crypto for every length from 0 to 200', () => {
  for (let length = 0; length <= 200; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 131 + length) & 255);
    expect(sha256Hex(bytes)).toBe(oracle(bytes));
  }
});

test('sha256Hex equals node:crypto on random bytes, and on a view into a larger buffer', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(7), (bytes, skip) => {
    const view = bytes.subarray(Math.min(skip, bytes.length));
    expect(sha256Hex(view)).toBe(oracle(view));
  }));
});
