/**
 * The heatmap figure against the page: every cell's colour, letter and figure are those that the page draws of the same
 * state, at the cell's own place; patterns stay in their cells; what marks mean stands in the key.
 */
import { describe, expect, it, test } from 'vitest';
import fc from 'fast-check';
import { formatOf } from '../../allocate/cost';
import { fillOf } from '../../state';
import { cellFigure } from '../charts/heatmap';
import { angleColour, logTicks, ANGLE_DOMAIN, tickLabel } from '../charts/scales';
import { gridModel, markOf } from '../grid/grid-model';
import { figureOf } from './figure-of';
import { figureInputs } from './figure-data';
import { figureState, inputsOf } from './figure-fixture';
import { numberOf, parseSvg, pathPoints, type ParsedElement } from './parsed-svg-fixture';
import { crossLines, dots, frame, hatchLines, stripes, type Box } from './patterns';

const heatmap = (options: Parameters<typeof figureState>[0], width: 'column' | 'page' | 'slide' = 'page'): ParsedElement[] =>
  parseSvg(figureOf('heatmap', inputsOf(options).heatmap, { width, colourMap: 'cividis', background: 'none' }).svg);
const boxOf = (rect: ParsedElement): Box => ({ x: numberOf(rect, 'x'), y: numberOf(rect, 'y'), width: numberOf(rect, 'width'), height: numberOf(rect, 'height') });
const isIn = ({ x, y, width, height }: Box, [px, py]: readonly [number, number]): boolean => px >= x && px <= x + width && py >= y && py <= y + height;
const texts = (elements: readonly ParsedElement[]): ParsedElement[] => elements.filter(({ name }) => name === 'text');
/** In the order of the cells: they are drawn first of all rectangles. */
const cellBoxes = (elements: readonly ParsedElement[], count: number): ParsedElement[] => elements.filter(({ name }) => name === 'rect').slice(0, count);

describe.each([['nvfp4', 6], ['nvfp4', 12], ['fp8-out', 6]] as const)('%s, %i layers', (recipe, layers) => {
  const state = figureState({ recipe, layers, everyState: true });
  const { shown, document: { plan } } = state;
  if (!shown.graph || !plan) throw new Error('figureState: expected a model and a plan');
  const model = gridModel(shown.graph, recipe);
  const fill = fillOf(shown, 'isolated');
  const sites = model.rows.flatMap((row) => row.sites);
  const elements = heatmap({ recipe, layers, everyState: true });
  const boxes = cellBoxes(elements, sites.length);

  it('draws every cell with the colour, letter and figure of the page', () => {
    expect(boxes).toHaveLength(sites.length);
    let figures = 0;
    sites.forEach(({ id }, i) => {
      const [rect] = [boxes[i]];
      const cell = fill.get(id);
      if (!rect || !cell) throw new Error(`heatmap: expected a cell for ${id}`);
      expect(rect.attributes['fill'], id).toBe(cell.angleDeg === null ? '#ffffff' : angleColour('cividis', cell.angleDeg));
      const inside = texts(elements).filter((text) => isIn(boxOf(rect), [numberOf(text, 'x'), numberOf(text, 'y')])).map(({ text }) => text);
      const format = formatOf(plan.formats, id);
      const isUnpredicted = format !== 'bf16' && format !== recipe && cell.state === 'value';
      const figure = isUnpredicted ? '??' : cell.state === 'failed' ? '!!' : cell.angleDeg === null ? '??' : cellFigure(cell.angleDeg);
      expect(inside.toSorted(), id).toEqual([markOf(format), figure].toSorted());
      figures += cell.angleDeg === null ? 0 : 1;
    });
    expect(figures).toBeGreaterThan(sites.length / 2);
  });

  it('puts cells of a row beside each other, of a layer below each other, and none on another', () => {
    const places = boxes.map(boxOf);
    sites.forEach((site, i) => {
      sites.forEach((other, j) => {
        const [a, b] = [places[i], places[j]];
        if (!a || !b || j <= i) return;
        const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        if (!apart) throw new Error(`heatmap: ${site.id} lies on ${other.id}`);
        if (site.layer !== null && site.layer === other.layer) expect(a.x).toBe(b.x);
      });
    });
  });

  it('labels every row and every layer, and says what the colour is in degrees', () => {
    const said = texts(elements).map(({ text }) => text);
    for (const row of model.rows) expect(said).toContain(row.groupLabel.short);
    for (let layer = 0; layer < layers; layer++) expect(said).toContain(String(layer));
    for (const word of ['layer', 'op', ...(recipe === 'nvfp4' ? ['pass', 'forward', 'input gradient', 'weight gradient'] : [])]) expect(said).toContain(word);
    expect(said.join(' ')).toMatch(/Turn of the whole gradient if only that cell is (NVFP4|FP8), deg \(log scale\)/);
    for (const { value } of logTicks(ANGLE_DOMAIN)) expect(said).toContain(tickLabel(value));
    expect(said).toContain('90 deg');
    for (const word of ['BF16', 'below noise: raw angle under 2 x floor', '?? not measured', '!! failed', 'locked', 'fw, bw: noise floor of the forward and the backward pass']) expect(said).toContain(word);
  });
});

