/** The sites of the scatter as points: buttons that choose a site, by pointer and by key. Drawn anew only where they change. */
import { symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle, type SymbolType } from 'd3';
import { memo, useMemo } from 'react';
import { significant } from '../../base/units';
import { usePointKeys } from './use-point-keys';

export interface ScatterPoint {
  readonly id: string;
  readonly name: string;
  readonly pass: 'fprop' | 'dgrad' | 'wgrad' | 'out';
  readonly localError: number;
  readonly relativeShift: number;
  /** Clean angle. */
  readonly angleDeg: number;
}

export const PASS_SHAPES: Readonly<Record<ScatterPoint['pass'], { readonly type: SymbolType; readonly name: string }>> = {
  fprop: { type: symbolCircle, name: 'forward' },
  dgrad: { type: symbolTriangle, name: 'input gradient' },
  wgrad: { type: symbolDiamond, name: 'weight gradient' },
  out: { type: symbolSquare, name: 'output' },
};
/** Areas, px². */
const AREA = { plain: 42, highlighted: 110 };

/** What its row of the table twin says. */
export function pointWords({ name, localError, angleDeg, relativeShift }: ScatterPoint): string {
  return `${name}: local error ${significant(localError)}, bending ${significant(angleDeg)} degrees, relative shift ${significant(relativeShift)}`;
}

interface PointsProps {
  readonly points: readonly ScatterPoint[];
  readonly x: (localError: number) => number;
  readonly y: (angleDeg: number) => number;
  readonly highlighted: string | null;
  readonly selected: string | null;
  onHover(id: string | null): void;
  onSelect(id: string): void;
}

export const ScatterPoints = memo(function ScatterPoints({ points, x, y, highlighted, selected, onHover, onSelect }: PointsProps) {
  // Arrows go by local error, as the points lie from left to right.
  const ids = useMemo(() => points.toSorted((a, b) => a.localError - b.localError).map(({ id }) => id), [points]);
  const keysOf = usePointKeys(ids, onSelect, onHover);
  return points.map((point) => (
    <path
      key={point.id}
      role="button" aria-label={pointWords(point)} aria-pressed={point.id === selected} {...keysOf(point.id)}
      d={symbol(PASS_SHAPES[point.pass].type, point.id === highlighted ? AREA.highlighted : AREA.plain)() ?? ''}
      transform={`translate(${x(point.localError)},${y(point.angleDeg)})`}
      className={`point ${point.pass}${point.id === highlighted ? ' highlighted' : ''}`}
      onPointerEnter={() => onHover(point.id)}
      onPointerLeave={() => onHover(null)}
      onClick={() => onSelect(point.id)}
    >
      <title>{point.name}</title>
    </path>
  ));
});
