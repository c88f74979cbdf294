/**
 * The cells of the heatmap figure: fill = bending, mark = precision, and a pattern for every state that is not a number,
 * the same colours, letters and figures as on the page (charts/heatmap.tsx). Patterns are drawn line by line inside each
 * cell, because converters drop `<pattern>`; what looks alike is one path, so that a large grid stays a small file.
 */
import { cellFigure, type Mark } from '../charts/heatmap';
import { angleColour, inkOn, type ColourMap } from '../charts/scales';
import { label, short, SMALL, type Inks, type Shape } from './drawing';
import type { FigureCell } from './figure-types';
import { crossLines, dots, frame, hatchLines, inner, stripes, type Box } from './patterns';
import { textWidth } from './text-width';

/** What there is room for in a cell: letter and figure, the letter, or a pattern of the mark only. */
export type Detail = 'figures' | 'letters' | 'patterns';

/** Insets and widths of a mark's border: B one line, 8 two thin ones; 6 has a bar at the left, 4 none. */
const BORDERS: Readonly<Record<Mark, readonly { readonly inset: number; readonly width: number }[]>> = {
  B: [{ inset: 1.1, width: 0.8 }], 8: [{ inset: 0.6, width: 0.4 }, { inset: 1.6, width: 0.4 }], 6: [], 4: [],
};
export const SIGNS = { missing: '??', failed: '!!' } as const;
const BADGE = { width: 6.8, height: 8 };
/** Left of the mark, where borders are. */
const PAD = 3;
const RIGHT = 2;
const LOCK_ROOM = 3.6;

/** The most detailed look that the smallest cell has room for. Units. */
export function detailFor(cells: readonly FigureCell[], width: number, height: number): Detail {
  const figures = cells.filter((cell) => !cell.wide).map((cell) => (cell.angleDeg === null ? SIGNS.missing : cellFigure(cell.angleDeg)));
  const lock = cells.some((cell) => cell.locked || cell.unstable) ? LOCK_ROOM : 0;
  const needed = PAD + BADGE.width + 1 + lock + Math.max(0, ...figures.map((text) => textWidth(text, SMALL))) + RIGHT;
  if (height < BADGE.height) return 'patterns';
  return width >= needed ? 'figures' : width >= BADGE.width ? 'letters' : 'patterns';
}

/** One cell with its place. A cell in state `value` without an angle is blank: a swatch of the key. */
export interface PlacedCell {
  readonly cell: FigureCell;
  readonly box: Box;
  readonly detail: Detail;
}

