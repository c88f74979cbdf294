/** The written-out SHA-256 against Node's own at every padding case, the published vectors, and canonical JSON. */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { canonicalJson, sha256, sha256Portable } from './sha256';

afterEach(() => vi.unstubAllGlobals());

describe('sha256', () => {
  it('equals an independent implementation at every length around the block edges', async () => {
    for (let length = 0; length < 200; length++) {
      const bytes = Uint8Array.from({ length: length + 3 }, (_, i) => (i * 151 + length) & 255).subarray(3);
      const expected = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      expect(sha256Portable(bytes)).toBe(expected);
      expect(await sha256(bytes)).toBe(expected);
    }
  });

  it('gives the FIPS 180-4 example, with and without WebCrypto', async () => {
    const abc = 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(await sha256('abc')).toBe(abc);
    vi.stubGlobal('crypto', undefined);
    expect(await sha256('abc')).toBe(abc);
  });
});

describe('canonicalJson', () => {
  it('does not depend on the order of keys and drops undefined', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'é' }], a: true, z: undefined })).toBe('{"a":true,"b":[1,{"c":"é","d":null}]}');
    expect(canonicalJson({ a: true, b: [1, { c: 'é', d: null }] })).toBe(canonicalJson({ b: [1, { d: null, c: 'é' }], a: true }));
  });

  it('refuses what JSON would silently turn into null', () => {
    expect(() => canonicalJson({ a: NaN })).toThrow('expected a finite number, got NaN');
  });
});
