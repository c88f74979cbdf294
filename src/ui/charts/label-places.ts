/**
 * Where the names of points go so that none covers another, a point or the frame: the first free place of a few around
 * each point, in a fixed order, so that the same plans give the same picture. Lengths are those of what is drawn on, px of
 * the page or units of a sheet. A name without any free place is left out: the point itself or a key then says it.
 */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** How large a line of text is, and where around its point it may stand. */
export interface LabelMetrics {
  readonly height: number;
  /** From the box's top to the baseline. */
  readonly ascent: number;
  /** Between point and text: the first on every side, any other beside the point only. */
  readonly gaps: readonly [number, ...number[]];
  /** How far up or down a text beside its point may move, best first. */
  readonly shifts: readonly number[];
}

export interface LabelledPoint {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** Of the text. */
  readonly width: number;
}

export interface LabelPlace {
  readonly x: number;
  /** Baseline. */
  readonly y: number;
  /** Middle of its box. */
  readonly middle: number;
  readonly anchor: 'start' | 'middle' | 'end';
}

/** What stays free of text. */
export interface LabelRoom {
  readonly frame: Box;
  readonly taken: readonly Box[];
  /** Points of lines: no text covers one, unless `mayCover` where there is no other place. */
  readonly lines?: readonly { readonly x: number; readonly y: number }[];
  readonly mayCover?: boolean;
}

/** Places by id; points that come first have the better ones. */
export function placeLabels(points: readonly LabelledPoint[], { frame, taken, lines = [], mayCover = false }: LabelRoom, metrics: LabelMetrics): ReadonlyMap<string, LabelPlace> {
  const used = [...taken];
  const places = new Map<string, LabelPlace>();
  for (const point of points) {
    let best: Candidate | undefined;
    for (const candidate of candidates(point, metrics)) {
      if (!isInside(candidate.box, frame) || used.some((other) => overlap(candidate.box, other))) continue;
      if (!lines.some((dot) => isOn(dot, candidate.box))) {
        best = candidate;
        break;
      }
      if (mayCover) best ??= candidate;
    }
    if (best === undefined) continue;
    used.push(best.box);
    places.set(point.id, best.place);
  }
  return places;
}

interface Candidate {
  readonly place: LabelPlace;
  readonly box: Box;
}

/** Beside the point, then above and below it, then farther to its sides. */
function candidates({ x, y, radius, width }: LabelledPoint, { height, ascent, gaps: [gap, ...farther], shifts }: LabelMetrics): Candidate[] {
  const at = (textX: number, middle: number, anchor: LabelPlace['anchor']): Candidate => {
    const top = middle - height / 2;
    return { place: { x: textX, y: top + ascent, middle, anchor }, box: { x: textX - { start: 0, middle: width / 2, end: width }[anchor], y: top, width, height } };
  };
  const beside = (away: number): Candidate[] => shifts.flatMap((shift) => [at(x + radius + away, y + shift, 'start'), at(x - radius - away, y + shift, 'end')]);
  return [...beside(gap), ...[-1, 1].map((side) => at(x, y + side * (radius + gap + height / 2), 'middle')), ...farther.flatMap(beside)];
}

/** Whether two boxes share more than an edge. */
export const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
const isOn = (dot: { readonly x: number; readonly y: number }, { x, y, width, height }: Box): boolean => x < dot.x && dot.x < x + width && y < dot.y && dot.y < y + height;
const isInside = (box: Box, frame: Box): boolean => box.x >= frame.x && box.y >= frame.y && box.x + box.width <= frame.x + frame.width && box.y + box.height <= frame.y + frame.height;
