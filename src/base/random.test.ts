/** Philox against the known answers of Random123 (`kat_vectors`, rows "philox4x32 10") and a BigInt restatement. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { below, philox4x32, type Words2, type Words4 } from './random';

const KNOWN: readonly (readonly [Words4, Words2, Words4])[] = [
  [[0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
  [[0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]],
  [[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]],
];

test.each(KNOWN)('philox4x32 meets the Random123 vector of counter %j', (counter, key, output) => {
  expect(philox4x32(counter, key)).toEqual(output);
});

test('philox4x32 equals the algorithm written with 64-bit integers', () => {
  const mask = 0xffffffffn;
  const wide = (counter: Words4, key: Words2): number[] => {
    let [a, b, c, d] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
    let [k, l] = key.map(BigInt) as [bigint, bigint];
    for (let round = 0; round < 10; round += 1) {
      const p = 0xd2511f53n * a;
      const q = 0xcd9e8d57n * c;
      [a, b, c, d] = [(q >> 32n) ^ b ^ k, q & mask, (p >> 32n) ^ d ^ l, p & mask];
      k = (k + 0x9e3779b9n) & mask;
      l = (l + 0xbb67ae85n) & mask;
    }
    return [a, b, c, d].map(Number);
  };
  const u32 = fc.integer({ min: 0, max: 0xffffffff });
  fc.assert(fc.property(fc.tuple(u32, u32, u32, u32), fc.tuple(u32, u32), (counter, key) => {
    expect(philox4x32(counter, key)).toEqual(wide(counter, key));
  }));
});

test('below stays inside its bound at both ends', () => {
  expect(below(7, 0)).toBe(0);
  expect(below(7, 0xffffffff)).toBe(6);
  expect(below(1, 0xffffffff)).toBe(0);
});
