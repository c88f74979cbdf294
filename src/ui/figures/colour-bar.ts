/**
 * The legend of the fill: the ramp on its fixed domain with ticks in degrees, and where the noise floors lie on it. Steps
 * of flat colour, each reaching to the ramp's end below the next one, so that no renderer shows seams between them.
 */
import { ANGLE_DOMAIN, angleColour, logPosition, logTicks, logValue, tickLabel, type ColourMap } from '../charts/scales';
import { label, segment, SMALL, NORMAL, short, type Inks, type Shape } from './drawing';
import type { HeatInput } from './figure-types';
import { textWidth, wrapText } from './text-width';

const STEPS = 120;
const RAMP_HEIGHT = 7;
const LINE = 10;

export interface ColourBar {
  readonly shapes: readonly Shape[];
  readonly height: number;
  /** Whether a noise floor is marked. */
  readonly hasFloor: boolean;
}

/** Title, floors, ramp and ticks from `top` down. */
export function colourBar(title: string, floors: HeatInput['floors'], map: ColourMap, { left, right, top, rampWidth }: { readonly left: number; readonly right: number; readonly top: number; readonly rampWidth: number }, inks: Inks): ColourBar {
  const shapes: Shape[] = [];
  const titleLines = wrapText(`${title}, deg (log scale)`, NORMAL, right - left);
  titleLines.forEach((text, i) => shapes.push(label(left, top + (i + 0.5) * LINE, text, inks.ink, { size: NORMAL })));
  const marks = floorMarks(floors);
  const rampTop = top + titleLines.length * LINE + (marks.length > 0 ? 9 : 1);
  const at = (deg: number): number => left + logPosition(deg, ANGLE_DOMAIN) * rampWidth;
  for (let i = 0; i < STEPS; i++) {
    const x = left + (i / STEPS) * rampWidth;
    shapes.push({ kind: 'rect', x, y: rampTop, width: left + rampWidth - x, height: RAMP_HEIGHT, fill: angleColour(map, logValue((i + 0.5) / STEPS, ANGLE_DOMAIN)) });
  }
  shapes.push({ kind: 'rect', x: left, y: rampTop, width: rampWidth, height: RAMP_HEIGHT, fill: null, stroke: { colour: inks.strong, width: 0.4 } });
  const bottom = rampTop + RAMP_HEIGHT;
  const ticks = [...logTicks(ANGLE_DOMAIN).map(({ value }) => value), ANGLE_DOMAIN[1]];
  ticks.forEach((deg, i) => {
    const text = i === ticks.length - 1 ? `${tickLabel(deg)} deg` : tickLabel(deg);
    shapes.push(segment(at(deg), bottom, at(deg), bottom + 2, inks.strong, 0.5));
    // The last label ends at the ramp's end if nothing is right of it, and clears the decade before it.
    const isRoomy = at(deg) + textWidth(text, SMALL) / 2 <= right;
    shapes.push(i === 0 ? label(at(deg), bottom + 7, text, inks.soft) : isRoomy && i < ticks.length - 1 ? label(at(deg), bottom + 7, text, inks.soft, { anchor: 'middle' }) : label(Math.min(right, at(deg) + 6), bottom + 7, text, inks.soft, { anchor: i === ticks.length - 1 && at(deg) + textWidth(text, SMALL) < right ? 'middle' : 'end' }));
  });
  for (const mark of marks) {
    const x = at(mark.deg);
    shapes.push({ kind: 'path', d: `M${short(x)} ${short(rampTop + RAMP_HEIGHT)}V${short(rampTop - 3)}`, fill: null, stroke: { colour: inks.ink, width: 0.7 } });
    const room = textWidth(mark.name, SMALL);
    const anchor = mark.side === 'end' && x - room - 1 >= left ? 'end' : 'start';
    shapes.push(label(anchor === 'end' ? x - 1.5 : x + 1.5, rampTop - 4.5, mark.name, inks.ink, { anchor }));
  }
  return { shapes, height: bottom + 12 - top, hasFloor: marks.length > 0 };
}

/** The lower floor's name stands left of its mark, the higher one's right of it. */
function floorMarks({ forwardDeg, backwardDeg }: HeatInput['floors']): { readonly name: string; readonly deg: number; readonly side: 'start' | 'end' }[] {
  const marks = [{ name: 'fw', deg: forwardDeg }, { name: 'bw', deg: backwardDeg }].flatMap(({ name, deg }) => (deg !== null && deg > 0 ? [{ name, deg }] : []));
  const highest = Math.max(...marks.map(({ deg }) => deg));
  return marks.map((mark) => ({ ...mark, side: mark.deg === highest ? 'start' : 'end' }));
}
