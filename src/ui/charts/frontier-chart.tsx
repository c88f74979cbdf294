/**
 * Cost against bending: the solver's frontier as a line, plans as points, the plan in hand as a handle on it (ux.md 3.5).
 * Hollow is predicted, filled is measured, and a hair joins the two of one plan. A function of its props: what stands still
 * while a hand drags is a memo of its own.
 */
import { memo, useCallback, useMemo, useState } from 'react';
import { formatDegrees } from '../../base/units';
import { costAt, costPosition, costTicks, costTickText, type CostAxis } from './cost-axis';
import { FrontierHandle, type ChartHandle } from './frontier-handle';
import { FrontierPoints } from './frontier-points';
import { dominatedPlans, frontierScale, MARGIN, placeable, planWords, pointLabels, staircase, type ChartPlan, type FrontierScale, type LinePoint } from './frontier-scale';
import { logTicks, tickLabel } from './scales';
import { useSliderDrag } from './use-slider-drag';

export type { ChartPlan } from './frontier-scale';

/** A try of "how much is needed": numbered, at its cost and measured angle. */
export interface ChartStep {
  readonly number: number;
  readonly cost: number;
  readonly angleDeg: number;
  readonly meets: boolean;
}

export interface FrontierChartProps {
  readonly width: number;
  readonly height: number;
  readonly axis: CostAxis;
  readonly frontier: readonly LinePoint[];
  readonly plans: readonly ChartPlan[];
  readonly handle: ChartHandle;
  readonly steps: readonly ChartStep[];
  /** What the steps are to meet, as a line across. */
  readonly targetDeg: number | null;
  /** The point that is A. */
  readonly pinnedId: string | null;
  /** A point has the pointer or the focus. */
  onHover(id: string | null): void;
  onPick(id: string): void;
  /** The hand moves the plan along the line: cost under the pointer. */
  onDrag(cost: number): void;
  onStep(by: number, isFine: boolean): void;
  onCommit(): void;
  onCancel(): void;
}

export function FrontierChart({ width, height, axis, frontier, plans: all, handle, steps, targetDeg, pinnedId, onHover, onPick, onDrag, onStep, onCommit, onCancel }: FrontierChartProps) {
  const plans = useMemo(() => placeable(all), [all]);
  const scale = useMemo(
    () => frontierScale(width, height, axis, frontier, plans, [...steps.map((step) => step.angleDeg), ...(targetDeg === null ? [] : [targetDeg])]),
    [width, height, axis, frontier, plans, steps, targetDeg],
  );
  const dominated = useMemo(() => dominatedPlans(plans), [plans]);
  const labels = useMemo(() => pointLabels(scale, frontier, plans, pinnedId, dominated), [scale, frontier, plans, pinnedId, dominated]);
  const [hovered, setHovered] = useState<string | null>(null);
  const pointed = handle.isMoving ? null : (plans.find((plan) => plan.id === hovered) ?? null);
  const hover = useCallback((id: string | null): void => {
    setHovered(id);
    onHover(id);
  }, [onHover]);
  const { track, handle: slider } = useSliderDrag({
    orientation: 'horizontal', fraction: costPosition(axis, handle.cost), disabled: handle.disabled,
    along: ({ clientX }, box) => (clientX - box.left - MARGIN.left) / scale.width,
    onDrag: (fraction) => onDrag(costAt(axis, fraction)),
    onStep, onCommit, onCancel,
  });
  return (
    <div className="chart-box">
      <svg
        width={width} height={height} className={handle.disabled ? 'chart' : 'chart chart-drag'} role="group" aria-label={`Frontier: bending against ${axis.name}, ${plans.length} plans`}
        {...track}
      >
        <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
          <Axes scale={scale} />
          <Line scale={scale} line={frontier} />
          {targetDeg === null ? null : <line x2={scale.width} y1={scale.y(targetDeg)} y2={scale.y(targetDeg)} className="target-line" />}
          <FrontierPoints scale={scale} plans={plans} labels={labels} dominated={dominated} pinnedId={pinnedId} isMoving={handle.isMoving} onHover={hover} onPick={onPick} />
          {steps.map((step) => <Step key={step.number} scale={scale} step={step} />)}
          <FrontierHandle scale={scale} handle={handle} {...slider} />
        </g>
      </svg>
      {pointed === null ? null : <PointCard scale={scale} plan={pointed} isA={pointed.id === pinnedId} />}
    </div>
  );
}

const Axes = memo(function Axes({ scale }: { readonly scale: FrontierScale }) {
  const { width, height, axis, domain, x, y } = scale;
  return (
    <>
      {logTicks(domain, height > 90 ? 2.8 : 2).map((tick) => (
        <g key={tick.value} transform={`translate(0,${y(tick.value)})`}>
          <line x2={width} className={tick.major ? 'grid-line' : 'grid-line minor'} />
          <text x={-8} y={4} textAnchor="end" className="tick">{tickLabel(tick.value)}</text>
        </g>
      ))}
      {costTicks(axis).map((tick) => (
        <g key={tick} transform={`translate(${x(tick)},${height})`}>
          <line y2={4} className="axis" />
          <text y={17} textAnchor="middle" className="tick">{costTickText(axis, tick)}</text>
        </g>
      ))}
      <line x2={width} y1={height} y2={height} className="axis" />
      <text x={width} y={height + 31} textAnchor="end" className="axis-title">{axis.unit === '%' ? `${axis.name}, %` : axis.name}</text>
      <text x={-MARGIN.left + 2} y={-11} className="axis-title">bending, deg (log)</text>
    </>
  );
});

const Line = memo(function Line({ scale, line }: { readonly scale: FrontierScale; readonly line: readonly LinePoint[] }) {
  return line.length === 0 ? null : <path d={staircase(line, scale)} className="frontier-line" />;
});

function Step({ scale, step }: { readonly scale: FrontierScale; readonly step: ChartStep }) {
  return (
    <g className={step.meets ? 'how-step meets' : 'how-step'} transform={`translate(${scale.x(step.cost)},${scale.y(step.angleDeg)})`}>
      <title>{`Measurement ${step.number}: ${formatDegrees(step.angleDeg)}, ${step.meets ? 'meets' : 'misses'} the target`}</title>
      <rect x="-6.5" y="-6.5" width="13" height="13" rx="2" />
      <text y="4" textAnchor="middle">{step.number}</text>
    </g>
  );
}

/** Width that the card is kept to, px. */
const CARD_WIDTH = 236;

function PointCard({ scale, plan, isA }: { readonly scale: FrontierScale; readonly plan: ChartPlan; readonly isA: boolean }) {
  const [px, py] = [MARGIN.left + scale.x(plan.cost), MARGIN.top + scale.y(plan.measuredDeg ?? plan.predictedDeg ?? 0)];
  const left = px + 14 + CARD_WIDTH <= scale.width + MARGIN.left + MARGIN.right ? px + 14 : Math.max(0, px - 14 - CARD_WIDTH);
  const isLow = py > scale.height / 2 + MARGIN.top;
  return (
    <div className="point-card" style={{ left, width: CARD_WIDTH, ...(isLow ? { bottom: scale.height + MARGIN.top + MARGIN.bottom - py - 6 } : { top: py - 6 }) }}>
      <strong>{plan.name}</strong>
      <span>{planWords(scale.axis, plan, formatDegrees)}</span>
      <span className="muted">{isA ? 'This is A' : plan.current ? 'The plan in hand' : 'Click: hold other plans against it (A)'}</span>
    </div>
  );
}
