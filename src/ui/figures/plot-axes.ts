/** Frame, grid lines and ticks of a plot: log degrees upwards, and a title at each axis with its unit. Units of the sheet. */
import { logPosition, logTicks, tickLabel } from '../charts/scales';
import { label, NORMAL, segment, SMALL, type Inks, type Shape } from './drawing';
import type { Box } from './patterns';
import { textWidth } from './text-width';

/** Room above a plot for the title of its upward axis, and below for ticks and title. */
export const ABOVE = 13;
export const BELOW = 23;

export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Position on a log axis that runs from `high` (top) to `low`. */
export const logHeight = (value: number, domain: readonly [number, number], { y, height }: Box): number => y + (1 - logPosition(value, domain)) * height;

/** Ticks of an upward log axis; 2 and 5 between decades below `minorBelow` decades, as on the page. */
export function logTickLabels(domain: readonly [number, number], minorBelow: number): readonly { readonly value: number; readonly text: string; readonly major: boolean }[] {
  return logTicks(domain, minorBelow).map(({ value, major }) => ({ value, major, text: tickLabel(value) }));
}

/** Room left of a plot for the longest of the tick labels. */
export const tickRoom = (labels: readonly string[]): number => Math.max(12, ...labels.map((text) => textWidth(text, SMALL))) + 6;

export interface Axes {
  readonly box: Box;
  readonly upTitle: string;
  readonly acrossTitle: string;
  readonly up: readonly (Tick & { readonly major: boolean })[];
  readonly across: readonly (Tick & { readonly grid: 'none' | 'major' | 'minor' })[];
}

export function axesShapes({ box, upTitle, acrossTitle, up, across }: Axes, left: number, inks: Inks): Shape[] {
  const right = box.x + box.width;
  const bottom = box.y + box.height;
  const gridLine = (x1: number, y1: number, x2: number, y2: number, major: boolean): Shape => segment(x1, y1, x2, y2, inks.line, 0.5, major ? undefined : [0.8, 1.6]);
  return [
    ...up.map(({ at, major }) => gridLine(box.x, at, right, at, major)),
    ...across.flatMap(({ at, grid }) => (grid === 'none' ? [segment(at, bottom, at, bottom + 2.5, inks.strong, 0.6)] : [gridLine(at, box.y, at, bottom, grid === 'major')])),
    segment(box.x, bottom, right, bottom, inks.strong, 0.6),
    segment(box.x, box.y, box.x, bottom, inks.strong, 0.6),
    ...up.map(({ at, text }) => label(box.x - 4, at, text, inks.soft, { anchor: 'end' })),
    ...across.map(({ at, text }) => label(at, bottom + 7, text, inks.soft, { anchor: 'middle' })),
    label(left, box.y - 8, upTitle, inks.ink, { size: NORMAL }),
    label(box.x + box.width / 2, bottom + 17, acrossTitle, inks.ink, { size: NORMAL, anchor: 'middle' }),
  ];
}
