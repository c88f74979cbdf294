/** Equal values give equal text whatever the order of their keys, and the hash is that of the UTF-8 text. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { canonicalJson, hashOf } from './canonical-json';

test('canonical JSON does not depend on the order of keys and drops undefined', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'é' }], a: true, z: undefined })).toBe('{"a":true,"b":[1,{"c":"é","d":null}]}');
  expect(canonicalJson({ a: true, b: [1, { c: 'é', d: null }] })).toBe(canonicalJson({ b: [1, { d: null, c: 'é' }], a: true }));
});

test('canonical JSON refuses what JSON would silently turn into null', () => {
  expect(() => canonicalJson({ a: NaN })).toThrow('expected a finite number, got NaN');
});

test('hashOf is SHA-256 of the UTF-8 text', () => {
  expect(hashOf({ b: 'é', a: 1 })).toBe(`sha256:${createHash('sha256').update('{"a":1,"b":"é"}').digest('hex')}`);
});
