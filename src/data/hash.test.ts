/** Hashes against node:crypto, with and without WebCrypto; token hashes must see every id and every border. */
import { createHash } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { hashTokens, sha256 } from './hash';

afterEach(() => vi.unstubAllGlobals());

test('sha256 equals node:crypto with WebCrypto and without it', async () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7) & 255);
  const expected = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  expect(await sha256(bytes)).toBe(expected);
  vi.stubGlobal('crypto', {});
  expect(await sha256(bytes)).toBe(expected);
});

test('hashTokens is the hash of the documented little-endian words', async () => {
  const words = new Uint8Array([2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
  expect(await hashTokens([[[261, 7]], []])).toBe(`sha256:${createHash('sha256').update(words).digest('hex')}`);
});

test('hashTokens differs for the same ids cut into other rows or batches', async () => {
  const cuts = [[[[1, 2, 3, 4]]], [[[1, 2], [3, 4]]], [[[1, 2]], [[3, 4]]], [[[1, 2, 3, 5]]]];
  const hashes = await Promise.all(cuts.map(hashTokens));
  expect(new Set(hashes).size).toBe(cuts.length);
  expect(await hashTokens([[Uint32Array.of(1, 2, 3, 4)]])).toBe(hashes[0]);
});
