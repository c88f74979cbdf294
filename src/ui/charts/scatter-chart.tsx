/**
 * Local error against relative shift of the gradient, both log, a point a site; the pass is shape and colour. Pairs of
 * similar local error whose shifts differ more than tenfold are joined by a line. A function of its props.
 */
import { scaleLog, symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle, type SymbolType } from 'd3';
import type { TellingPair } from './pairs';
import { logDomain, logTicks, tickLabel } from './scales';

export interface ScatterPoint {
  readonly id: string;
  readonly name: string;
  readonly pass: 'fprop' | 'dgrad' | 'wgrad' | 'out';
  readonly localError: number;
  readonly relativeShift: number;
  /** Clean angle. */
  readonly angleDeg: number;
}

export interface ScatterChartProps {
  readonly width: number;
  readonly height: number;
  readonly points: readonly ScatterPoint[];
  readonly pairs: readonly TellingPair[];
  readonly highlighted: string | null;
  readonly onHover?: (id: string | null) => void;
  readonly onSelect?: (id: string) => void;
}

export const PASS_SHAPES: Readonly<Record<ScatterPoint['pass'], { readonly type: SymbolType; readonly name: string }>> = {
  fprop: { type: symbolCircle, name: 'forward' },
  dgrad: { type: symbolTriangle, name: 'input gradient' },
  wgrad: { type: symbolDiamond, name: 'weight gradient' },
  out: { type: symbolSquare, name: 'output' },
};
const MARGIN = { top: 16, right: 16, bottom: 34, left: 58 };

export function ScatterChart({ width, height, points, pairs, highlighted, onHover, onSelect }: ScatterChartProps) {
  const inner = { width: Math.max(10, width - MARGIN.left - MARGIN.right), height: Math.max(10, height - MARGIN.top - MARGIN.bottom) };
  const domainX = logDomain(points.map((p) => p.localError));
  const domainY = logDomain(points.map((p) => p.angleDeg));
  const x = scaleLog(domainX, [0, inner.width]).clamp(true);
  const y = scaleLog(domainY, [inner.height, 0]).clamp(true);
  const byId = new Map(points.map((p) => [p.id, p]));
  return (
    <svg width={width} height={height} className="chart" role="img" aria-label={`Local error against bending, ${points.length} sites`}>
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
        {points.map((p) => (
          <path
            key={p.id}
            d={symbol(PASS_SHAPES[p.pass].type, p.id === highlighted ? 110 : 42)() ?? ''}
            transform={`translate(${x(p.localError)},${y(p.angleDeg)})`}
            className={`point ${p.pass}${p.id === highlighted ? ' highlighted' : ''}`}
            onPointerEnter={() => onHover?.(p.id)}
            onPointerLeave={() => onHover?.(null)}
            onClick={() => onSelect?.(p.id)}
          >
            <title>{p.name}</title>
          </path>
        ))}
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
