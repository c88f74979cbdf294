/**
 * The frontier as a pgfplots picture: the same box, ticks, marks and places of names as the SVG figure, in the document's
 * own font. Plain ASCII, so that pdfLaTeX compiles whatever a plan is called.
 */
import { inksOf, SHEETS } from './drawing';
import type { FigureOptions, FigurePlan, FrontierInput } from './figure-types';
import { frontierPlot } from './frontier-plot';
import { header, latexText, readCost } from './latex-text';

/** A number in as many digits as a picture shows. */
const figure = (x: number): string => String(Number(x.toPrecision(6)));
const ANCHORS = { start: 'west', middle: 'center', end: 'east' } as const;

export function pgfplotsFrontier(input: FrontierInput, { width, colourMap }: Pick<FigureOptions, 'width' | 'colourMap'>): string {
  const { source, axis, frontier } = input;
  const { unit } = SHEETS[width];
  const { accent, ink, strong } = inksOf(colourMap);
  const plot = frontierPlot(input, width);
  const { box, plans, dominated, domain: [low, high] } = plot;
  const at = (cost: number, deg: number): string => `${figure(readCost(cost, axis))},${figure(Math.max(deg, low))}`;
  const colourOf = (plan: FigurePlan): string => (plan.current ? 'bendaccent' : dominated.has(plan.id) ? 'benddim' : 'bendink');
  const series = (name: string, marks: string, coordinates: (plan: FigurePlan) => string | null): string[] =>
    (['bendink', 'benddim', 'bendaccent'] as const).flatMap((colour, i) => {
      const rows = plans.filter((plan) => colourOf(plan) === colour).map(coordinates).filter((row) => row !== null);
      // The legend shows one colour for all three.
      const legend = i === 0 ? [`\\addlegendentry{${name}}`] : [];
      if (rows.length === 0) return i === 0 ? [`\\addlegendimage{only marks, ${marks.replaceAll('COLOUR', colour)}}`, ...legend] : [];
      return [`\\addplot[${i === 0 ? '' : 'forget plot, '}only marks, ${marks.replaceAll('COLOUR', colour)}] coordinates {`, ...rows.map((row) => `  ${row}`), '};', ...legend];
    });
  const small = `font=\\${unit === 1 ? 'scriptsize' : 'large'}`;
  const size = (units: number): string => `${figure(units * unit)}bp`;
  return [
    ...header(source, 'needs the package pgfplots and \\pgfplotsset{compat=1.16} or later'),
    '\\begin{tikzpicture}',
    ...[['bendink', ink], ['benddim', strong], ['bendaccent', accent]].map(([name = '', colour = '']) => `\\definecolor{${name}}{HTML}{${colour.slice(1).toUpperCase()}}`),
    '\\begin{semilogyaxis}[',
    `  scale only axis, width=${size(box.width)}, height=${size(box.height)}, font=\\${unit === 1 ? 'footnotesize' : 'Large'}, clip=false,`,
    `  xmin=${figure(readCost(axis.domain[0], axis))}, xmax=${figure(readCost(axis.domain[1], axis))}, ymin=${figure(low)}, ymax=${figure(high)},`,
    `  xtick={${plot.across.map(({ value }) => figure(readCost(value, axis))).join(', ')}}, xticklabels={${plot.across.map(({ text }) => text).join(', ')}},`,
    `  ytick={${plot.up.map(({ value }) => figure(value)).join(', ')}}, yticklabels={${plot.up.map(({ text }) => text).join(', ')}}, yminorticks=false,`,
    `  xlabel={${latexText(plot.acrossTitle)}}, ylabel={bending, deg (log)}, ymajorgrids, grid style={black!15}, axis lines=left, axis line style={-},`,
    '  legend style={draw=none, at={(0.5,-0.24)}, anchor=north, /tikz/every even column/.append style={column sep=6pt}}, legend columns=-1,',
    ']',
    ...(frontier.length === 0 ? [] : ['\\addplot[const plot, thick, bendaccent] coordinates {', ...frontier.map((point) => `  (${at(point.cost, point.angleDeg)})`), '};', '\\addlegendentry{best plan at each budget}']),
    ...plans.flatMap(({ cost, predictedDeg, measuredDeg }) => (predictedDeg === null || measuredDeg === null ? [] : [`\\draw[thin, benddim] (axis cs:${at(cost, predictedDeg)}) -- (axis cs:${at(cost, measuredDeg)});`])),
    ...series('predicted', 'mark=*, mark size=2pt, mark options={draw=COLOUR, fill=white}', (plan) => (plan.predictedDeg === null ? null : `(${at(plan.cost, plan.predictedDeg)})`)),
    ...series('measured', 'mark=*, mark size=1.2pt, mark options={draw=COLOUR, fill=COLOUR}, error bars/.cd, y dir=both, y explicit, error bar style={COLOUR}', (plan) => (plan.measuredDeg === null ? null : `(${at(plan.cost, plan.measuredDeg)})${plan.seDeg === null ? '' : ` +- (0,${figure(plan.seDeg)})`}`)),
    ...plot.labels.map(({ plan, text, place }) => {
      const deg = plan.measuredDeg ?? plan.predictedDeg ?? low;
      const [dx, dy] = [place.x - plot.x(plan.cost), plot.y(deg) - place.middle];
      return `\\node[${plan.current ? 'bendaccent' : 'bendink'}, ${small}, inner sep=0pt, anchor=${ANCHORS[place.anchor]}, xshift=${size(dx)}, yshift=${size(dy)}] at (axis cs:${at(plan.cost, deg)}) {${latexText(text)}};`;
    }),
    ...(plot.numbered.length === 0 ? [] : [`\\node[bendink, ${small}, anchor=north west, align=left, text width=${size(box.width)}] at (axis description cs:0,-0.36) {${plot.numbered.map(latexText).join('\\quad ')}};`]),
    '\\end{semilogyaxis}',
    '\\end{tikzpicture}',
    '',
  ].join('\n');
}
