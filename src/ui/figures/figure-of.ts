/**
 * One figure as a file: data in, SVG text out, the same text for the same data. The drawing beside it is what the PDF is
 * made of (pdf.ts).
 */
import { fileStem } from '../../base/file-name';
import { costText, type CostAxis } from '../charts/cost-axis';
import type { Drawing } from './drawing';
import type { FigureInputs, FigureKind, FigureOptions, FigurePlan, FigureSource } from './figure-types';
import { frontierFigure } from './frontier-figure';
import { heatFigure } from './heat-figure';
import { scatterFigure } from './scatter-figure';
import { svgText, type SvgWords } from './svg';

export interface Figure {
  /** Ends in `.svg`; the other files have the same stem (`fileOf`). */
  readonly fileName: string;
  readonly svg: string;
  readonly drawing: Drawing;
  readonly words: SvgWords;
  readonly source: FigureSource;
}

export const FIGURE_NAMES: Readonly<Record<FigureKind, string>> = { heatmap: 'Bending by op, pass and layer', frontier: 'Frontier: cost against bending', scatter: 'Local error against bending' };

const DRAW: { readonly [K in FigureKind]: (input: FigureInputs[K], options: FigureOptions) => Drawing } = { heatmap: heatFigure, frontier: frontierFigure, scatter: scatterFigure };

/** What is drawn, in one sentence for a reader who cannot see it. */
const DESCRIBE: { readonly [K in FigureKind]: (input: FigureInputs[K]) => string } = {
  heatmap: ({ rows, columns, cells, rampTitle }) => `${rampTitle}: ${cells.filter(({ angleDeg }) => angleDeg !== null).length} of ${cells.length} cells have an angle, in ${rows.length} rows by ${columns} layers.`,
  frontier: ({ axis, frontier, plans }) => `Bending in degrees against ${axis.name}: ${frontier.length} plans of the frontier, and ${plans.map((plan) => planWords(plan, axis)).join('; ')}.`,
  scatter: ({ points }) => `Bending in degrees against local error of ${points.length} sites, both axes logarithmic.`,
};
function planWords({ name, cost, predictedDeg, measuredDeg }: FigurePlan, axis: CostAxis): string {
  const degrees = (deg: number | null, what: string): string => (deg === null ? `not ${what}` : `${what} ${deg.toPrecision(3)} deg`);
  return `${name} at ${costText(axis, cost)}: ${degrees(predictedDeg, 'predicted')}, ${degrees(measuredDeg, 'measured')}`;
}

/** The figure of a kind, with the words and facts that its file holds. */
export function figureOf<K extends FigureKind>(kind: K, input: FigureInputs[K], options: FigureOptions): Figure {
  const { source } = input;
  const drawn = DRAW[kind](input, options);
  const drawing: Drawing = options.background === 'none' ? drawn : { ...drawn, shapes: [{ kind: 'rect', x: 0, y: 0, width: drawn.width, height: drawn.height, fill: '#ffffff' }, ...drawn.shapes] };
  const origin = `${source.model}, ${source.recipe}, plan ${source.plan}; ${source.device === null ? 'not measured' : `measured on ${source.device}`} with ${source.data}.`;
  const words: SvgWords = {
    title: `${FIGURE_NAMES[kind]}: ${source.model}, ${source.recipe}`,
    description: [DESCRIBE[kind](input), origin, `Plan hash ${source.planHash ?? 'unknown'}, manifest ${source.manifest ?? 'unknown'}.`].join(' '),
    facts: { ...source, figure: kind, width: options.width, colourMap: options.colourMap, program: 'Bendscope' },
  };
  return { fileName: figureName(source, `${kind}.${options.width}.svg`), svg: svgText(drawing, words), drawing, words, source };
}

/** `gpt2-plan-b.frontier.page.svg`: model and plan, then what the file is. */
export function figureName({ model, plan }: Pick<FigureSource, 'model' | 'plan'>, ending: string): string {
  return `${fileStem(model, 'model')}-${fileStem(plan, 'plan')}.${ending}`;
}

/** The same figure's name as another kind of file. */
export function fileOf({ fileName }: Pick<Figure, 'fileName'>, extension: string): string {
  return fileName.replace(/svg$/, extension);
}
