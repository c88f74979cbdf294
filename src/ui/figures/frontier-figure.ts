/**
 * Cost against bending as a figure: the solver's frontier as a staircase, plans as points; hollow is predicted, filled is
 * measured with its standard error, a hair joins the two. A name that has no free place beside its point becomes a number,
 * explained below. Domain, ticks and names are those of the page's chart.
 */
import { planLabels } from '../charts/plan-labels';
import { logDomain } from '../charts/scales';
import { inksOf, label, segment, SHEETS, short, type Drawing, type Inks, type Shape } from './drawing';
import { flowKey, words, type KeyEntry } from './figure-key';
import type { CostAxis, FigureOptions, FigurePlan, FigureWidth, FrontierInput } from './figure-types';
import { placeLabels, type Named } from './label-places';
import type { Box } from './patterns';
import { ABOVE, axesShapes, BELOW, logHeight, logTickLabels, tickRoom } from './plot-axes';
import { fitText } from './text-width';

const EDGE = 3;
const PLOT_HEIGHT: Readonly<Record<FigureWidth, number>> = { column: 140, page: 190, slide: 150 };
/** Below it an angle stands on the axis, as on the page. */
const LEAST_DEG = 0.01;
/** A name takes a third of the plot at most. */
const NAME_SHARE = 1 / 3;

export function frontierFigure(input: FrontierInput, { width, colourMap }: FigureOptions): Drawing {
  const inks = inksOf(colourMap);
  const sheet = SHEETS[width];
  // A plan that is neither predicted nor measured has no place on the angle axis.
  const plans = input.plans.filter((plan) => plan.predictedDeg !== null || plan.measuredDeg !== null);
  const angles = [...input.frontier.map((p) => p.angleDeg), ...plans.flatMap((p) => [p.predictedDeg, p.measuredDeg])].filter((a): a is number => a !== null && a > LEAST_DEG);
  const domain = logDomain(angles);
  const ticks = logTickLabels(domain, 2.8);
  const left = EDGE + tickRoom(ticks.map(({ text }) => text));
  const box: Box = { x: left, y: EDGE + ABOVE, width: sheet.width - left - 10, height: PLOT_HEIGHT[width] };
  const { axis } = input;
  const x = (cost: number): number => box.x + (box.width * (cost - axis.domain[0])) / (axis.domain[1] - axis.domain[0]);
  const y = (deg: number): number => logHeight(Math.max(deg, domain[0]), domain, box);
  const shapes: Shape[] = axesShapes({
    box, upTitle: 'bending, deg (log)', acrossTitle: `${axis.name}, ${axis.unit}`,
    up: ticks.map(({ value, text, major }) => ({ at: y(value), text, major })),
    across: costTicks(axis).map((value) => ({ at: x(value), text: String(Number((axis.unit === '%' ? 100 * value : value).toFixed(6))), grid: 'none' })),
  }, EDGE, inks);
  const line = staircase(input.frontier.map((point) => [x(point.cost), y(point.angleDeg)] as const));
  if (line !== '') shapes.push({ kind: 'path', d: line, fill: null, stroke: { colour: inks.accent, width: 1.2 } });
  shapes.push(...plans.filter((plan) => !plan.current).flatMap((plan) => pointShapes(plan, x, y, inks)), ...plans.filter((plan) => plan.current).flatMap((plan) => pointShapes(plan, x, y, inks)));

  const names = planLabels(plans, domain[0]);
  const named = plans.filter((plan) => names.has(plan.id)).toSorted((a, b) => Number(b.current) - Number(a.current) || a.cost - b.cost);
  const points = named.map((plan): Named => ({
    id: plan.id, x: x(plan.cost), y: y(plan.measuredDeg ?? plan.predictedDeg ?? 0), radius: radiusOf(plan),
    text: fitText(names.get(plan.id) ?? '', 7, box.width * NAME_SHARE, plan.current), bold: plan.current,
  }));
  const taken = plans.flatMap((plan) => [plan.predictedDeg, plan.measuredDeg].flatMap((deg) => (deg === null ? [] : [dotBox(x(plan.cost), y(deg), radiusOf(plan))])));
  const onLine = input.frontier.flatMap((point, i) => steps([x(point.cost), y(point.angleDeg)], input.frontier[i + 1] === undefined ? null : [x(input.frontier[i + 1]?.cost ?? 0), y(point.angleDeg)]));
  const labels = labelShapes(points, taken, onLine, { x: box.x, y: EDGE, width: sheet.width - box.x - 1, height: box.y + box.height - EDGE }, inks);
  shapes.push(...labels.shapes);
  const key = flowKey([...keyEntries(plans, line !== '', inks), ...labels.numbered, ...(input.source.note === null ? [] : [words(input.source.note)])], { left: EDGE, right: sheet.width - EDGE, top: box.y + box.height + BELOW + 2 }, inks);
  shapes.push(...key.shapes);
  return { width: sheet.width, height: box.y + box.height + BELOW + 2 + key.height + EDGE, unit: sheet.unit, shapes };
}

