/**
 * Figures as the page saves them (ux.md 7.20): SVG drawn by this browser and by resvg looks the same and as the grid on the
 * screen, PNG has its size, PDF is read by pdf.js with every label as text, TikZ and LaTeX come as text. All without a GPU:
 * the address lacks `software=1`.
 */
import { readFileSync } from 'node:fs';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { numberOf, parseSvg } from '../src/ui/figures/parsed-svg-fixture';
import { colourAt, rasterOf, type Raster } from '../src/ui/figures/resvg-fixture';
import { cells, openPage, watchErrors } from './workbench-page';

const SCALE = 2;
/** Pixels in a unit of paper: a point is 96 / 72 CSS pixels. */
const ZOOM = (SCALE * 96) / 72;

const menu = (page: Page): Locator => page.getByRole('dialog', { name: 'Export' }).getByRole('region', { name: 'Figures' });

interface Saved {
  readonly fileName: string;
  readonly bytes: Buffer;
}

async function save(page: Page, figure: RegExp, file: string): Promise<Saved> {
  const download = page.waitForEvent('download');
  await menu(page).getByRole('listitem').filter({ has: page.getByRole('heading', { name: figure }) }).getByRole('button', { name: file, exact: true }).click();
  const done = await download;
  await expect(page.getByText(`Saved ${done.suggestedFilename()}`)).toBeVisible();
  return { fileName: done.suggestedFilename(), bytes: readFileSync(await done.path()) };
}

/** A picture's pixels as this browser draws it into `width` x `height`. */
async function drawnHere(page: Page, address: string, size?: { readonly width: number; readonly height: number }): Promise<Raster> {
  const { width, height, pixels } = await page.evaluate(async ({ address, size }) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [size?.width ?? image.naturalWidth, size?.height ?? image.naturalHeight];
    const context = canvas.getContext('2d');
    if (!context) throw new Error('drawnHere: expected a canvas, got none');
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let text = '';
    for (let i = 0; i < data.length; i += 32_768) text += String.fromCharCode(...data.subarray(i, i + 32_768));
    return { width: canvas.width, height: canvas.height, pixels: btoa(text) };
  }, { address, size });
  return { width, height, pixels: new Uint8Array(Buffer.from(pixels, 'base64')) };
}
const address = (bytes: Buffer, type: string): string => `data:${type};base64,${bytes.toString('base64')}`;

/** Mean over pixels and colours, 0..255. */
function meanDifference(a: Raster, b: Raster): number {
  expect([a.width, a.height]).toEqual([b.width, b.height]);
  let sum = 0;
  for (let i = 0; i < a.pixels.length; i++) sum += Math.abs((a.pixels[i] ?? 0) - (b.pixels[i] ?? 0));
  return sum / a.pixels.length;
}

/** Labels that leave the picture, in the font that this browser has. */
const textsOutside = (page: Page): Promise<(string | null)[]> => page.locator('svg').evaluate((root) => {
  const view = (root as unknown as SVGSVGElement).viewBox.baseVal;
  return [...root.querySelectorAll('text')].flatMap((text) => {
    const box = text.getBBox();
    return box.x < 0 || box.y < 0 || box.x + box.width > view.width || box.y + box.height > view.height ? [text.textContent] : [];
  });
});

/** The Export drawer, open, and another page to draw on. */
async function openMenu(page: Page): Promise<Page> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await menu(page).getByLabel('Width').selectOption('page');
  return page.context().newPage();
}

