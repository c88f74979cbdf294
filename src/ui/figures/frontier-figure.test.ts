/**
 * The frontier and scatter figures against d3's scales, which they do not use; names against each other; room of text
 * against the advance widths of real fonts; inks against the page's style sheet.
 */
import { readFileSync } from 'node:fs';
import { scaleLinear, scaleLog } from 'd3';
import fc from 'fast-check';
import { create, type Font } from 'fontkit';
import { describe, expect, it, test } from 'vitest';
import { placeLabels } from '../charts/label-places';
import { inksOf } from './drawing';
import { figureOf } from './figure-of';
import { HOSTILE_NAME, inputsOf } from './figure-fixture';
import { NAME_METRICS } from './frontier-plot';
import { numberOf, parseSvg, pathPoints, type ParsedElement } from './parsed-svg-fixture';
import { fitText, plainText, textWidth, wrapText } from './text-width';

const inputs = inputsOf();
const draw = (kind: 'frontier' | 'scatter'): ParsedElement[] =>
  parseSvg((kind === 'frontier' ? figureOf(kind, inputs.frontier, { width: 'page', colourMap: 'cividis', background: 'none' }) : figureOf(kind, inputs.scatter, { width: 'page', colourMap: 'cividis', background: 'none' })).svg);
const textAt = (elements: readonly ParsedElement[], text: string): ParsedElement => {
  const found = elements.find((element) => element.name === 'text' && element.text === text);
  if (!found) throw new Error(`expected the text ${text}, got none`);
  return found;
};

describe('frontier', () => {
  const elements = draw('frontier');
  const { frontier, plans } = inputs.frontier;
  // Two tick labels of each axis fix it; a label's capitals are centred 0.36 of its size above the baseline.
  const x = scaleLinear([0, 100], ['0', '100'].map((text) => numberOf(textAt(elements, text), 'x')));
  const tickY = (text: string): number => numberOf(textAt(elements, text), 'y') - 0.36 * 7;
  const y = scaleLog([0.1, 10], ['0.1', '10'].map(tickY));
  const circles = elements.filter(({ name }) => name === 'circle').map((circle) => ({ x: numberOf(circle, 'cx'), y: numberOf(circle, 'cy'), fill: circle.attributes['fill'] }));

  it('puts every plan at its cost and angles, hollow predicted and filled measured', () => {
    const shown = plans.filter((plan) => plan.predictedDeg !== null || plan.measuredDeg !== null);
    expect(shown.length).toBeGreaterThan(8);
    expect(shown.filter((plan) => plan.measuredDeg !== null).length).toBeGreaterThan(3);
    for (const plan of shown) {
      for (const [deg, isHollow] of [[plan.predictedDeg, true], [plan.measuredDeg, false]] as const) {
        if (deg === null || deg < 0.01) continue;
        const there = circles.filter((circle) => Math.hypot(circle.x - x(100 * plan.cost), circle.y - y(deg)) < 0.1);
        expect(there.some((circle) => (circle.fill === '#ffffff') === isHollow), `${plan.name} ${deg}`).toBe(true);
      }
    }
  });

  it('draws the line as a staircase through every plan of the solver', () => {
    const line = elements.find(({ name, attributes }) => name === 'path' && attributes['stroke'] === inksOf('cividis').accent && attributes['stroke-width'] === '1.2');
    const corners = pathPoints(line?.attributes['d'] ?? '');
    expect(frontier.length).toBeGreaterThan(20);
    for (const point of frontier) if (point.angleDeg > 0.01) expect(corners.some(([px, py]) => Math.hypot(px - x(100 * point.cost), py - y(point.angleDeg)) < 0.1)).toBe(true);
    // To the right or downwards only.
    corners.forEach(([px, py], i) => {
      const [bx, by] = corners[i - 1] ?? [px, py];
      expect(px >= bx && py >= by && (px === bx || py === by)).toBe(true);
    });
  });

  it('names every plan once, or explains its number', () => {
    const said = elements.filter(({ name }) => name === 'text').map(({ text }) => text).join(' ');
    for (const plan of plans) if (plan.predictedDeg !== null || plan.measuredDeg !== null) expect(said.split(plan.name).length, plan.name).toBeGreaterThan(1);
    for (const word of ['HP GEMM work, %', 'bending, deg (log)', 'predicted', 'measured, ± standard error', 'best plan at each budget']) expect(said).toContain(word);
  });
});

test('the scatter puts every site where d3 does', () => {
  const elements = draw('scatter');
  const { points } = inputs.scatter;
  const [first, second] = points.filter(({ pass }) => pass === 'fprop');
  const circles = elements.filter(({ name, attributes }) => name === 'circle' && attributes['fill'] === inksOf('cividis').passes.fprop).map((circle) => [numberOf(circle, 'cx'), numberOf(circle, 'cy')] as const);
  const [a, b] = circles;
  if (!first || !second || !a || !b) throw new Error('scatter: expected two forward sites');
  // Drawn in the order of the sites, so that two of them fix both axes.
  const x = scaleLog([first.localError, second.localError], [a[0], b[0]]);
  const y = scaleLog([first.angleDeg, second.angleDeg], [a[1], b[1]]);
  points.filter(({ pass }) => pass === 'fprop').forEach((point, i) => {
    expect(circles[i]?.[0]).toBeCloseTo(x(point.localError), 0);
    expect(circles[i]?.[1]).toBeCloseTo(y(point.angleDeg), 0);
  });
  // And so do the ticks.
  for (const tick of ['1', '10']) expect(numberOf(textAt(elements, tick), 'y') - 0.36 * 7).toBeCloseTo(y(Number(tick)), 0);
  expect(numberOf(textAt(elements, '0.001'), 'x')).toBeCloseTo(x(0.001), 0);
});

