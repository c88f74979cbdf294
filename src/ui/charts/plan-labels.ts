/**
 * What the frontier chart writes beside its points: one label where the current plan is a baseline, and the angle itself
 * where a log axis cannot show it.
 */
import { formatDegrees } from '../../base/units';
import type { ChartPlan } from './frontier-scale';

/** Label by plan id; a baseline that the current plan coincides with has none. `leastDeg`: lower end of the axis, degrees. */
export function planLabels(plans: readonly ChartPlan[], leastDeg: number): ReadonlyMap<string, string> {
  const current = plans.find((plan) => plan.current);
  const twin = current && plans.find((plan) => !plan.current && plan.cost === current.cost && plan.predictedDeg === current.predictedDeg && plan.measuredDeg === current.measuredDeg);
  return new Map(plans.filter((plan) => plan !== twin).map((plan) => {
    const name = plan === current && twin && twin.name !== plan.name ? `${plan.name} = ${twin.name}` : plan.name;
    const angleDeg = plan.measuredDeg ?? plan.predictedDeg;
    return [plan.id, angleDeg !== null && angleDeg < leastDeg ? `${name}, ${formatDegrees(angleDeg)}` : name];
  }));
}
