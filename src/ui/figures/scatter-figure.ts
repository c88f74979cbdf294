/**
 * Local error against bending as a figure: a point a site, both axes log, the pass as shape and colour; telling pairs are
 * joined, numbered and named below. Domains and ticks are those of the page's chart.
 */
import { significant } from '../../base/units';
import type { TellingPair } from '../charts/pairs';
import { logDomain, logPosition } from '../charts/scales';
import { PASS_SHAPES, type ScatterPoint } from '../charts/scatter-points';
import { inksOf, label, polygon, segment, SHEETS, type Drawing, type Inks, type Shape } from './drawing';
import { flowKey, words, type KeyEntry } from './figure-key';
import type { FigureOptions, FigureWidth, ScatterInput } from './figure-types';
import type { Box } from './patterns';
import { ABOVE, axesShapes, BELOW, logHeight, logTickLabels, tickRoom } from './plot-axes';

const EDGE = 3;
const PLOT_HEIGHT: Readonly<Record<FigureWidth, number>> = { column: 150, page: 190, slide: 150 };

export function scatterFigure({ source, points, pairs }: ScatterInput, { width, colourMap }: FigureOptions): Drawing {
  const inks = inksOf(colourMap);
  const sheet = SHEETS[width];
  const [domainX, domainY] = [logDomain(points.map((p) => p.localError)), logDomain(points.map((p) => p.angleDeg))];
  const up = logTickLabels(domainY, 2);
  const left = EDGE + tickRoom(up.map(({ text }) => text));
  const box: Box = { x: left, y: EDGE + ABOVE, width: sheet.width - left - 10, height: PLOT_HEIGHT[width] };
  const x = (value: number): number => box.x + logPosition(value, domainX) * box.width;
  const y = (deg: number): number => logHeight(deg, domainY, box);
  const byId = new Map(points.map((point) => [point.id, point]));
  const joined = pairs.flatMap((pair, i) => {
    const [a, b] = [byId.get(pair.strong), byId.get(pair.weak)];
    return a && b ? [{ pair, a, b, number: i + 1, x1: x(a.localError), y1: y(a.angleDeg), x2: x(b.localError), y2: y(b.angleDeg) }] : [];
  });
  const shapes: Shape[] = [
    ...axesShapes({
      box, upTitle: 'bending, deg (log)', acrossTitle: 'local error, |q − x|² / |x|² (log, no unit)',
      up: up.map(({ value, text, major }) => ({ at: y(value), text, major })),
      across: logTickLabels(domainX, width === 'column' ? 1.2 : 2).map(({ value, text, major }) => ({ at: x(value), text, grid: major ? 'major' : 'minor' })),
    }, EDGE, inks),
    ...joined.map(({ x1, y1, x2, y2 }) => segment(x1, y1, x2, y2, inks.soft, 0.6, [2, 2])),
    ...points.map((point) => mark(point.pass, x(point.localError), y(point.angleDeg), 2.2, inks)),
    ...joined.flatMap(({ number, x1, y1, x2, y2 }, i): Shape[] => {
      // Not all in the middle, so that the numbers of neighbouring pairs stay apart.
      const along = 0.3 + 0.15 * i;
      const [nx, ny] = [x1 + along * (x2 - x1), y1 + along * (y2 - y1)];
      return [{ kind: 'circle', x: nx, y: ny, radius: 4.6, fill: inks.paper, stroke: { colour: inks.soft, width: 0.5 } }, label(nx, ny, String(number), inks.ink, { anchor: 'middle' })];
    }),
  ];
  const passes = (Object.keys(PASS_SHAPES) as ScatterPoint['pass'][]).filter((pass) => points.some((point) => point.pass === pass));
  const entries: KeyEntry[] = [
    ...passes.map((pass) => ({ swatch: { width: 6, shapes: (at: number, middle: number) => [mark(pass, at + 3, middle, 2.2, inks)] }, words: PASS_SHAPES[pass].name })),
    ...joined.map(({ pair, a, b, number }) => words(pairWords(number, a.name, b.name, pair))),
    ...(source.note === null ? [] : [words(source.note)]),
  ];
  const key = flowKey(entries, { left: EDGE, right: sheet.width - EDGE, top: box.y + box.height + BELOW + 2 }, inks);
  return { width: sheet.width, height: box.y + box.height + BELOW + 2 + key.height + EDGE, unit: sheet.unit, shapes: [...shapes, ...key.shapes] };
}

const pairWords = (number: number, strong: string, weak: string, { errorRatio, shiftRatio }: TellingPair): string =>
  `${number}: ${strong} shifts the gradient ${significant(shiftRatio, 2)}x as far as ${weak}, local errors ${significant(errorRatio, 3)}x apart`;

/** The shapes of the page's chart: circle, triangle, diamond, square of about one area. */
function mark(pass: ScatterPoint['pass'], x: number, y: number, r: number, inks: Inks): Shape {
  const fill = inks.passes[pass];
  const stroke = { colour: inks.paper, width: 0.4 };
  switch (pass) {
    case 'fprop': return { kind: 'circle', x, y, radius: r, fill, stroke };
    case 'dgrad': return { kind: 'path', d: polygon([[x, y - 1.35 * r], [x + 1.2 * r, y + 0.75 * r], [x - 1.2 * r, y + 0.75 * r]]), fill, stroke };
    case 'wgrad': return { kind: 'path', d: polygon([[x, y - 1.55 * r], [x + 0.95 * r, y], [x, y + 1.55 * r], [x - 0.95 * r, y]]), fill, stroke };
    case 'out': return { kind: 'rect', x: x - 0.9 * r, y: y - 0.9 * r, width: 1.8 * r, height: 1.8 * r, fill, stroke };
  }
}
