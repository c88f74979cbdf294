/** Ids against the Python tokenizers library (golden), round trips as a property, broken files by name. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTokenizer } from './tokenizer';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const tokenizer = parseTokenizer(read('public/models/gpt2-mini/tokenizer.json'));
const GOLDEN = JSON.parse(read('e2e/golden/training/tokens.json')) as { text: string; ids: number[] }[];

test('the golden holds texts of every kind', () => expect(GOLDEN.length).toBe(18));

test.each(GOLDEN)('ids of $text equal those of the Python library', ({ text, ids }) => {
  expect([...tokenizer.encode(text)]).toEqual(ids);
  expect(tokenizer.decode(ids)).toBe(text);
});

test('decode undoes encode on any well-formed text', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 60 }), fc.stringMatching(/^[ \t\r\na-z'.]{0,60}$/));
  fc.assert(fc.property(text.filter((s) => !s.includes('<|endoftext|>')), (s) => {
    expect(tokenizer.decode(tokenizer.encode(s))).toBe(s);
  }), { numRuns: 500 });
});

test('both built-in models share one tokenizer', () => {
  expect(read('public/models/gpt2-nano/tokenizer.json')).toBe(read('public/models/gpt2-mini/tokenizer.json'));
});

test.each([
  ['not JSON', '{"model":', 'E-FILE-07'],
  ['tokenizer_config.json', '{"model_max_length": 1024}', 'E-FILE-07'],
  ['null', 'null', 'E-FILE-07'],
  ['an unknown model kind', '{"model": {"type": "Riddle", "vocab": {}}, "added_tokens": []}', 'E-FILE-08'],
])('%s is refused by name', (_, json, code) => {
  expect(() => parseTokenizer(json)).toThrow(expect.objectContaining({ name: code }) as Error);
});
