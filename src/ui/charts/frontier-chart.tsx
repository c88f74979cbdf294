/**
 * Cost against bending: the solver's frontier as a line, plans as points. Hollow is predicted, filled is measured, and a
 * hair joins the two of one plan. x is linear in percent of the recipe's cost, y is log degrees. A function of its props.
 */
import { curveStepAfter, line, scaleLinear, scaleLog } from 'd3';
import type { PointerEvent } from 'react';
import { planLabels } from './plan-labels';
import { logDomain, logTicks, tickLabel } from './scales';

export interface ChartPlan {
  readonly id: string;
  readonly name: string;
  /** Share of the recipe's cost in BF16, 0..1. */
  readonly cost: number;
  readonly predictedDeg: number | null;
  readonly measuredDeg: number | null;
  readonly current: boolean;
}

export interface FrontierChartProps {
  readonly width: number;
  readonly height: number;
  /** "HP GEMM work", "HP activation cache". */
  readonly costName: string;
  readonly frontier: readonly { readonly cost: number; readonly angleDeg: number }[];
  readonly plans: readonly ChartPlan[];
  readonly onHover?: (id: string | null) => void;
  /** The hand moves the plan along the line: cost 0..1 under the pointer. Its key twin is the budget slider. */
  readonly onDrag?: (cost: number) => void;
  readonly onDrop?: () => void;
  readonly onCancel?: () => void;
}

const MARGIN = { top: 24, right: 150, bottom: 34, left: 52 };
/** Degrees of the log axis's floor: a plan that bends by nothing sits on the axis, not below it. */
const LEAST_DEG = 0.01;

export function FrontierChart({ width, height, costName, frontier, plans: all, onHover, onDrag, onDrop, onCancel }: FrontierChartProps) {
  // A plan that is neither predicted nor measured has no place on the angle axis.
  const plans = all.filter((plan) => plan.predictedDeg !== null || plan.measuredDeg !== null);
  const inner = { width: Math.max(10, width - MARGIN.left - MARGIN.right), height: Math.max(10, height - MARGIN.top - MARGIN.bottom) };
  const angles = [...frontier.map((p) => p.angleDeg), ...plans.flatMap((p) => [p.predictedDeg, p.measuredDeg])].filter((a): a is number => a !== null && a > LEAST_DEG);
  const domain = logDomain(angles);
  const x = scaleLinear([0, 1], [0, inner.width]);
  const y = scaleLog(domain, [inner.height, 0]).clamp(true);
  const at = (angleDeg: number): number => y(Math.max(angleDeg, domain[0]));
  // Between two plans the cheaper one is the best there is: a staircase.
  const path = line<{ cost: number; angleDeg: number }>().x((p) => x(p.cost)).y((p) => at(p.angleDeg)).curve(curveStepAfter)([...frontier]);
  const costAt = (event: PointerEvent<SVGSVGElement>): number => Math.min(1, Math.max(0, x.invert(event.clientX - event.currentTarget.getBoundingClientRect().left - MARGIN.left)));
  const names = planLabels(plans, domain[0]);
  const labels = placeLabels(plans.filter((p) => names.has(p.id)).map((p) => ({ id: p.id, y: at(p.measuredDeg ?? p.predictedDeg ?? domain[0]), x: x(p.cost) })), inner.height);
  return (
    <svg
      width={width} height={height} className={onDrag ? 'chart chart-drag' : 'chart'} role="img" aria-label={`Frontier: bending against ${costName}, ${plans.length} plans`}
      onPointerDown={(event) => {
        if (!onDrag || event.button !== 0) return;
        holdPointer(event.currentTarget, event.pointerId, onCancel);
        onDrag(costAt(event));
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && onDrag?.(costAt(event))}
      onPointerUp={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && onDrop?.()}
    >
      <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
        {logTicks(domain, inner.height > 90 ? 2.8 : 2).map((tick) => (
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
        <text x={inner.width} y={inner.height + 31} textAnchor="end" className="axis-title">{costName}, %</text>
        <text x={-MARGIN.left + 2} y={-13} className="axis-title">bending, deg (log)</text>
        {path !== null && <path d={path} className="frontier-line" />}
        {plans.map((plan) => {
          const px = x(plan.cost);
          const label = labels.get(plan.id);
          return (
            <g key={plan.id} className={plan.current ? 'plan current' : 'plan'} onPointerEnter={() => onHover?.(plan.id)} onPointerLeave={() => onHover?.(null)}>
              {plan.predictedDeg !== null && plan.measuredDeg !== null && <line x1={px} x2={px} y1={at(plan.predictedDeg)} y2={at(plan.measuredDeg)} className="hair" />}
              {plan.predictedDeg !== null && <circle cx={px} cy={at(plan.predictedDeg)} r={plan.current ? 6 : 4.5} className="predicted" />}
              {plan.measuredDeg !== null && <circle cx={px} cy={at(plan.measuredDeg)} r={plan.current ? 4 : 3} className="measured" />}
              {label !== undefined && <text x={px + 10} y={label + 4} className="plan-label">{names.get(plan.id)}</text>}
            </g>
          );
        })}
      </g>
    </svg>
  );
}

/** Captures the pointer until it is released; Esc lets go of it and cancels. */
function holdPointer(element: SVGSVGElement, pointerId: number, onCancel: (() => void) | undefined): void {
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    element.releasePointerCapture(pointerId);
    onCancel?.();
  };
  element.setPointerCapture(pointerId);
  window.addEventListener('keydown', onKey, true);
  element.addEventListener('lostpointercapture', () => window.removeEventListener('keydown', onKey, true), { once: true });
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
