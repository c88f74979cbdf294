/**
 * A picture as a list of plain shapes, from which SVG and PDF are written alike: whatever one file shows, the other shows.
 * Nothing here is transparent, clipped, transformed or styled from afar, because converters drop such things (ux.md 4.3).
 * Lengths are units of the sheet: points on paper, two points on a slide.
 */
import type { ColourMap } from '../charts/scales';
import type { FigureWidth } from './figure-types';

export interface Stroke {
  readonly colour: string;
  readonly width: number;
  /** Lengths of dash and gap. */
  readonly dash?: readonly number[];
}

export type Anchor = 'start' | 'middle' | 'end';

export type Shape =
  | { readonly kind: 'rect'; readonly x: number; readonly y: number; readonly width: number; readonly height: number; readonly fill: string | null; readonly stroke?: Stroke }
  | { readonly kind: 'circle'; readonly x: number; readonly y: number; readonly radius: number; readonly fill: string | null; readonly stroke?: Stroke }
  /** `d` holds M, L, H, V, h, v, l and Z only. */
  | { readonly kind: 'path'; readonly d: string; readonly fill: string | null; readonly stroke?: Stroke }
  /** `y` is the baseline. */
  | { readonly kind: 'text'; readonly x: number; readonly y: number; readonly size: number; readonly anchor: Anchor; readonly bold: boolean; readonly fill: string; readonly text: string };

export interface Drawing {
  /** Units. */
  readonly width: number;
  readonly height: number;
  /** Points in a unit. */
  readonly unit: number;
  readonly shapes: readonly Shape[];
}

/** Width in units and how many points a unit is: text of 7 to 9 units is 7 to 9 pt on paper and twice that on a slide. */
export const SHEETS: Readonly<Record<FigureWidth, { readonly width: number; readonly unit: number; readonly name: string; readonly inches: string }>> = {
  column: { width: 234, unit: 1, name: 'Column', inches: '3.25 in' },
  page: { width: 486, unit: 1, name: 'Page', inches: '6.75 in' },
  slide: { width: 480, unit: 2, name: 'Slide', inches: '13.33 in' },
};
export const POINTS_PER_INCH = 72;

/** Sizes of text, units. */
export const SMALL = 7;
export const NORMAL = 8;

/** The inks of the page's light theme (app/theme.css); grey where the figure is for grey print. */
export interface Inks {
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly strong: string;
  readonly paper: string;
  readonly accent: string;
  readonly passes: Readonly<Record<'fprop' | 'dgrad' | 'wgrad' | 'out', string>>;
}
const COLOURED: Inks = {
  ink: '#14181f', soft: '#4a5462', line: '#d5dae1', strong: '#7d8794', paper: '#ffffff', accent: '#1b4f8f',
  passes: { fprop: '#a8481a', dgrad: '#2f65a0', wgrad: '#3f6d2c', out: '#7a3f8f' },
};
const GREY: Inks = {
  ink: '#171717', soft: '#525252', line: '#d9d9d9', strong: '#858585', paper: '#ffffff', accent: '#171717',
  passes: { fprop: '#171717', dgrad: '#6b6b6b', wgrad: '#a3a3a3', out: '#171717' },
};
export const inksOf = (map: ColourMap): Inks => (map === 'grey' ? GREY : COLOURED);

/** Half a capital's height, of the size of a text. */
export const HALF_CAPITAL = 0.36;

/** A line of text whose capitals are centred on `middle`. */
export function label(x: number, middle: number, text: string, fill: string, { size = SMALL, anchor = 'start' as Anchor, bold = false } = {}): Shape {
  return { kind: 'text', x, y: middle + HALF_CAPITAL * size, size, anchor, bold, fill, text };
}

export function segment(x1: number, y1: number, x2: number, y2: number, colour: string, width: number, dash?: readonly number[]): Shape {
  return { kind: 'path', d: `M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}`, fill: null, stroke: { colour, width, ...(dash ? { dash } : {}) } };
}

/** A closed polygon's path. */
export function polygon(points: readonly (readonly [number, number])[]): string {
  return `${points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${short(x)} ${short(y)}`).join('')}Z`;
}

/** A hundredth of a unit is enough for any printer. */
export function short(x: number): string {
  const text = x.toFixed(2);
  return text.includes('.') ? text.replace(/\.?0+$/, '').replace(/^-0$/, '0') : text;
}
