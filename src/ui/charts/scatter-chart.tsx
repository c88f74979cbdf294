/**
 * Local error against relative shift of the gradient, both log, a point a site; the pass is shape and colour. Pairs of
 * similar local error whose shifts differ more than tenfold are joined by a line. A function of its props.
 */
import { scaleLog } from 'd3';
import { useMemo } from 'react';
import type { TellingPair } from './pairs';
import { logDomain, logTicks, tickLabel } from './scales';
import { ScatterPoints, type ScatterPoint } from './scatter-points';

export interface ScatterChartProps {
  readonly width: number;
  readonly height: number;
  readonly points: readonly ScatterPoint[];
  readonly pairs: readonly TellingPair[];
  readonly highlighted: string | null;
  /** The site that was chosen. */
  readonly selected: string | null;
  /** A point has the pointer or the focus. */
  onHover(id: string | null): void;
  onSelect(id: string): void;
}

const MARGIN = { top: 16, right: 16, bottom: 34, left: 58 };

export function ScatterChart({ width, height, points, pairs, highlighted, selected, onHover, onSelect }: ScatterChartProps) {
  const inner = { width: Math.max(10, width - MARGIN.left - MARGIN.right), height: Math.max(10, height - MARGIN.top - MARGIN.bottom) };
  const domainX = useMemo(() => logDomain(points.map((p) => p.localError)), [points]);
  const domainY = useMemo(() => logDomain(points.map((p) => p.angleDeg)), [points]);
  const x = useMemo(() => scaleLog(domainX, [0, inner.width]).clamp(true), [domainX, inner.width]);
  const y = useMemo(() => scaleLog(domainY, [inner.height, 0]).clamp(true), [domainY, inner.height]);
  const byId = useMemo(() => new Map(points.map((p) => [p.id, p])), [points]);
  return (
    <svg width={width} height={height} className="chart" role="group" aria-label={`Local error against bending, ${points.length} sites`}>
      <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
        {logTicks(domainY, 2).map((tick) => (
          <g key={tick.value} transform={`translate(0,${y(tick.value)})`}>
            <line x2={inner.width} className={tick.major ? 'grid-line' : 'grid-line minor'} />
            <text x={-8} y={4} textAnchor="end" className="tick">{tickLabel(tick.value)}</text>
          </g>
        ))}
        {logTicks(domainX, 2).map((tick) => (
          <g key={tick.value} transform={`translate(${x(tick.value)},${inner.height})`}>
            <line y1={-inner.height} className={tick.major ? 'grid-line' : 'grid-line minor'} />
            <text y={17} textAnchor="middle" className="tick">{tickLabel(tick.value)}</text>
          </g>
        ))}
        <line x2={inner.width} y1={inner.height} y2={inner.height} className="axis" />
        <line y2={inner.height} className="axis" />
        <text x={inner.width} y={inner.height + 31} textAnchor="end" className="axis-title">local error, |q − x|² / |x|² (log)</text>
        <text x={-MARGIN.left + 2} y={-5} className="axis-title">bending, deg (log)</text>
        {pairs.map((pair) => {
          const a = byId.get(pair.strong);
          const b = byId.get(pair.weak);
          if (!a || !b) return null;
          return <line key={pair.strong} className="pair" x1={x(a.localError)} y1={y(a.angleDeg)} x2={x(b.localError)} y2={y(b.angleDeg)} />;
        })}
        <ScatterPoints points={points} x={x} y={y} highlighted={highlighted} selected={selected} onHover={onHover} onSelect={onSelect} />
        {pairs.map((pair, i) => {
          const a = byId.get(pair.strong);
          const b = byId.get(pair.weak);
          if (!a || !b) return null;
          // Not all in the middle, so that the numbers of neighbouring pairs stay apart.
          const along = 0.3 + 0.15 * i;
          return (
            <g key={pair.strong} className="pair-number" transform={`translate(${x(a.localError) + along * (x(b.localError) - x(a.localError))},${y(a.angleDeg) + along * (y(b.angleDeg) - y(a.angleDeg))})`}>
              <circle r="7.5" />
              <text y="4" textAnchor="middle">{i + 1}</text>
            </g>
          );
        })}
      </g>
    </svg>
  );
}
