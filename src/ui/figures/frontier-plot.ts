/**
 * Where everything of the frontier figure is: scales, ticks and the places of names, read by the SVG and by the pgfplots
 * picture alike. Domain, ticks and names are those of the page's chart; where names have no room beside their points they
 * become numbers, explained below. Units of the sheet.
 */
import { costPosition, costTicks, costTickText } from '../charts/cost-axis';
import { dominatedPlans, frontierScale, placeable } from '../charts/frontier-scale';
import { placeLabels, type LabelMetrics, type LabelPlace } from '../charts/label-places';
import { planLabels } from '../charts/plan-labels';
import { HALF_CAPITAL, SHEETS, SMALL } from './drawing';
import type { FigurePlan, FigureWidth, FrontierInput } from './figure-types';
import type { Box } from './patterns';
import { ABOVE, logHeight, logTickLabels, tickRoom } from './plot-axes';
import { fitText, textWidth } from './text-width';

export const EDGE = 3;
const PLOT_HEIGHT: Readonly<Record<FigureWidth, number>> = { column: 140, page: 190, slide: 150 };
/** Of the plot's width, that a name takes at most. */
const NAME_SHARE = 0.45;
/** Of a name in the small size: its capitals are centred in the box. */
export const NAME_METRICS: LabelMetrics = { height: 8, ascent: 4 + HALF_CAPITAL * SMALL, gaps: [2, 9], shifts: [0, -4, 4, -8, 8, -12, 12] };

export interface FrontierPlot {
  readonly box: Box;
  /** Those that have a place on the angle axis. */
  readonly plans: readonly FigurePlan[];
  /** Ids of plans that another one beats: they are dim. */
  readonly dominated: ReadonlySet<string>;
  readonly domain: readonly [number, number];
  readonly up: readonly { readonly value: number; readonly text: string; readonly major: boolean }[];
  readonly across: readonly { readonly value: number; readonly text: string }[];
  readonly acrossTitle: string;
  x(cost: number): number;
  y(deg: number): number;
  radius(plan: FigurePlan): number;
  /** Beside their points, a name or a number. */
  readonly labels: readonly { readonly plan: FigurePlan; readonly text: string; readonly place: LabelPlace }[];
  /** What the numbers stand for: "1: All BF16". */
  readonly numbered: readonly string[];
}

export function frontierPlot({ axis, frontier, plans: all }: FrontierInput, width: FigureWidth): FrontierPlot {
  const sheet = SHEETS[width];
  const placed = new Set(placeable(all).map(({ id }) => id));
  const plans = all.filter(({ id }) => placed.has(id));
  // The page's own domain, whatever is drawn beside it there.
  const { domain } = frontierScale(0, 0, axis, frontier, plans);
  const up = logTickLabels(domain, 2.8);
  const left = EDGE + tickRoom(up.map(({ text }) => text));
  const box: Box = { x: left, y: EDGE + ABOVE, width: sheet.width - left - 10, height: PLOT_HEIGHT[width] };
  const plot = {
    box, plans, domain, up, dominated: dominatedPlans(plans),
    across: costTicks(axis).map((value) => ({ value, text: costTickText(axis, value) })),
    acrossTitle: axis.unit === '%' ? `${axis.name}, %` : axis.name,
    x: (cost: number) => box.x + box.width * costPosition(axis, cost),
    y: (deg: number) => logHeight(deg, domain, box),
    radius: (plan: FigurePlan) => (plan.current ? 3.2 : 2.4),
  };
  const frame: Box = { x: box.x, y: EDGE, width: sheet.width - box.x - 1, height: box.y + box.height - EDGE };
  return { ...plot, ...labelsOf(plot, frontier, frame) };
}

/**
 * Names if every one has a place of its own; else numbers in the order of cost, but for the plan in hand. Plans at one
 * place share a label.
 */
