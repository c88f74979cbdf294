/**
 * Cost against bending as a figure: the solver's frontier as a staircase, plans as points; hollow is predicted, filled is
 * measured with its standard error, a hair joins the two. Plans that another one beats are dim.
 */
import { inksOf, label, segment, SHEETS, short, type Drawing, type Inks, type Shape } from './drawing';
import { flowKey, words, type KeyEntry } from './figure-key';
import type { FigureOptions, FigurePlan, FrontierInput } from './figure-types';
import { EDGE, frontierPlot, type FrontierPlot } from './frontier-plot';
import { axesShapes, BELOW } from './plot-axes';

export function frontierFigure(input: FrontierInput, { width, colourMap }: FigureOptions): Drawing {
  const inks = inksOf(colourMap);
  const sheet = SHEETS[width];
  const plot = frontierPlot(input, width);
  const { box, plans, dominated, x, y } = plot;
  const line = staircase(input.frontier.map((point) => [x(point.cost), y(point.angleDeg)] as const));
  const colourOf = (plan: FigurePlan): string => (plan.current ? inks.accent : dominated.has(plan.id) ? inks.strong : inks.ink);
  const shapes: Shape[] = [
    ...axesShapes({
      box, upTitle: 'bending, deg (log)', acrossTitle: plot.acrossTitle,
      up: plot.up.map(({ value, text, major }) => ({ at: y(value), text, major })),
      across: plot.across.map(({ value, text }) => ({ at: x(value), text, grid: 'none' })),
    }, EDGE, inks),
    ...(line === '' ? [] : [{ kind: 'path', d: line, fill: null, stroke: { colour: inks.accent, width: 1.2 } } as const]),
    ...plans.toSorted((a, b) => Number(a.current) - Number(b.current)).flatMap((plan) => pointShapes(plan, plot, colourOf(plan), inks)),
    ...plot.labels.map(({ plan, text, place }) => label(place.x, place.middle, text, plan.current ? inks.accent : inks.ink, { anchor: place.anchor, bold: plan.current })),
  ];
  const top = box.y + box.height + BELOW + 2;
  const entries = [...keyEntries(plans, line !== '', inks), ...plot.numbered.map(words), ...(input.source.note === null ? [] : [words(input.source.note)])];
  const key = flowKey(entries, { left: EDGE, right: sheet.width - EDGE, top }, inks);
  return { width: sheet.width, height: top + key.height + EDGE, unit: sheet.unit, shapes: [...shapes, ...key.shapes] };
}

/** Between two plans the cheaper one is the best there is. */
function staircase(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], i) => (i === 0 ? `M${short(x)} ${short(y)}` : `H${short(x)}V${short(y)}`)).join('');
}

function pointShapes(plan: FigurePlan, { x, y, radius }: FrontierPlot, colour: string, inks: Inks): Shape[] {
  const px = x(plan.cost);
  const { predictedDeg, measuredDeg, seDeg } = plan;
  const shapes: Shape[] = [];
  if (predictedDeg !== null && measuredDeg !== null) shapes.push(segment(px, y(predictedDeg), px, y(measuredDeg), inks.soft, 0.5));
  if (predictedDeg !== null) shapes.push({ kind: 'circle', x: px, y: y(predictedDeg), radius: radius(plan), fill: inks.paper, stroke: { colour, width: plan.current ? 1.3 : 0.9 } });
  if (measuredDeg !== null) {
    if (seDeg !== null && seDeg > 0) shapes.push(...errorBar(px, y(measuredDeg + seDeg), y(measuredDeg - seDeg), colour));
    shapes.push({ kind: 'circle', x: px, y: y(measuredDeg), radius: plan.current ? 2 : 1.5, fill: colour });
  }
  return shapes;
}

function errorBar(x: number, top: number, bottom: number, colour: string): Shape[] {
  return [segment(x, top, x, bottom, colour, 0.7), segment(x - 2, top, x + 2, top, colour, 0.7), segment(x - 2, bottom, x + 2, bottom, colour, 0.7)];
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
