/** Texts that are seeds, and texts that are none. */
import { expect, it } from 'vitest';
import { seedOf } from './seed-text';

it.each([['0', 0], [' 7 ', 7], ['4294967295', 0xffffffff]])('%j is a seed', (text, seed) => expect(seedOf(text)).toBe(seed));
it.each(['', ' ', '-1', '1.5', '4294967296', 'abc', '1e3', '0x10'])('%j is none', (text) => expect(seedOf(text)).toBeNull());
