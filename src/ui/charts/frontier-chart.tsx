/**
 * Cost against bending: the solver's frontier as a line, plans as points. Hollow is predicted, filled is measured, and a
 * hair joins the two of one plan. x is linear in percent of HP GEMM work, y is log degrees. A function of its props.
 */
import { line, scaleLinear, scaleLog } from 'd3';
import { logDomain, logTicks, tickLabel } from './scales';

export interface ChartPlan {
  readonly id: string;
  readonly name: string;
  /** Share of HP GEMM work, 0..1. */
  readonly cost: number;
  readonly predictedDeg: number | null;
  readonly measuredDeg: number | null;
  readonly current: boolean;
}

export interface FrontierChartProps {
  readonly width: number;
  readonly height: number;
  readonly frontier: readonly { readonly cost: number; readonly angleDeg: number }[];
  readonly plans: readonly ChartPlan[];
  readonly onHover?: (id: string | null) => void;
}

const MARGIN = { top: 14, right: 118, bottom: 34, left: 52 };
/** Degrees of the log axis's floor: a plan that bends by nothing sits on the axis, not below it. */
const LEAST_DEG = 0.01;

export function FrontierChart({ width, height, frontier, plans, onHover }: FrontierChartProps) {
  const inner = { width: Math.max(10, width - MARGIN.left - MARGIN.right), height: Math.max(10, height - MARGIN.top - MARGIN.bottom) };
  const angles = [...frontier.map((p) => p.angleDeg), ...plans.flatMap((p) => [p.predictedDeg, p.measuredDeg])].filter((a): a is number => a !== null && a > LEAST_DEG);
  const domain = logDomain(angles);
  const x = scaleLinear([0, 1], [0, inner.width]);
  const y = scaleLog(domain, [inner.height, 0]).clamp(true);
  const at = (angleDeg: number): number => y(Math.max(angleDeg, domain[0]));
  const path = line<{ cost: number; angleDeg: number }>().x((p) => x(p.cost)).y((p) => at(p.angleDeg))([...frontier]);
  const labels = placeLabels(plans.map((p) => ({ id: p.id, y: at(p.measuredDeg ?? p.predictedDeg ?? domain[0]), x: x(p.cost) })), inner.height);
  return (
    <svg width={width} height={height} className="chart" role="img" aria-label={`Frontier: bending against HP GEMM work, ${plans.length} plans`}>
      <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
        {logTicks(domain, 2).map((tick) => (
          <g key={tick.value} transform={`translate(0,${y(tick.value)})`}>
            <line x2={inner.width} className={tick.major ? 'grid-line' : 'grid-line minor'} />
            <text x={-8} y={4} textAnchor="end" className="tick">{tickLabel(tick.value)}</text>
          </g>
        ))}
        {[0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => (
          <g key={tick} transform={`translate(${x(tick)},${inner.height})`}>
            <line y2={4} className="axis" />
            <text y={17} textAnchor="middle" className="tick">{Math.round(100 * tick)}</text>
          </g>
        ))}
        <line x2={inner.width} y1={inner.height} y2={inner.height} className="axis" />
        <text x={inner.width} y={inner.height + 31} textAnchor="end" className="axis-title">HP GEMM work, %</text>
        <text x={-MARGIN.left + 2} y={-4} className="axis-title">bending, deg (log)</text>
        {path !== null && <path d={path} className="frontier-line" />}
        {plans.map((plan) => {
          const px = x(plan.cost);
          const label = labels.get(plan.id);
          return (
            <g key={plan.id} className={plan.current ? 'plan current' : 'plan'} onPointerEnter={() => onHover?.(plan.id)} onPointerLeave={() => onHover?.(null)}>
              {plan.predictedDeg !== null && plan.measuredDeg !== null && <line x1={px} x2={px} y1={at(plan.predictedDeg)} y2={at(plan.measuredDeg)} className="hair" />}
              {plan.predictedDeg !== null && <circle cx={px} cy={at(plan.predictedDeg)} r={plan.current ? 6 : 4.5} className="predicted" />}
              {plan.measuredDeg !== null && <circle cx={px} cy={at(plan.measuredDeg)} r={plan.current ? 4 : 3} className="measured" />}
              {label !== undefined && <text x={px + 10} y={label + 4} className="plan-label">{plan.name}</text>}
            </g>
          );
        })}
      </g>
    </svg>
  );
}

/** Label heights that keep 13 px apart where points are near each other in x. */
function placeLabels(points: readonly { id: string; x: number; y: number }[], height: number): Map<string, number> {
  const placed: { x: number; y: number }[] = [];
  const out = new Map<string, number>();
  for (const point of points.toSorted((a, b) => a.y - b.y)) {
    let { y } = point;
    for (const other of placed) if (Math.abs(other.x - point.x) < 110 && Math.abs(other.y - y) < 13) y = other.y + 13;
    placed.push({ x: point.x, y });
    out.set(point.id, Math.min(y, height - 4));
  }
  return out;
}
