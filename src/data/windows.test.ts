/** Windows: in the training part, addressed by (seed, batch, row), spread evenly; token files and ids refused by name. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkTokens, parseTokenFile } from './token-batches';
import { drawWindows, trainingLength } from './windows';

const counting = (n: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => i);
const named = (name: string): Error => expect.objectContaining({ name }) as Error;

test('every window is a run of T+1 ids of the first 90 %', () => {
  const spec = fc.record({ batches: fc.integer({ min: 1, max: 4 }), sequences: fc.integer({ min: 1, max: 4 }), tokens: fc.integer({ min: 1, max: 20 }), seed: fc.nat() });
  fc.assert(
    fc.property(spec, fc.nat(100), (s, extra) => {
      const enough = Math.ceil((s.batches * s.sequences * (s.tokens + 1)) / 0.9) + extra;
      const batches = drawWindows(counting(enough), s);
      expect(batches.length).toBe(s.batches);
      for (const row of batches.flat()) {
        expect(row.length).toBe(s.tokens + 1);
        row.forEach((id, i) => expect(id).toBe((row[0] ?? NaN) + i));
        expect(row.at(-1)).toBeLessThan(trainingLength(enough));
      }
      expect(batches.every((rows) => rows.length === s.sequences)).toBe(true);
    }),
  );
});

test('the same seed gives the same windows, another seed others, and more batches leave the first ones alone', () => {
  const ids = counting(100_000);
  const spec = { batches: 4, sequences: 4, tokens: 64, seed: 7 };
  const windows = drawWindows(ids, spec);
  expect(drawWindows(ids, spec)).toEqual(windows);
  expect(drawWindows(ids, { ...spec, batches: 8 }).slice(0, 4)).toEqual(windows);
  const other = drawWindows(ids, { ...spec, seed: 8 }).flat();
  expect(windows.flat().filter((row, i) => row[0] === other[i]?.[0]).length).toBe(0);
});

test('starts are uniform: 4,000 of them over 10 equal parts, chi-squared below its 99.99 % point', () => {
  const ids = counting(1_000_000);
  const counts = new Array<number>(10).fill(0);
  for (const row of drawWindows(ids, { batches: 40, sequences: 100, tokens: 1, seed: 1 }).flat()) {
    const part = Math.floor(((row[0] ?? 0) / trainingLength(ids.length)) * 10);
    counts[part] = (counts[part] ?? 0) + 1;
  }
  expect(counts.reduce((sum, n) => sum + (n - 400) ** 2 / 400, 0)).toBeLessThan(33.7);
});

test('too few tokens: E-DATA-01 with the number that is needed, and that number is enough', () => {
  const spec = { batches: 4, sequences: 4, tokens: 128, seed: 0 };
  expect(() => drawWindows(counting(2000), spec)).toThrow('Only 2000 tokens: at least 2294 are needed for 16 windows.');
  expect(() => drawWindows(counting(0), spec)).toThrow(named('E-DATA-01'));
  expect(drawWindows(counting(2294), spec).length).toBe(4);
  expect(() => drawWindows(counting(2293), spec)).toThrow(named('E-DATA-01'));
  expect(() => drawWindows(counting(2294), { ...spec, batches: 0 })).toThrow(named('E-DATA-04'));
});

test('token files: one batch, several, and the goldens', () => {
  expect(parseTokenFile('{"tokens": [[1, 2, 3], [4, 5, 6]]}')).toEqual([[[1, 2, 3], [4, 5, 6]]]);
  expect(parseTokenFile('{"batches": [[[1, 2]], [[3, 4]]]}')).toEqual([[[1, 2]], [[3, 4]]]);
  const golden = parseTokenFile(readFileSync(new URL('../../e2e/golden/mini/tokens.json', import.meta.url), 'utf8'));
  expect([golden.length, golden[0]?.length, golden[0]?.[0]?.length]).toEqual([4, 4, 129]);
  checkTokens(golden, { vocabulary: 1024, maxTokens: 128 });
});

test.each([
  ['{"tokens": ', /JSON/], ['[]', /neither/], ['null', /neither/], ['{"tokens": [[1,2]], "batches": []}', /both/], ['{"batches": []}', /at least one batch/],
  ['{"tokens": []}', /rows of ids/], ['{"tokens": [[1]]}', /at least 2 ids/], ['{"tokens": [[1,2],[1,2,3]]}', /expected 2 ids as in row 0, got 3/], ['{"tokens": [[1,"2"]]}', /numbers, got "2"/],
])('token file %s is refused by name', (json, message) => {
  expect(() => parseTokenFile(json)).toThrow(named('E-DATA-03'));
  expect(() => parseTokenFile(json)).toThrow(message);
});

test.each([1024, -1, 0.5, NaN])('token id %s is outside the vocabulary: E-DATA-02', (id) => {
  const model = { vocabulary: 1024, maxTokens: 64 };
  expect(() => checkTokens([[[0, 1023, id]]], model)).toThrow(`Token ${id} is outside the vocabulary of 1024.`);
  expect(() => checkTokens([[[0, 1023, id]]], model)).toThrow(named('E-DATA-02'));
});

test('rows longer than the position table: E-DATA-04', () => {
  const row = (n: number): number[] => new Array<number>(n).fill(0);
  expect(() => checkTokens([[row(66)]], { vocabulary: 2, maxTokens: 64 })).toThrow(named('E-DATA-04'));
  checkTokens([[row(65)]], { vocabulary: 2, maxTokens: 64 });
});