test('no name covers another, a point or a line, or leaves the frame', () => {
  const frame = { x: 0, y: 0, width: 200, height: 120 };
  const box = (at: { x: number; middle: number; anchor: string }, width: number) => ({ left: at.x - (at.anchor === 'start' ? 0 : at.anchor === 'middle' ? width / 2 : width), top: at.middle - 4, width, height: 8 });
  const point = fc.record({ x: fc.integer({ min: 0, max: 200 }), y: fc.integer({ min: 0, max: 120 }), text: fc.string({ minLength: 1, maxLength: 12 }) });
  fc.assert(fc.property(fc.array(point, { maxLength: 12 }), fc.array(fc.record({ x: fc.integer({ min: 0, max: 200 }), y: fc.integer({ min: 0, max: 120 }) })), (all, drawn) => {
    const named = all.map((p, i) => ({ ...p, id: String(i), radius: 2, width: textWidth(p.text, 7) }));
    const dots = named.map((p) => ({ x: p.x - 2, y: p.y - 2, width: 4, height: 4 }));
    const places = [...placeLabels(named, { frame, taken: dots, lines: drawn }, NAME_METRICS)].map(([id, place]) => box(place, textWidth(named[Number(id)]?.text ?? '', 7)));
    const apart = (a: { left: number; top: number; width: number; height: number }, b: { left: number; top: number; width: number; height: number }): boolean => a.left + a.width <= b.left + 1e-9 || b.left + b.width <= a.left + 1e-9 || a.top + a.height <= b.top + 1e-9 || b.top + b.height <= a.top + 1e-9;
    places.forEach((a, i) => {
      expect(a.left >= 0 && a.top >= 0 && a.left + a.width <= 200 && a.top + a.height <= 120).toBe(true);
      for (const b of places.slice(i + 1)) expect(apart(a, b)).toBe(true);
      for (const dot of dots) expect(apart(a, { left: dot.x, top: dot.y, width: 4, height: 4 })).toBe(true);
      for (const dot of drawn) expect(dot.x > a.left && dot.x < a.left + a.width && dot.y > a.top && dot.y < a.top + a.height).toBe(false);
    });
  }));
});

test('text takes no more room than is kept for it, in the font of the PDF', () => {
  for (const [weight, bold] of [[400, false], [700, true]] as const) {
    const font = create(readFileSync(`node_modules/@fontsource/arimo/files/arimo-latin-${weight}-normal.woff`)) as Font;
    for (let code = 32; code < 127; code++) {
      const width = font.glyphForCodePoint(code).advanceWidth / font.unitsPerEm;
      expect(textWidth(String.fromCharCode(code), 1, bold), String.fromCharCode(code)).toBeGreaterThanOrEqual(width - 1e-9);
    }
    for (const sign of '−±²°…’“”×') expect(textWidth(sign, 1, bold)).toBeGreaterThanOrEqual(font.glyphForCodePoint(sign.codePointAt(0) ?? 0).advanceWidth / font.unitsPerEm);
  }
});

test('a text that is too long is cut with an ellipsis; words wrap into lines that fit and lose nothing', () => {
  fc.assert(fc.property(fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 30 }), fc.integer({ min: 60, max: 300 }), (all, room) => {
    const text = all.join(' ');
    const lines = wrapText(text, 7, room);
    for (const line of lines) expect(textWidth(line, 7)).toBeLessThanOrEqual(room);
    expect(lines.join(' ')).toBe(text);
    const short = fitText(text, 7, room);
    expect(textWidth(short, 7)).toBeLessThanOrEqual(room);
    expect(short === text || (short.endsWith('…') && text.startsWith(short.slice(0, -1)))).toBe(true);
  }));
});

test('names lose what XML forbids and what turns the writing direction, and nothing else', () => {
  expect(plainText(HOSTILE_NAME)).toBe('A<b> & "c" \'d\' ]]> --> \ufffd\ufffd\ufffd gnp.exe 🚀 漢字 θ=5° \\input{x} 100%_$#~^');
  expect(plainText('two\r\nlines\tand more')).toBe('two lines and more');
});

test('inks are those of the light page', () => {
  const css = readFileSync('src/app/theme.css', 'utf8');
  const light = css.slice(css.indexOf(':root {'), css.indexOf('}', css.indexOf(':root {')));
  const token = (name: string): string | undefined => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(light)?.[1];
  const { ink, soft, line, strong, paper, accent, passes } = inksOf('cividis');
  expect({ ink, soft, line, strong, paper, accent }).toEqual({ ink: token('ink'), soft: token('ink-2'), line: token('line'), strong: token('line-strong'), paper: token('panel'), accent: token('accent') });
  expect(passes).toEqual({ fprop: token('pass-fprop'), dgrad: token('pass-dgrad'), wgrad: token('pass-wgrad'), out: token('pass-out') });
});
