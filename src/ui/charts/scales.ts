/**
 * Scales every chart shares: the angle scale (log10 of degrees, fixed domain, so that a colour means the same angle in
 * every view, ux.md 3.2), its colour maps, log ticks and histogram bins. Pure arithmetic; d3 for colour only.
 */
import { interpolateCividis, interpolateRgb, interpolateViridis, rgb } from 'd3';
import { significant } from '../../base/units';

/** Degrees. Below and above, the end colours. */
export const ANGLE_DOMAIN = [0.01, 90] as const;

export const COLOUR_MAPS = {
  cividis: { name: 'Cividis', at: interpolateCividis },
  viridis: { name: 'Viridis', at: interpolateViridis },
  // Dark is more, as on paper.
  grey: { name: 'Grey (print)', at: interpolateRgb('#f2f2f2', '#1a1a1a') },
} as const;
export type ColourMap = keyof typeof COLOUR_MAPS;
export const COLOUR_MAP_NAMES = Object.keys(COLOUR_MAPS) as readonly ColourMap[];

/** Position of x in [low, high] on a log scale, clamped to 0..1; x <= 0 gives 0. */
export function logPosition(x: number, [low, high]: readonly [number, number]): number {
  if (!(x > 0)) return 0;
  return Math.min(1, Math.max(0, Math.log(x / low) / Math.log(high / low)));
}

/** The inverse of logPosition. */
export function logValue(position: number, [low, high]: readonly [number, number]): number {
  return low * (high / low) ** Math.min(1, Math.max(0, position));
}

/** Fill of a cell that bends by `angleDeg`, `#rrggbb`. */
export function angleColour(map: ColourMap, angleDeg: number): string {
  return rgb(COLOUR_MAPS[map].at(logPosition(angleDeg, ANGLE_DOMAIN))).formatHex();
}

/** Black or white, whichever contrasts more with a fill: at least 4.58 : 1 on any colour (WCAG relative luminance). */
export function inkOn(fill: string): '#000000' | '#ffffff' {
  const { r, g, b } = rgb(fill);
  const [R, G, B] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  const luminance = 0.2126 * R + 0.7152 * G + 0.0722 * B;
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff';
}

export interface Tick {
  readonly value: number;
  /** Decades are major; 2 and 5 between them, when there is room, minor. */
  readonly major: boolean;
}

/** Ticks of a log axis inside [low, high]: decades, and 2 x and 5 x when the axis spans under `minorBelow` decades. */
export function logTicks([low, high]: readonly [number, number], minorBelow = 3): Tick[] {
  if (!(low > 0 && high >= low)) return [];
  const minor = Math.log10(high / low) < minorBelow;
  const ticks: Tick[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (const m of minor ? [1, 2, 5] : [1]) {
      // Through text, so that 10^-2 times 5 is 0.05 and not 0.05000000000000001.
      const value = Number(`${m}e${e}`);
      if (value >= low * (1 - 1e-12) && value <= high * (1 + 1e-12)) ticks.push({ value, major: m === 1 });
    }
  }
  return ticks;
}

/** A tick in as few characters as it needs. */
export function tickLabel(value: number): string {
  return String(Number(significant(value, 2)));
}

/** The smallest [low, high] of the form 1, 2 or 5 times 10^e around positive values; [1, 10] when there are none. */
export function logDomain(values: readonly number[]): readonly [number, number] {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return [1, 10];
  const low = Math.min(...positive);
  const high = Math.max(...positive);
  const around = logTicks([low / 10, high * 10], Infinity).map((tick) => tick.value);
  const below = around.filter((value) => value < low).at(-1) ?? low;
  const above = around.find((value) => value > high) ?? high;
  return [below, above];
}

export interface Bin {
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/** Counts of values in `count` bins of equal width in log; values outside go into the end bins, as their colours do. */
export function logHistogram(values: readonly number[], domain: readonly [number, number], count: number): Bin[] {
  const counts = new Array<number>(count).fill(0);
  for (const value of values) {
    const bin = Math.min(count - 1, Math.floor(logPosition(value, domain) * count));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((n, i) => ({ low: logValue(i / count, domain), high: logValue((i + 1) / count, domain), count: n }));
}
