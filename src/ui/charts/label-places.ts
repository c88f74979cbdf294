/**
 * Where the names of points go so that none covers another, a point or the line: the first free place of a few around each
 * point, in a fixed order. A name without any free place is left out: hovering the point says it, and so does the table.
 */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface LabelledPoint {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** Of the text, px. */
  readonly width: number;
}

export interface LabelPlace {
  readonly x: number;
  /** Baseline. */
  readonly y: number;
  readonly anchor: 'start' | 'middle' | 'end';
}

/** Of a label of 11 px. */
const HEIGHT = 13;
/** From the box's top to the baseline. */
const ASCENT = 10;
const GAP = 3;
const SHIFTS = [0, -7, 7, -13, 13] as const;

/** Px that a label of 11 px takes at most, for want of a browser to ask. */
export function labelWidth(text: string): number {
  return 6.7 * text.length;
}

/** Places by id; points that come first have the better ones. `taken` stays free of text, and so do the points themselves. */
export function placeLabels(points: readonly LabelledPoint[], taken: readonly Box[], frame: Box): ReadonlyMap<string, LabelPlace> {
  const used = [...taken];
  const places = new Map<string, LabelPlace>();
  for (const point of points) {
    for (const [place, box] of candidates(point)) {
      if (!isInside(box, frame) || used.some((other) => overlap(box, other))) continue;
      used.push(box);
      places.set(point.id, place);
      break;
    }
  }
  return places;
}

function candidates({ x, y, radius, width }: LabelledPoint): [LabelPlace, Box][] {
  const side = radius + GAP;
  const place = (left: number, middle: number, anchor: LabelPlace['anchor']): [LabelPlace, Box] => {
    const top = middle - HEIGHT / 2;
    return [{ x: anchor === 'start' ? left : anchor === 'end' ? left + width : left + width / 2, y: top + ASCENT, anchor }, { x: left, y: top, width, height: HEIGHT }];
  };
  return [
    ...SHIFTS.flatMap((shift) => [place(x + side, y + shift, 'start'), place(x - side - width, y + shift, 'end')]),
    ...[-1, 1].map((way) => place(x - width / 2, y + way * (side + HEIGHT / 2), 'middle')),
  ];
}

export const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
const isInside = (box: Box, frame: Box): boolean => box.x >= frame.x && box.y >= frame.y && box.x + box.width <= frame.x + frame.width && box.y + box.height <= frame.y + frame.height;
