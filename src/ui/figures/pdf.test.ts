/**
 * The PDF read back by another library (pdf.js): one page of exactly the figure's size, every label there as text at its own
 * place, the font inside, hashes in its metadata, the same bytes twice; and the ranges of pdf-fonts.ts against the fonts.
 */
import { readFileSync } from 'node:fs';
import { create, type Font } from 'fontkit';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it, test } from 'vitest';
import { SHEETS } from './drawing';
import { figureOf, type Figure } from './figure-of';
import { HOSTILE_NAME, inputsOf } from './figure-fixture';
import type { FigureKind, FigureWidth } from './figure-types';
import { pdfOf } from './pdf';
import { FONT_PARTS, type LoadFont } from './pdf-fonts';

const path = (name: string, bold: boolean): string => `node_modules/@fontsource/arimo/files/arimo-${name}-${bold ? 700 : 400}-normal.woff`;
const loaded: string[] = [];
const load: LoadFont = ({ name }, bold) => {
  loaded.push(name);
  return Promise.resolve(new Uint8Array(readFileSync(path(name, bold))));
};
const inputs = inputsOf({ everyState: true });
const draw = (kind: FigureKind, width: FigureWidth, from = inputs): Figure => {
  const make = <K extends FigureKind>(of: K): Figure => figureOf(of, from[of], { width, colourMap: 'cividis', background: 'white' });
  return make(kind);
};
const open = (bytes: Uint8Array) => getDocument({ data: bytes.slice(), verbosity: 0 }).promise;

describe.each((['heatmap', 'frontier', 'scatter'] as const).flatMap((kind) => (Object.keys(SHEETS) as FigureWidth[]).map((width) => ({ kind, width }))))('$kind, $width', ({ kind, width }) => {
  const figure = draw(kind, width);

  it('is one page of the right size with every label as text at its place', async () => {
    const { bytes, missing } = await pdfOf(figure, load);
    expect(missing).toEqual([]);
    const document = await open(bytes);
    expect(document.numPages).toBe(1);
    const page = await document.getPage(1);
    const { unit } = figure.drawing;
    const [left, bottom, right, top] = page.view;
    expect([left, bottom]).toEqual([0, 0]);
    expect(right).toBeCloseTo(figure.drawing.width * unit, 3);
    expect(top).toBeCloseTo(figure.drawing.height * unit, 2);
    const items = (await page.getTextContent()).items.flatMap((item) => ('str' in item && item.str.trim() !== '' ? [item] : []));
    const texts = figure.drawing.shapes.flatMap((shape) => (shape.kind === 'text' ? [shape] : []));
    expect(texts.length).toBeGreaterThan(15);
    for (const text of texts) {
      const found = items.some(({ str, transform, width: length }) => {
        const [, , , , x = NaN, y = NaN] = transform as number[];
        const at = x / unit + (text.anchor === 'start' ? 0 : text.anchor === 'middle' ? length / unit / 2 : length / unit);
        return str === text.text && Math.abs(at - text.x) < 0.3 && Math.abs(((top ?? NaN) - y) / unit - text.y) < 0.1;
      });
      expect(found, text.text).toBe(true);
    }
    await document.destroy();
  });
});

test('the font is inside, and so are title and hashes', async () => {
  const figure = draw('heatmap', 'column');
  const { bytes } = await pdfOf(figure, load);
  const raw = Buffer.from(bytes).toString('latin1');
  expect(raw).toContain('/FontFile2');
  expect(raw.match(/\/BaseFont \/[A-Z]{6}\+Arimo/g)?.length).toBeGreaterThan(0);
  const { info } = await (await open(bytes)).getMetadata();
  expect(info).toMatchObject({ Title: figure.words.title });
  expect(JSON.stringify(info)).toContain(inputs.heatmap.source.planHash);
  expect(JSON.stringify(info)).toContain(inputs.heatmap.source.manifest);
  expect(bytes.length).toBeLessThan(200_000);
});

test('the same figure gives the same bytes', async () => {
  const [a, b] = await Promise.all([pdfOf(draw('frontier', 'page'), load), pdfOf(draw('frontier', 'page'), load)]);
  expect(Buffer.from(a.bytes).equals(Buffer.from(b.bytes))).toBe(true);
});

test('a hostile name keeps what its font has, and the rest is said', async () => {
  loaded.length = 0;
  const hostile = inputsOf({ name: 'θ–Ж ě 漢 🚀' });
  const figure = draw('frontier', 'page', hostile);
  const { bytes, missing } = await pdfOf(figure, load);
  expect(missing).toEqual(['漢', '🚀']);
  expect(new Set(loaded)).toEqual(new Set(['latin', 'latin-ext', 'greek', 'cyrillic']));
  const items = (await (await (await open(bytes)).getPage(1)).getTextContent()).items.map((item) => ('str' in item ? item.str : '')).join('');
  for (const letter of ['θ', 'Ж', 'ě', '\ufffd']) expect(items).toContain(letter);
  const ascii = await pdfOf(draw('frontier', 'page', inputsOf({ name: HOSTILE_NAME })), load);
  expect((await open(ascii.bytes)).numPages).toBe(1);
});

test('every character that a part claims has a glyph in both its weights', () => {
  for (const { name, ranges } of FONT_PARTS) {
    for (const bold of [false, true]) {
      const font = create(readFileSync(path(name, bold))) as Font;
      for (const [first, last] of ranges) for (let code = first; code <= last; code++) expect(font.hasGlyphForCodePoint(code), `${name} ${code.toString(16)}`).toBe(true);
    }
  }
});