test('where figures have no room the letters stand alone, and where these have none borders do', () => {
  const letters = texts(heatmap({ layers: 24 })).map(({ text }) => text);
  expect(letters.filter((text) => text === 'B' || text === '4').length).toBeGreaterThanOrEqual(24 * 12);
  expect(letters.some((text) => /^\.\d\d$/.test(text))).toBe(false);
  const none = texts(heatmap({ layers: 48 }, 'column')).map(({ text }) => text);
  expect(none.filter((text) => text === 'B')).toEqual([]);
  expect(none).toContain('BF16');
});

test('names of passes are short where long ones have no room, and then explained', () => {
  const said = texts(heatmap({ layers: 12 }, 'column')).map(({ text }) => text);
  expect(said.filter((text) => text === 'fp')).toHaveLength(4);
  expect(said).toContain('fp forward, dg input gradient, wg weight gradient');
});

test('cells of the stored example are marked where others are not, and then only', () => {
  const state = figureState();
  const stored = (measuredHere: ReadonlySet<string>): { marked: number; note: string | null } => {
    const shown = { ...state.shown, measuredHere, storedProvenance: state.shown.provenance };
    const input = figureInputs({ ...state, shown })?.heatmap;
    return { marked: input?.cells.filter((cell) => cell.stored).length ?? NaN, note: input?.source.note ?? null };
  };
  expect(stored(new Set())).toEqual({ marked: 0, note: 'Stored example, measured on Example GPU.' });
  expect(stored(new Set(['h.0.mlp.c_fc:fprop']))).toEqual({ marked: 71, note: 'Stored example, measured on Example GPU: 71 of 72 cells.' });
  expect(stored(new Set(Object.keys(state.shown.sites)))).toEqual({ marked: 0, note: null });
});

test('patterns stay in their box, lines at 45 degrees', () => {
  const boxes = fc.record({ x: fc.double({ min: 0, max: 400, noNaN: true }), y: fc.double({ min: 0, max: 400, noNaN: true }), width: fc.double({ min: 2, max: 60, noNaN: true }), height: fc.double({ min: 2, max: 30, noNaN: true }) });
  fc.assert(fc.property(boxes, (box) => {
    const larger = { x: box.x - 0.011, y: box.y - 0.011, width: box.width + 0.022, height: box.height + 0.022 };
    for (const pattern of [hatchLines, crossLines, dots, stripes]) for (const point of pathPoints(pattern(box))) expect(isIn(larger, point)).toBe(true);
    for (const point of pathPoints(frame(box, 0.5))) expect(isIn(larger, point)).toBe(true);
    const ends = pathPoints(hatchLines(box));
    for (let i = 0; i < ends.length; i += 2) {
      const [a, b] = [ends[i], ends[i + 1]];
      if (!a || !b) throw new Error('hatchLines: expected pairs of points');
      expect(a[0] + a[1]).toBeCloseTo(b[0] + b[1], 1);
    }
    if (box.width + box.height > 8) expect(ends.length).toBeGreaterThan(0);
  }));
});
