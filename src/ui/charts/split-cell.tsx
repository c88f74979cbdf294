/** A cell of the difference view whose precision differs: a diagonal, A's side at the upper left, B's at the lower right (ux.md 3.9). */
import type { HalfCell, HeatCell } from './heatmap';
import type { Box } from './label-places';
import { Triangle } from './heat-cell';
import { angleColour, inkOn, type ColourMap } from './scales';

interface SplitProps {
  readonly cell: HeatCell;
  readonly halves: readonly [HalfCell, HalfCell];
  readonly box: Box;
  readonly colourMap: ColourMap;
}

export function SplitCellShape({ cell, halves: [a, b], box: { x, y, width, height }, colourMap }: SplitProps) {
  const [right, bottom] = [x + width, y + height];
  const inset = Math.min(8, width / 4);
  return (
    <g>
      <Half half={a} points={`${x},${y} ${right},${y} ${x},${bottom}`} at={{ x: x + inset, y: y + Math.min(11, height / 2) }} colourMap={colourMap} />
      <Half half={b} points={`${right},${y} ${right},${bottom} ${x},${bottom}`} at={{ x: right - inset, y: bottom - 3 }} colourMap={colourMap} />
      <line x1={x} y1={bottom} x2={right} y2={y} className="split-line-back" />
      <line x1={x} y1={bottom} x2={right} y2={y} className="split-line" />
      <rect x={x + 0.5} y={y + 0.5} width={width - 1} height={height - 1} rx="1.5" className="split-frame" />
      {cell.locked ? <circle cx={x + width / 2 + 9} cy={bottom - 4.5} r="2.8" className="heat-lock" /> : null}
      {cell.unstable ? <Triangle x={x + width / 2} y={bottom - 4} /> : null}
    </g>
  );
}

interface HalfProps {
  readonly half: HalfCell;
  readonly points: string;
  /** Middle and baseline of its letter. */
  readonly at: { readonly x: number; readonly y: number };
  readonly colourMap: ColourMap;
}

function Half({ half, points, at, colourMap }: HalfProps) {
  const fill = half.angleDeg === null ? null : angleColour(colourMap, half.angleDeg);
  const ink = fill === null ? undefined : inkOn(fill);
  return (
    <>
      <polygon points={points} fill={fill ?? undefined} className={fill === null ? 'split-empty' : undefined} />
      {fill === null && half.mark !== 'B' ? <polygon points={points} fill="url(#heat-missing)" /> : null}
      <text x={at.x} y={at.y} textAnchor="middle" fill={ink} className={`split-mark${half.mark === 'B' ? ' heat-mark-high' : ''}${ink === undefined ? ' heat-plain' : ''}`}>{half.mark}</text>
    </>
  );
}
