/**
 * Patterns as path data, cut to a box by arithmetic: no `<pattern>`, no clip path, nothing that a converter may drop.
 * Lines lie on one lattice of the sheet, so that they run on from cell to cell.
 */
import { short } from './drawing';

/** Units. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const inner = ({ x, y, width, height }: Box, inset: number): Box => ({ x: x + inset, y: y + inset, width: Math.max(0, width - 2 * inset), height: Math.max(0, height - 2 * inset) });

/** A rectangle's outline, `inset` inside the box. */
export function frame(box: Box, inset: number): string {
  const { x, y, width, height } = inner(box, inset);
  return width > 0 && height > 0 ? `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z` : '';
}

/** Lines at 45 degrees, rising, `step` apart along x. */
export function hatchLines({ x, y, width, height }: Box, step = 3): string {
  let d = '';
  for (let sum = Math.ceil((x + y) / step) * step; sum < x + y + width + height; sum += step) {
    // On the line x + y = sum.
    const [left, right] = [Math.max(x, sum - y - height), Math.min(x + width, sum - y)];
    if (right - left > 0.2) d += `M${short(left)} ${short(sum - left)}L${short(right)} ${short(sum - right)}`;
  }
  return d;
}

/** Both diagonals. */
export function crossLines(box: Box, step = 4): string {
  const { x, y, width, height } = box;
  let d = hatchLines(box, step);
  for (let difference = Math.ceil((x - y - height) / step) * step; difference < x + width - y; difference += step) {
    const [left, right] = [Math.max(x, difference + y), Math.min(x + width, difference + y + height)];
    if (right - left > 0.2) d += `M${short(left)} ${short(left - difference)}L${short(right)} ${short(right - difference)}`;
  }
  return d;
}

/** Small squares, inside the box only. */
export function dots({ x, y, width, height }: Box, step = 3): string {
  const SIDE = 0.8;
  let d = '';
  for (let top = y + 1.1; top + SIDE < y + height; top += step) {
    for (let left = x + 1.1; left + SIDE < x + width; left += step) d += `M${short(left)} ${short(top)}h${SIDE}v${SIDE}h-${SIDE}Z`;
  }
  return d;
}

/** Dashes along the lower edge. */
export function stripes({ x, y, width, height }: Box, step = 3): string {
  let d = '';
  for (let left = x + 0.5; left + 1.2 < x + width; left += step) d += `M${short(left)} ${short(y + height - 1.4)}h1.2v1h-1.2Z`;
  return d;
}
