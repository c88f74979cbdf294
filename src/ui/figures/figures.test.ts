/**
 * The rules of a figure that survives a paper (ux.md 4.3) on every kind, width, map and size of grid, through a strict XML
 * parser: only presentation attributes, real text of a generic family at 7 to 9 units, nothing transparent or outside, under
 * 200 KB, hashes inside, whatever a plan is called.
 */
import { describe, expect, it, test } from 'vitest';
import { COLOUR_MAP_NAMES } from '../charts/scales';
import { SHEETS } from './drawing';
import { figureOf, fileOf, type Figure } from './figure-of';
import { HOSTILE_NAME, inputsOf, type PageOptions } from './figure-fixture';
import type { FigureInputs, FigureKind, FigureOptions, FigureWidth } from './figure-types';
import { numberOf, parseSvg, pathPoints, type ParsedElement } from './parsed-svg-fixture';
import { textWidth } from './text-width';

const KINDS: readonly FigureKind[] = ['heatmap', 'frontier', 'scatter'];
const WIDTHS = Object.keys(SHEETS) as FigureWidth[];
const ELEMENTS = ['svg', 'title', 'desc', 'metadata', 'g', 'rect', 'circle', 'path', 'text'];
const LOOKS = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size', 'font-weight', 'text-anchor'];
const PLACES: Readonly<Record<string, readonly string[]>> = {
  svg: ['xmlns', 'width', 'height', 'viewBox'], rect: ['x', 'y', 'width', 'height'], circle: ['cx', 'cy', 'r'], path: ['d'], text: ['x', 'y'], g: [], title: [], desc: [], metadata: [],
};

function draw(kind: FigureKind, inputs: FigureInputs, options: Partial<FigureOptions> = {}): Figure {
  const make = <K extends FigureKind>(of: K): Figure => figureOf(of, inputs[of], { width: 'column', colourMap: 'cividis', background: 'white', ...options });
  return make(kind);
}

/** Left, right, top and bottom of what an element covers, units; of text at most. */
function extent(element: ParsedElement): [number, number, number, number] | null {
  const at = (name: string): number => numberOf(element, name);
  const half = element.attributes['stroke'] === undefined ? 0 : at('stroke-width') / 2;
  switch (element.name) {
    case 'rect': return [at('x') - half, at('x') + at('width') + half, at('y') - half, at('y') + at('height') + half];
    case 'circle': return [at('cx') - at('r') - half, at('cx') + at('r') + half, at('cy') - at('r') - half, at('cy') + at('r') + half];
    case 'path': {
      const points = pathPoints(element.attributes['d'] ?? '');
      const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
      return [Math.min(...xs) - half, Math.max(...xs) + half, Math.min(...ys) - half, Math.max(...ys) + half];
    }
    case 'text': {
      const size = at('font-size');
      const width = textWidth(element.text, size, element.attributes['font-weight'] === 'bold');
      const anchor = element.attributes['text-anchor'] ?? 'start';
      const left = at('x') - (anchor === 'start' ? 0 : anchor === 'middle' ? width / 2 : width);
      return [left, left + width, at('y') - 0.78 * size, at('y') + 0.24 * size];
    }
    default: return null;
  }
}

