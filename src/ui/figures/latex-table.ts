/**
 * Plans as a booktabs table with siunitx columns (ux.md 4.3): plain ASCII, so that pdfLaTeX compiles whatever a plan is
 * called. A figure that does not exist says why.
 */
import type { FigurePlan, FrontierInput } from './figure-types';
import { header, latexText, readCost } from './latex-text';

interface Column {
  readonly head: string;
  /** siunitx format; null for words. */
  readonly format: string | null;
  cell(plan: FigurePlan): string;
}

/** In braces a word stands in a column of numbers. */
const word = (text: string): string => `{${text}}`;
const isNumber = (deg: number | null): deg is number => deg !== null && Number.isFinite(deg);

/** Decimals that show the smallest figure with two digits. */
function decimalsFor(values: readonly (number | null)[]): number {
  const least = Math.min(...values.filter((value): value is number => isNumber(value) && Math.abs(value) > 0).map(Math.abs));
  return Number.isFinite(least) ? Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(least)))) : 1;
}
const formatFor = (values: readonly (number | null)[], decimals: number, uncertainty = ''): string => {
  const whole = Math.max(1, ...values.filter(isNumber).map((value) => Math.floor(Math.abs(value)).toFixed(0).length));
  return `table-format = ${values.some((value) => isNumber(value) && value < 0) ? '-' : ''}${whole}.${decimals}${uncertainty}`;
};

/** Name, cost, predicted, measured with its standard error, gap, batches: one row a plan. */
export function latexTable({ source, axis, plans }: Pick<FrontierInput, 'source' | 'axis' | 'plans'>): string {
  const gapOf = ({ predictedDeg, measuredDeg }: FigurePlan): number | null => (predictedDeg === null || measuredDeg === null ? null : measuredDeg - predictedDeg);
  const costs = plans.map(({ cost }) => readCost(cost, axis));
  const decimals = decimalsFor([...plans.flatMap(({ predictedDeg, measuredDeg, seDeg }) => [predictedDeg, measuredDeg, seDeg]), ...plans.map(gapOf)].map((value) => (isNumber(value) && Math.abs(value) >= 0.01 ? value : null)));
  const number = (value: number | null, why: string): string => (isNumber(value) ? value.toFixed(decimals) : word(why));
  const columns: readonly Column[] = [
    { head: 'plan', format: null, cell: ({ name }) => latexText(name) },
    { head: `${latexText(axis.name)} / ${axis.unit === '%' ? '\\si{\\percent}' : 'bits'}`, format: formatFor(costs, 1), cell: ({ cost }) => readCost(cost, axis).toFixed(1) },
    { head: 'predicted / \\si{\\degree}', format: formatFor(plans.map((plan) => plan.predictedDeg), decimals), cell: ({ predictedDeg }) => number(predictedDeg, 'not predicted') },
    { head: 'measured / \\si{\\degree}', format: formatFor(plans.map((plan) => plan.measuredDeg), decimals), cell: ({ measuredDeg }) => number(measuredDeg, 'not measured') },
    { head: 'se / \\si{\\degree}', format: formatFor(plans.map((plan) => plan.seDeg), decimals), cell: ({ measuredDeg, seDeg }) => (measuredDeg === null ? word('not measured') : number(seDeg, 'one batch')) },
    { head: 'gap / \\si{\\degree}', format: formatFor(plans.map(gapOf), decimals), cell: (plan) => number(gapOf(plan), 'unknown') },
    { head: 'batches', format: formatFor(plans.map(({ batches }) => batches), 0).replace(/\.0$/, ''), cell: ({ batches }) => (batches === null ? word('none') : String(batches)) },
  ];
  return [
    ...header(source, 'needs the packages booktabs and siunitx; se: standard error over batches; gap: measured minus predicted'),
    `\\begin{tabular}{${columns.map(({ format }) => (format === null ? 'l' : `S[${format}]`)).join(' ')}}`,
    '\\toprule',
    `${columns.map(({ head, format }) => (format === null ? head : word(head))).join(' & ')} \\\\`,
    '\\midrule',
    ...plans.map((plan) => `${columns.map((column) => column.cell(plan)).join(' & ')} \\\\`),
    '\\bottomrule',
    '\\end{tabular}',
    '',
  ].join('\n');
}
