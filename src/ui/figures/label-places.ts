/**
 * Where the names of points go so that none covers another, a point or the frame: the first free place of a few around
 * each point, in a fixed order, so that the same plans give the same picture.
 */
import { SMALL, type Anchor } from './drawing';
import type { Box } from './patterns';
import { textWidth } from './text-width';

export interface Named {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly text: string;
  readonly bold: boolean;
}

export interface LabelPlace {
  readonly x: number;
  /** Middle of its capitals. */
  readonly middle: number;
  readonly anchor: Anchor;
}

const HEIGHT = 8;
const GAP = 2;
/** How far up or down a name beside its point may move. */
const SHIFTS = [0, -4, 4, -8, 8, -12, 12] as const;

/**
 * Places by id, in the order of the points: those before have the better ones. `taken`: boxes that stay free of text;
 * `drawn`: points of lines that no name covers, unless `mayCover` where there is no other place. A name without any place
 * is absent.
 */
export function placeLabels(points: readonly Named[], taken: readonly Box[], drawn: readonly { readonly x: number; readonly y: number }[], frame: Box, mayCover = false): ReadonlyMap<string, LabelPlace> {
  const used: Box[] = [...taken];
  const places = new Map<string, LabelPlace>();
  for (const point of points) {
    const width = textWidth(point.text, SMALL, point.bold);
    const free = candidates(point).map((place) => ({ place, box: boxOf(place, width) })).filter(({ box }) => isInside(box, frame) && !used.some((other) => overlap(box, other)));
    const best = free.find(({ box }) => !drawn.some((dot) => overlap(box, { ...dot, width: 0, height: 0 }))) ?? (mayCover ? free[0] : undefined);
    if (best === undefined) continue;
    used.push(best.box);
    places.set(point.id, best.place);
  }
  return places;
}

/** Beside the point, then above and below it, then a little farther to its sides. */
function candidates({ x, y, radius }: Named): LabelPlace[] {
  const beside = (gap: number): LabelPlace[] => SHIFTS.flatMap((shift): LabelPlace[] => [{ x: x + radius + gap, middle: y + shift, anchor: 'start' }, { x: x - radius - gap, middle: y + shift, anchor: 'end' }]);
  return [...beside(GAP), ...[-1, 1].map((side): LabelPlace => ({ x, middle: y + side * (radius + GAP + HEIGHT / 2), anchor: 'middle' })), ...beside(GAP + 7)];
}

function boxOf({ x, middle, anchor }: LabelPlace, width: number): Box {
  return { x: anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2, y: middle - HEIGHT / 2, width, height: HEIGHT };
}

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
const isInside = (box: Box, frame: Box): boolean => box.x >= frame.x && box.y >= frame.y && box.x + box.width <= frame.x + frame.width && box.y + box.height <= frame.y + frame.height;