/** Everything about one element that a figure must not have. */
function faults(element: ParsedElement, viewWidth: number, viewHeight: number): string[] {
  const { name, own, attributes, text } = element;
  const found: string[] = [];
  const check = (isRight: boolean, what: string): void => {
    if (!isRight) found.push(`${name} ${text}: ${what}`);
  };
  check(ELEMENTS.includes(name), 'an element of another kind');
  for (const key of Object.keys(own)) check(LOOKS.includes(key) || (PLACES[name] ?? []).includes(key), `attribute ${key}`);
  for (const key of ['fill', 'stroke']) check(attributes[key] === undefined || /^(none|#[0-9a-f]{6})$/.test(attributes[key]), `${key} ${attributes[key]}`);
  if (name === 'text') {
    const size = numberOf(element, 'font-size');
    check(attributes['font-family'] === 'sans-serif' && size >= 7 && size <= 9, `font ${attributes['font-family']} ${size}`);
    check(text.trim() !== '', 'no text');
  }
  const covers = extent(element);
  // Places are written to a hundredth.
  check(!covers || (covers[0] >= -0.01 && covers[1] <= viewWidth + 0.01 && covers[2] >= -0.01 && covers[3] <= viewHeight + 0.01), `outside: ${covers?.join(' ')}`);
  return found;
}

const PAGES: readonly [string, PageOptions][] = [
  ['a model of 6 layers', {}],
  ['a hostile name and every state', { layers: 12, everyState: true, name: HOSTILE_NAME }],
  ['the largest grid', { layers: 48, everyState: true }],
  ['op groups', { recipe: 'fp8-out', everyState: true }],
];

describe.each(PAGES)('%s', (_, page) => {
  const inputs = inputsOf(page);
  const cases = KINDS.flatMap((kind) => WIDTHS.flatMap((width) => COLOUR_MAP_NAMES.map((colourMap) => ({ kind, width, colourMap, figure: draw(kind, inputs, { width, colourMap }) }))));

  it.each(cases)('$kind, $width, $colourMap keeps the rules', ({ width, figure }) => {
    const { svg } = figure;
    expect(new TextEncoder().encode(svg).length).toBeLessThan(200_000);
    const elements = parseSvg(svg);
    const [root] = elements;
    if (!root) throw new Error('parseSvg: expected a root, got nothing');
    const [, , viewWidth = 0, viewHeight = 0] = (root.own['viewBox'] ?? '').split(' ').map(Number);
    const { width: units, unit, inches } = SHEETS[width];
    expect(viewWidth).toBe(units);
    expect(parseFloat(root.own['width'] ?? '')).toBeCloseTo(parseFloat(inches), 2);
    expect(parseFloat(root.own['height'] ?? '')).toBeCloseTo((viewHeight * unit) / 72, 3);
    expect(root.own['width']).toMatch(/^[\d.]+in$/);

    expect(elements.flatMap((element) => faults(element, viewWidth, viewHeight))).toEqual([]);
    for (const kind of ['title', 'desc', 'metadata', 'rect', 'path', 'text']) expect(elements.some(({ name }) => name === kind), kind).toBe(true);
  });

  it('says where it comes from', () => {
    const { source } = inputs.heatmap;
    expect(source.planHash).toMatch(/^sha256:[0-9a-f]{64}$/);
    for (const { kind, figure } of cases) {
      const text = (name: string): string => parseSvg(figure.svg).find((element) => element.name === name)?.text ?? '';
      expect(text('title')).toContain(source.model);
      expect(text('desc')).toContain(source.planHash);
      expect(text('desc')).toContain(source.device);
      const facts = JSON.parse(text('metadata')) as Record<string, unknown>;
      expect(facts).toMatchObject({ model: source.model, recipe: source.recipe, planHash: source.planHash, manifest: source.manifest, device: source.device, data: source.data, figure: kind });
      expect(facts['manifest']).toBe(`sha256:${'d'.repeat(64)}`);
    }
  });

  it('is the same text for the same data, and has a safe name', () => {
    const again = inputsOf(page);
    for (const { kind, width, colourMap, figure } of cases) {
      expect(draw(kind, again, { width, colourMap }).svg).toBe(figure.svg);
      expect(figure.fileName).toMatch(/^[a-z0-9-]+\.(heatmap|frontier|scatter)\.(column|page|slide)\.svg$/);
      expect(fileOf(figure, 'pdf')).toBe(figure.fileName.replace('.svg', '.pdf'));
    }
  });
});

test('a background is a rectangle behind everything, or nothing', () => {
  const inputs = inputsOf();
  for (const kind of KINDS) {
    const white = draw(kind, inputs);
    const none = draw(kind, inputs, { background: 'none' });
    const [first] = white.drawing.shapes;
    expect(first).toEqual({ kind: 'rect', x: 0, y: 0, width: white.drawing.width, height: white.drawing.height, fill: '#ffffff' });
    expect(white.drawing.shapes.slice(1)).toEqual(none.drawing.shapes);
  }
});

test('grey is grey only', () => {
  const inputs = inputsOf({ everyState: true });
  for (const kind of KINDS) {
    const colours = [...draw(kind, inputs, { colourMap: 'grey' }).svg.matchAll(/#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/g)];
    expect(colours.length).toBeGreaterThan(10);
    for (const [colour, r, g, b] of colours) expect([r, g], colour).toEqual([g, b]);
  }
});

test('a stored example says so on the picture', () => {
  const inputs = inputsOf();
  const note = 'Stored example, measured on <Some> GPU.';
  for (const kind of KINDS) {
    const noted = { ...inputs, [kind]: { ...inputs[kind], source: { ...inputs[kind].source, note } } };
    const texts = parseSvg(draw(kind, noted, { width: 'page' }).svg).filter(({ name }) => name === 'text').map(({ text }) => text);
    expect(texts).toContain(note);
  }
});