/** Shapes of all cells, in layers, so that what looks alike is drawn in one run. */
export function cellShapes(cells: readonly PlacedCell[], map: ColourMap, inks: Inks): Shape[] {
  const fills: Shape[] = [];
  /** Path data by look: patterns, borders, badges. */
  const strokes = new Map<string, { d: string; readonly shape: (d: string) => Shape }>();
  const draw = (key: string, d: string, shape: (d: string) => Shape): void => {
    if (d === '') return;
    const known = strokes.get(key);
    if (known) known.d += d;
    else strokes.set(key, { d, shape });
  };
  const lines = (d: string, colour: string, width: number, dash?: readonly number[]): void =>
    draw(`${colour} ${width} ${dash?.join(' ') ?? ''}`, d, (all) => ({ kind: 'path', d: all, fill: null, stroke: { colour, width, ...(dash ? { dash } : {}) } }));
  const areas = (d: string, colour: string): void => draw(colour, d, (all) => ({ kind: 'path', d: all, fill: colour }));
  const texts: Shape[] = [];
  const signs: Shape[] = [];

  for (const { cell, box, detail } of cells) {
    const { x, y, width, height } = box;
    const middle = y + height / 2;
    const colour = cell.angleDeg !== null && cell.angleDeg >= 0 ? angleColour(map, cell.angleDeg) : null;
    const fill = colour ?? inks.paper;
    const ink = colour === null ? inks.ink : inkOn(colour);
    fills.push({ kind: 'rect', ...box, fill });
    if (cell.angleDeg === null) lines(frame(box, 0.25), inks.strong, 0.5);
    else if (colour === null) lines(frame(box, 0.3), inks.ink, 0.6, [2, 1.2]);

    const borders = detail === 'letters' ? [] : BORDERS[cell.mark];
    // Patterns leave the mark's place free, and a border a solid line.
    const aside = detail === 'figures' ? PAD + BADGE.width + 0.7 : 0;
    const patterned = inner({ ...box, x: x + aside, width: width - aside }, borders.length > 0 ? 2 : 0);
    if (cell.state === 'failed') lines(crossLines(patterned), inks.strong, 0.5);
    else if (cell.state === 'missing') areas(dots(patterned), inks.strong);
    if (cell.belowNoise) lines(hatchLines(patterned), ink, 0.4);
    if (cell.stored) areas(stripes(box), ink);
    const markX = detail === 'figures' ? x + PAD : x + width / 2 - BADGE.width / 2;
    const sign = detail !== 'figures' ? null : cell.state !== 'value' ? SIGNS[cell.state] : cell.unpredicted ? SIGNS.missing : null;
    for (const border of borders) lines(frame(box, detail === 'patterns' ? border.inset / 2 + 0.2 : border.inset), ink, border.width);
    if (cell.mark === '6' && detail !== 'letters') lines(`M${short(x + 1)} ${short(y + 1)}V${short(y + height - 1)}`, ink, 0.55);

    if (detail !== 'patterns') {
      const letter = { x: markX, y: middle - BADGE.height / 2, width: BADGE.width, height: BADGE.height };
      // Grown to the border beside it.
      if (cell.mark === 'B') areas(frame(detail === 'figures' ? { ...letter, x: x + 0.7, width: PAD - 0.7 + letter.width } : letter, 0), ink);
      else if (detail === 'letters' && (cell.belowNoise || cell.state !== 'value')) signs.push({ kind: 'rect', ...letter, fill });
      texts.push(label(markX + BADGE.width / 2, middle, cell.mark, cell.mark === 'B' ? (ink === '#ffffff' ? '#000000' : '#ffffff') : ink, { anchor: 'middle', bold: cell.mark === 'B' }));
    }
    if (sign !== null) {
      const room = textWidth(sign, SMALL, true) + 1;
      const at = cell.wide ? x + width / 2 : x + width - RIGHT - room / 2;
      signs.push({ kind: 'rect', x: at - room / 2, y: middle - 4, width: room, height: 8, fill: inks.paper });
      texts.push(label(at, middle, sign, inks.ink, { anchor: 'middle', bold: true }));
    } else if (detail === 'figures' && cell.angleDeg !== null) {
      const text = cellFigure(cell.angleDeg);
      const room = textWidth(text, SMALL);
      const right = cell.wide ? x + width / 2 + room / 2 : x + width - RIGHT;
      if (cell.belowNoise) signs.push({ kind: 'rect', x: right - room - 0.8, y: middle - 4, width: room + 1.2, height: 8, fill });
      texts.push(cell.wide ? label(x + width / 2, middle, text, ink, { anchor: 'middle' }) : label(right, middle, text, ink, { anchor: 'end' }));
    }
    const corner = detail === 'figures' ? { x: x + PAD + BADGE.width + 1 + LOCK_ROOM / 2, y: middle } : { x: x + width - 1.7, y: y + 1.7 };
    if (cell.locked) signs.push({ kind: 'circle', ...corner, radius: 1.2, fill: '#ffffff', stroke: { colour: '#000000', width: 0.7 } });
    if (cell.unstable) {
      const at = detail === 'figures' ? { x: corner.x, y: middle + (cell.locked ? 3 : 0) } : { x: corner.x, y: y + height - 1.7 };
      signs.push({ kind: 'path', d: `M${short(at.x - 1.5)} ${short(at.y + 1.2)}h3l-1.5 -2.6Z`, fill: '#ffffff', stroke: { colour: '#000000', width: 0.6 } });
    }
  }
  const byLook = texts.toSorted((a, b) => lookOf(a).localeCompare(lookOf(b)));
  return [...fills, ...[...strokes.values()].map(({ d, shape }) => shape(d)), ...signs, ...byLook];
}

const lookOf = (shape: Shape): string => (shape.kind === 'text' ? `${shape.anchor} ${shape.bold} ${shape.fill}` : '');