for (const [figure, name] of [[/^Bending/, 'heatmap'], [/^Frontier/, 'frontier'], [/^Local error/, 'scatter']] as const) {
  test(`${name}: SVG in two renderers, PNG, PDF`, async ({ page }) => {
    const errors = watchErrors(page);
    await openPage(page, '/');
    const other = await openMenu(page);
    const { fileName, bytes } = await save(page, figure, 'SVG');
    expect(fileName).toMatch(new RegExp(`^gpt2-mini-[a-z0-9-]+\\.${name}\\.page\\.svg$`));
    expect(bytes.length).toBeLessThan(200_000);
    const svg = bytes.toString('utf8');
    expect(parseSvg(svg).find((element) => element.name === 'metadata')?.text).toMatch(/"manifest":"sha256:[0-9a-f]{64}"/);

    const there = await rasterOf(svg, SCALE);
    const here = await drawnHere(other, address(bytes, 'image/svg+xml'), there);
    // Shapes differ by the smoothing of their edges only; letters besides by the font that each renderer has.
    const shapes = svg.replace(/<text[^>]*>[^<]*<\/text>/g, '');
    const [shapesHere, shapesThere] = [await drawnHere(other, address(Buffer.from(shapes), 'image/svg+xml'), there), await rasterOf(shapes, SCALE)];
    const [withText, withoutText] = [meanDifference(here, there), meanDifference(shapesHere, shapesThere)];
    test.info().annotations.push({ type: 'mean difference of 255', description: `${withText.toFixed(2)}, shapes alone ${withoutText.toFixed(2)}` });
    expect(withoutText).toBeLessThan(0.6);
    expect(withText).toBeLessThan(3);
    await other.setContent(svg);
    expect(await textsOutside(other)).toEqual([]);
    await other.goto('about:blank');

    const png = await save(page, figure, 'PNG');
    const picture = await drawnHere(other, address(png.bytes, 'image/png'));
    expect([picture.width, picture.height]).toEqual([1296, there.height]);
    expect(meanDifference(picture, here)).toBeLessThan(1);
    const fine = await save(page, figure, 'PNG 300 dpi');
    expect(fine.bytes.readUInt32BE(16)).toBe(2025);

    const pdf = await save(page, figure, 'PDF');
    const document = await getDocument({ data: new Uint8Array(pdf.bytes), verbosity: 0 }).promise;
    expect(document.numPages).toBe(1);
    const sheet = await document.getPage(1);
    expect(sheet.view[2]).toBeCloseTo(6.75 * 72, 3);
    const read = (await sheet.getTextContent()).items.map((item) => ('str' in item ? item.str : ''));
    for (const { name: kind, text } of parseSvg(svg)) if (kind === 'text') expect(read).toContain(text);
    expect(errors).toEqual([]);
  });
}

test('every cell has one colour on the screen and in both renderers', async ({ page }) => {
  await openPage(page, '/');
  await expect(cells(page)).toHaveCount(72);
  // Where a cell on the screen has nothing but its colour: right of its left edge, above its letter.
  const places = await cells(page).evaluateAll((all) => all.map((cell) => {
    const { left, top } = cell.getBoundingClientRect();
    return { x: left + 12, y: top + 3 };
  }));
  const screenshot = await page.screenshot({ animations: 'disabled' });
  const other = await openMenu(page);
  const screen = await drawnHere(other, address(screenshot, 'image/png'));
  const { bytes } = await save(page, /^Bending/, 'SVG');
  const there = await rasterOf(bytes.toString('utf8'), SCALE);
  const here = await drawnHere(other, address(bytes, 'image/svg+xml'), there);
  // After the background, cells are the first rectangles, in the order of the grid.
  const drawn = parseSvg(bytes.toString('utf8')).filter(({ name }) => name === 'rect').slice(1, 73);
  const fills = drawn.map((cell) => cell.attributes['fill']);
  expect(new Set(fills).size).toBeGreaterThan(30);
  const colours = drawn.map((cell, i) => {
    const [x, y] = [(numberOf(cell, 'x') + 0.75) * ZOOM, (numberOf(cell, 'y') + 0.75) * ZOOM];
    const place = places[i] ?? { x: NaN, y: NaN };
    return [colourAt(here, x, y), colourAt(there, x, y), colourAt(screen, place.x, place.y)];
  });
  expect(colours).toEqual(fills.map((fill) => [fill, fill, fill]));
});

test('other widths, colours and backgrounds; texts for LaTeX', async ({ page }) => {
  await openPage(page, '/');
  await openMenu(page);
  expect((await save(page, /^Frontier/, 'TikZ')).bytes.toString('utf8')).toMatch(/\\begin\{semilogyaxis\}/);
  expect((await save(page, /^Table of plans/, 'LaTeX')).bytes.toString('utf8')).toMatch(/\\toprule/);
  await menu(page).getByLabel('Width').selectOption('column');
  await menu(page).getByLabel('Colours').selectOption('grey');
  await menu(page).getByLabel('Background').selectOption('none');
  const { fileName, bytes } = await save(page, /^Bending/, 'SVG');
  expect(fileName).toContain('.heatmap.column.svg');
  const [root, ...rest] = parseSvg(bytes.toString('utf8'));
  expect(root?.own['width']).toBe('3.25in');
  expect(rest.filter(({ name }) => name === 'rect').every((rect) => numberOf(rect, 'width') < 234)).toBe(true);
});