/** Every 20 % of a share; whole bits. */
function costTicks({ unit, domain: [low, high] }: CostAxis): number[] {
  const step = unit === '%' ? 0.2 : Math.max(1, Math.ceil((high - low) / 8));
  const ticks: number[] = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9; value += step) ticks.push(value);
  return ticks;
}

/** Between two plans the cheaper one is the best there is. */
function staircase(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], i) => (i === 0 ? `M${short(x)} ${short(y)}` : `H${short(x)}V${short(y)}`)).join('');
}

/** Points every 4 units along a flat piece of the line. */
function steps([x, y]: readonly [number, number], to: readonly [number, number] | null): { readonly x: number; readonly y: number }[] {
  const count = to === null ? 1 : Math.max(1, Math.ceil((to[0] - x) / 4));
  return Array.from({ length: count }, (_, i) => ({ x: x + 4 * i, y }));
}

const radiusOf = (plan: FigurePlan): number => (plan.current ? 3.2 : 2.4);
const dotBox = (x: number, y: number, radius: number): Box => ({ x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius });

function pointShapes(plan: FigurePlan, x: (cost: number) => number, y: (deg: number) => number, inks: Inks): Shape[] {
  const [px, colour] = [x(plan.cost), plan.current ? inks.accent : inks.ink];
  const { predictedDeg, measuredDeg, seDeg } = plan;
  const shapes: Shape[] = [];
  if (predictedDeg !== null && measuredDeg !== null) shapes.push(segment(px, y(predictedDeg), px, y(measuredDeg), inks.soft, 0.5));
  if (predictedDeg !== null) shapes.push({ kind: 'circle', x: px, y: y(predictedDeg), radius: radiusOf(plan), fill: inks.paper, stroke: { colour, width: plan.current ? 1.3 : 0.9 } });
  if (measuredDeg !== null) {
    if (seDeg !== null && seDeg > 0) shapes.push(...errorBar(px, y(measuredDeg + seDeg), y(Math.max(measuredDeg - seDeg, LEAST_DEG)), colour));
    shapes.push({ kind: 'circle', x: px, y: y(measuredDeg), radius: plan.current ? 2 : 1.5, fill: colour });
  }
  return shapes;
}

function errorBar(x: number, top: number, bottom: number, colour: string): Shape[] {
  return [segment(x, top, x, bottom, colour, 0.7), segment(x - 2, top, x + 2, top, colour, 0.7), segment(x - 2, bottom, x + 2, bottom, colour, 0.7)];
}

/** Names beside their points; those without room as numbers, with their explanation for the key. */
function labelShapes(points: readonly Named[], taken: readonly Box[], shy: readonly { readonly x: number; readonly y: number }[], frame: Box, inks: Inks): { readonly shapes: Shape[]; readonly numbered: KeyEntry[] } {
  const first = placeLabels(points, taken, shy, frame);
  const crowded = points.filter(({ id }) => !first.has(id));
  const numberOf = new Map(crowded.map(({ id }, i) => [id, String(i + 1)]));
  const shown = points.map((point) => ({ ...point, text: numberOf.get(point.id) ?? point.text }));
  // Numbers are small, so they are placed before the names that had room anyway.
  const places = numberOf.size === 0 ? first : placeLabels([...shown.filter(({ id }) => numberOf.has(id)), ...shown.filter(({ id }) => !numberOf.has(id))], taken, shy, frame);
  const left = shown.filter(({ id }) => !places.has(id));
  return {
    shapes: shown.flatMap(({ id, text, bold }) => {
      const place = places.get(id);
      return place === undefined ? [] : [label(place.x, place.middle, text, bold ? inks.accent : inks.ink, { anchor: place.anchor, bold })];
    }),
    numbered: [
      ...crowded.filter(({ id }) => places.has(id)).map(({ id, text }) => words(`${numberOf.get(id) ?? ''}: ${text}`)),
      ...(left.length > 0 ? [words(`unnamed: ${left.map(({ id }) => points.find((point) => point.id === id)?.text ?? id).join(', ')}`)] : []),
    ],
  };
}

function keyEntries(plans: readonly FigurePlan[], hasLine: boolean, inks: Inks): KeyEntry[] {
  const dot = (fill: string, radius: number, stroke?: number): KeyEntry['swatch'] => ({ width: 7, shapes: (x, middle) => [{ kind: 'circle', x: x + 3.5, y: middle, radius, fill, ...(stroke === undefined ? {} : { stroke: { colour: inks.ink, width: stroke } }) }] });
  const hasError = plans.some((plan) => plan.measuredDeg !== null && plan.seDeg !== null && plan.seDeg > 0);
  return [
    ...(plans.some((plan) => plan.predictedDeg !== null) ? [{ swatch: dot(inks.paper, 2.4, 0.9), words: 'predicted' }] : []),
    ...(plans.some((plan) => plan.measuredDeg !== null) ? [{ swatch: dot(inks.ink, 1.5), words: hasError ? 'measured, ± standard error' : 'measured' }] : []),
    ...(hasLine ? [{ swatch: { width: 12, shapes: (x: number, middle: number) => [segment(x, middle, x + 12, middle, inks.accent, 1.2)] }, words: 'best plan at each budget' }] : []),
  ];
}
