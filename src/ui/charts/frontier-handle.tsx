/** The plan in hand on the frontier: a slider whose place is its cost and its predicted angle. Where a hand has moved it, what it was stays as a ghost. */
import type { KeyboardEvent } from 'react';
import type { FrontierScale } from './frontier-scale';

export interface ChartHandle {
  readonly cost: number;
  /** Null: not predicted; it then stands on the axis. */
  readonly predictedDeg: number | null;
  readonly measuredDeg: number | null;
  /** Under the hand, not yet committed. */
  readonly isMoving: boolean;
  readonly label: string;
  readonly valueText: string;
  readonly disabled: boolean;
}

interface HandleProps {
  readonly scale: FrontierScale;
  readonly handle: ChartHandle;
  onKeyDown(event: KeyboardEvent): void;
  onBlur(): void;
}

export function FrontierHandle({ scale, handle, onKeyDown, onBlur }: HandleProps) {
  const { x, y, axis, height } = scale;
  const [px, py] = [x(handle.cost), handle.predictedDeg === null ? height : y(handle.predictedDeg)];
  const { measuredDeg } = handle;
  const [low, high] = axis.domain;
  const figure = (cost: number): number => Number((axis.unit === '%' ? 100 * cost : cost).toFixed(2));
  return (
    <g className={handle.isMoving ? 'handle moving' : 'handle'}>
      {handle.isMoving ? <line x1={px} x2={px} y1={py} y2={height} className="handle-drop" /> : null}
      {measuredDeg === null || handle.predictedDeg === null ? null : <line x1={px} x2={px} y1={py} y2={y(measuredDeg)} className="hair" />}
      <circle
        cx={px} cy={py} r="7" className="handle-knob" role="slider" tabIndex={handle.disabled ? -1 : 0} aria-label={handle.label} aria-orientation="horizontal"
        aria-valuemin={figure(low)} aria-valuemax={figure(high)} aria-valuenow={figure(Math.min(high, Math.max(low, handle.cost)))} aria-valuetext={handle.valueText}
        aria-disabled={handle.disabled || undefined} onKeyDown={onKeyDown} onBlur={onBlur}
      />
      {measuredDeg === null ? null : <circle cx={px} cy={y(measuredDeg)} r="3.5" className="handle-measured" />}
    </g>
  );
}
