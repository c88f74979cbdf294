/** Where everything of the frontier chart is, in px, and which plans another one beats: arithmetic of its props. */
import { costPosition, costText, type CostAxis } from './cost-axis';
import { placeLabels, type Box, type LabelMetrics, type LabelPlace } from './label-places';
import { planLabels } from './plan-labels';
import { logDomain, logPosition } from './scales';

export interface ChartPlan {
  readonly id: string;
  readonly name: string;
  /** In the axis's unit: a share 0..1, or bits. */
  readonly cost: number;
  readonly predictedDeg: number | null;
  readonly measuredDeg: number | null;
  /** The plan in hand: its handle stands in the place of its point. */
  readonly current: boolean;
}

export interface LinePoint {
  readonly cost: number;
  readonly angleDeg: number;
}

export interface FrontierScale {
  readonly width: number;
  readonly height: number;
  readonly axis: CostAxis;
  /** Degrees, of the log axis. */
  readonly domain: readonly [number, number];
  x(cost: number): number;
  /** Below the axis's end an angle stands on it. */
  y(angleDeg: number): number;
}

export const MARGIN = { top: 22, right: 24, bottom: 34, left: 52 };
/** Degrees of the log axis's floor: a plan that bends by nothing sits on the axis, not below it. */
const LEAST_DEG = 0.01;
/** Of a name of 11 px, px. */
export const NAME_METRICS: LabelMetrics = { height: 13, ascent: 10, gaps: [3], shifts: [0, -7, 7, -13, 13] };

/** Px that a name takes at most, for want of a browser to ask. */
export function labelWidth(text: string): number {
  return 6.7 * text.length;
}

/** A plan that is neither predicted nor measured has no place on the angle axis. */
export function placeable(plans: readonly ChartPlan[]): ChartPlan[] {
  return plans.filter((plan) => plan.predictedDeg !== null || plan.measuredDeg !== null);
}

/** Axes of a chart of this outer size: cost across, log degrees up, from what is drawn; `others`: further angles that must be in sight. */
export function frontierScale(width: number, height: number, axis: CostAxis, line: readonly LinePoint[], plans: readonly ChartPlan[], others: readonly number[] = []): FrontierScale {
  const inner = { width: Math.max(10, width - MARGIN.left - MARGIN.right), height: Math.max(10, height - MARGIN.top - MARGIN.bottom) };
  const angles = [...line.map((p) => p.angleDeg), ...plans.flatMap((p) => [p.predictedDeg, p.measuredDeg]), ...others];
  const domain = logDomain(angles.filter((a): a is number => a !== null && a > LEAST_DEG));
  return {
    ...inner, axis, domain,
    x: (cost) => inner.width * costPosition(axis, cost),
    y: (angleDeg) => inner.height * (1 - logPosition(angleDeg, domain)),
  };
}

/** Between two plans the cheaper one is the best there is: a staircase, as path data. */
export function staircase(line: readonly LinePoint[], scale: FrontierScale): string {
  return thinned(line, scale).map(([px, py], i) => (i === 0 ? `M${round(px)} ${round(py)}` : `H${round(px)}V${round(py)}`)).join('');
}

const round = (x: number): number => Math.round(10 * x) / 10;

/** Places of the line's points in px, those left out that half a px does not tell from the one before; its ends stay. */
function thinned(line: readonly LinePoint[], { x, y }: FrontierScale): [number, number][] {
  const kept: [number, number][] = [];
  line.forEach((point, i) => {
    const [px, py] = [x(point.cost), y(point.angleDeg)];
    const last = kept.at(-1);
    if (last === undefined || i === line.length - 1 || px - last[0] >= 0.5 || Math.abs(py - last[1]) >= 0.5) kept.push([px, py]);
  });
  return kept;
}

/** What a plan is known to bend: measured where it was, else predicted. */
export function angleOf({ measuredDeg, predictedDeg }: ChartPlan): number | null {
  return measuredDeg ?? predictedDeg;
}

/** Plans that another one beats: it costs no more and bends no more, and one of the two less. */
export function dominatedPlans(plans: readonly ChartPlan[]): ReadonlySet<string> {
  const beats = (a: ChartPlan, b: ChartPlan): boolean => {
    const [angleA, angleB] = [angleOf(a), angleOf(b)];
    return angleA !== null && angleB !== null && a.cost <= b.cost && angleA <= angleB && (a.cost < b.cost || angleA < angleB);
  };
  return new Set(plans.filter((plan) => plans.some((other) => beats(other, plan))).map(({ id }) => id));
}

/** Names beside their points: the plan in hand and A first, then plans that nothing beats; one without a free place has none. */
export function pointLabels(scale: FrontierScale, line: readonly LinePoint[], plans: readonly ChartPlan[], pinnedId: string | null, dominated: ReadonlySet<string>): { readonly names: ReadonlyMap<string, string>; readonly places: ReadonlyMap<string, LabelPlace> } {
  const { x, y, domain } = scale;
  const names = new Map([...planLabels(plans, domain[0])].map(([id, name]) => [id, id === pinnedId ? `A: ${name}` : name]));
  const order = ({ id, current }: ChartPlan): number => (current ? 0 : id === pinnedId ? 1 : dominated.has(id) ? 3 : 2);
  const points = plans.filter(({ id }) => names.has(id)).toSorted((a, b) => order(a) - order(b) || a.cost - b.cost);
  const dots = plans.flatMap((plan) => [plan.predictedDeg, plan.measuredDeg].flatMap((deg): Box[] => (deg === null ? [] : [{ x: x(plan.cost) - 4, y: y(deg) - 4, width: 8, height: 8 }])));
  const onLine = thinned(line, scale).map(([px, py]): Box => ({ x: px - 1, y: py - 1, width: 2, height: 2 }));
  const title: Box = { x: -MARGIN.left, y: -MARGIN.top, width: 150, height: 14 };
  const frame = { x: 4, y: 2 - MARGIN.top, width: scale.width + MARGIN.right - 6, height: scale.height + MARGIN.top - 4 };
  const labelled = points.map((plan) => ({ id: plan.id, x: x(plan.cost), y: y(angleOf(plan) ?? domain[0]), radius: plan.current ? 8 : 5, width: labelWidth(names.get(plan.id) ?? '') }));
  return { names, places: placeLabels(labelled, { frame, taken: [title, ...dots, ...onLine] }, NAME_METRICS) };
}

/** The figures of a plan in words: "33.3 % HP GEMM work, predicted 10.8 deg, measured 11.2 deg". */
export function planWords(axis: CostAxis, plan: ChartPlan, degrees: (angleDeg: number) => string): string {
  const cost = axis.unit === 'bits' ? costText(axis, plan.cost) : `${costText(axis, plan.cost)} ${axis.name}`;
  return `${cost}, ${plan.predictedDeg === null ? 'not predicted' : `predicted ${degrees(plan.predictedDeg)}`}, ${plan.measuredDeg === null ? 'not measured' : `measured ${degrees(plan.measuredDeg)}`}`;
}