function labelsOf({ box, plans, domain, x, y, radius }: Omit<FrontierPlot, 'labels' | 'numbered'>, frontier: FrontierInput['frontier'], frame: Box): Pick<FrontierPlot, 'labels' | 'numbered'> {
  const names = planLabels(plans, domain[0]);
  const together = new Map<string, FigurePlan[]>();
  for (const plan of plans.filter(({ id }) => names.has(id))) {
    const place = JSON.stringify([plan.cost, plan.predictedDeg, plan.measuredDeg]);
    together.set(place, [...(together.get(place) ?? []), plan]);
  }
  const points = [...together.values()]
    .map((same) => ({ plan: same.find((plan) => plan.current) ?? same[0], name: same.map(({ id }) => names.get(id) ?? '').join(' = ') }))
    .flatMap(({ plan, name }) => (plan === undefined ? [] : [{ plan, name, id: plan.id, x: x(plan.cost), y: y(plan.measuredDeg ?? plan.predictedDeg ?? 0), radius: radius(plan), bold: plan.current }]))
    .toSorted((a, b) => Number(b.bold) - Number(a.bold) || a.x - b.x || a.y - b.y);
  const dots = plans.flatMap((plan) => [plan.predictedDeg, plan.measuredDeg].flatMap((deg): Box[] => {
    const r = radius(plan);
    return deg === null ? [] : [{ x: x(plan.cost) - r, y: y(deg) - r, width: 2 * r, height: 2 * r }];
  }));
  const drawn = [
    ...frontier.flatMap((point, i) => steps([x(point.cost), y(point.angleDeg)], [x(frontier[i + 1]?.cost ?? point.cost), y(point.angleDeg)])),
    ...plans.flatMap(({ cost, predictedDeg, measuredDeg }) => (predictedDeg === null || measuredDeg === null ? [] : steps([x(cost), y(predictedDeg)], [x(cost), y(measuredDeg)]))),
  ];
  const bars = plans.flatMap(({ cost, measuredDeg, seDeg }) => (measuredDeg === null || seDeg === null ? [] : steps([x(cost), y(measuredDeg - seDeg)], [x(cost), y(measuredDeg + seDeg)])));
  const named = points.map((point) => ({ ...point, text: fitText(point.name, SMALL, box.width * NAME_SHARE, point.bold) }));
  const room = { frame, taken: dots, lines: [...drawn, ...bars] };
  const first = placeLabels(named.map(sized), room, NAME_METRICS);
  const isCrowded = first.size < points.length;
  const others = points.filter(({ bold }) => !bold);
  const shown = isCrowded ? named.map((point) => (point.bold ? point : { ...point, text: String(others.findIndex(({ id }) => id === point.id) + 1) })) : named;
  const places = isCrowded ? placeLabels(shown.map(sized), { ...room, mayCover: true }, NAME_METRICS) : first;
  const unplaced = named.filter(({ id }) => !places.has(id)).map(({ name }) => name);
  return {
    labels: shown.flatMap(({ id, plan, text }) => {
      const place = places.get(id);
      return place === undefined ? [] : [{ plan, text, place }];
    }),
    numbered: [
      ...(isCrowded ? others.flatMap(({ id, name }, i) => (places.has(id) ? [`${i + 1}: ${name}`] : [])) : []),
      ...(unplaced.length > 0 ? [`without a label: ${unplaced.join(', ')}`] : []),
    ],
  };
}

const sized = <T extends { readonly text: string; readonly bold: boolean }>(point: T): T & { readonly width: number } => ({ ...point, width: textWidth(point.text, SMALL, point.bold) });

/** Points about every 3 units from one place to another. */
function steps([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]): { readonly x: number; readonly y: number }[] {
  const count = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 3);
  return Array.from({ length: count + 1 }, (_, i) => ({ x: x1 + ((x2 - x1) * i) / Math.max(1, count), y: y1 + ((y2 - y1) * i) / Math.max(1, count) }));
}
