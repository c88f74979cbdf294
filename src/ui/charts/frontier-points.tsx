/** The plans of the frontier chart as points: buttons that make a plan A, one tab stop for all, arrows from one to the next by cost. */
import { memo } from 'react';
import { formatDegrees } from '../../base/units';
import { planWords, type ChartPlan, type FrontierScale, type pointLabels } from './frontier-scale';
import { usePointKeys } from './use-point-keys';

interface PointsProps {
  readonly scale: FrontierScale;
  readonly plans: readonly ChartPlan[];
  readonly labels: ReturnType<typeof pointLabels>;
  readonly dominated: ReadonlySet<string>;
  readonly pinnedId: string | null;
  /** The plan in hand is elsewhere than its point: the point is its ghost. */
  readonly isMoving: boolean;
  onHover(id: string | null): void;
  onPick(id: string): void;
}

export const FrontierPoints = memo(function FrontierPoints({ scale, plans, labels, dominated, pinnedId, isMoving, onHover, onPick }: PointsProps) {
  const others = plans.filter((plan) => !plan.current).toSorted((a, b) => a.cost - b.cost);
  const current = plans.find((plan) => plan.current);
  const keysOf = usePointKeys(others.map(({ id }) => id), onPick, onHover);
  // What another one beats lies below what it does not.
  const drawn = others.toSorted((a, b) => Number(dominated.has(b.id)) - Number(dominated.has(a.id)));
  return (
    <>
      {current && isMoving ? <circle cx={scale.x(current.cost)} cy={scale.y(current.predictedDeg ?? current.measuredDeg ?? 0)} r="6" className="handle-ghost" /> : null}
      {drawn.map((plan) => (
        <g
          key={plan.id} {...keysOf(plan.id)} role="button" aria-pressed={plan.id === pinnedId}
          aria-label={`${plan.name}: ${planWords(scale.axis, plan, formatDegrees)}. Make it A`}
          className={`plan${plan.id === pinnedId ? ' pinned' : dominated.has(plan.id) ? ' dominated' : ''}`}
          onPointerDown={(event) => event.stopPropagation()} onPointerEnter={() => onHover(plan.id)} onPointerLeave={() => onHover(null)} onClick={() => onPick(plan.id)}
        >
          <Point scale={scale} plan={plan} />
        </g>
      ))}
      {plans.map(({ id, current: isCurrent }) => {
        const place = isCurrent && isMoving ? undefined : labels.places.get(id);
        return place === undefined ? null : <text key={id} x={place.x} y={place.y} textAnchor={place.anchor} className={`plan-label${isCurrent ? ' current' : id === pinnedId ? '' : dominated.has(id) ? ' dominated' : ''}`}>{labels.names.get(id)}</text>;
      })}
    </>
  );
});

function Point({ scale, plan }: { readonly scale: FrontierScale; readonly plan: ChartPlan }) {
  const px = scale.x(plan.cost);
  const { predictedDeg, measuredDeg } = plan;
  return (
    <>
      <circle cx={px} cy={scale.y(measuredDeg ?? predictedDeg ?? 0)} r="12" className="point-target" />
      {predictedDeg !== null && measuredDeg !== null ? <line x1={px} x2={px} y1={scale.y(predictedDeg)} y2={scale.y(measuredDeg)} className="hair" /> : null}
      {predictedDeg === null ? null : <circle cx={px} cy={scale.y(predictedDeg)} r="4.5" className="predicted" />}
      {measuredDeg === null ? null : <circle cx={px} cy={scale.y(measuredDeg)} r="3" className="measured" />}
    </>
  );
}
