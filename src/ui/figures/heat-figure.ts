/**
 * The heatmap as a figure: rows of op groups and passes, columns of layers, the ramp with its ticks, and a key of every
 * mark and pattern that occurs. Units of the sheet.
 */
import type { Mark } from '../charts/heatmap';
import { colourBar } from './colour-bar';
import { inksOf, label, NORMAL, SHEETS, SMALL, type Drawing, type Inks, type Shape } from './drawing';
import { flowKey, words, type KeyEntry } from './figure-key';
import type { FigureCell, FigureOptions, FigureWidth, HeatInput } from './figure-types';
import { cellShapes, detailFor, SIGNS, type Detail } from './heat-cells';
import type { Box } from './patterns';
import { textWidth } from './text-width';

const EDGE = 2;
/** Titles of the row labels. */
const [GROUPS, PARTS] = ['op', 'pass'];
/** Layer title and layer numbers. */
const HEADER = 20;
const GROUP_GAP = 2.5;
const CELL_GAP = 0.75;
/** Heights of a cell; a slide's rows share what is left of 6 in. */
const CELL_HEIGHT: Readonly<Record<FigureWidth, number>> = { column: 10.5, page: 12, slide: 10.5 };
const LONGEST_RAMP = 220;
/** With more layers the long names of the passes cost the cells too much. */
const LONG_NAMES_UP_TO = 24;

interface Grid {
  readonly labels: number;
  readonly groups: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly rowY: readonly number[];
  readonly bottom: number;
  readonly isShort: boolean;
}

function gridOf(input: HeatInput, width: FigureWidth): Grid {
  const sheet = SHEETS[width];
  const isShort = width === 'column' || input.columns > LONG_NAMES_UP_TO;
  const names = [GROUPS, ...input.rows.map((row) => row.group), input.fixed?.group ?? ''];
  const groups = Math.max(...names.map((name) => textWidth(name, SMALL))) + 4;
  const named = input.rows.flatMap(({ part }) => (part === null ? [] : [isShort ? part.short : part.long]));
  const parts = named.length === 0 ? 0 : Math.max(...[PARTS, ...named].map((name) => textWidth(name, SMALL))) + 4;
  const labels = EDGE + groups + parts;
  const cellWidth = (sheet.width - labels - EDGE) / Math.max(1, input.columns);
  const cellHeight = CELL_HEIGHT[width];
  const rowY: number[] = [];
  let y = EDGE + HEADER;
  input.groups.forEach((rows, g) => {
    if (g > 0) y += GROUP_GAP;
    for (let r = 0; r < rows; r++, y += cellHeight) rowY.push(y);
  });
  return { labels, groups, cellWidth, cellHeight, rowY, bottom: y, isShort };
}

const boxOf = (grid: Grid, input: HeatInput, { row, column, wide }: Pick<FigureCell, 'row' | 'column' | 'wide'>): Box => {
  // Gaps between narrow cells are narrower.
  const gap = Math.min(CELL_GAP, grid.cellWidth / 9);
  return { x: grid.labels + (wide ? 0 : column) * grid.cellWidth, y: grid.rowY[row] ?? 0, width: (wide ? input.columns : 1) * grid.cellWidth - gap, height: grid.cellHeight - CELL_GAP };
};

export function heatFigure(input: HeatInput, { width, colourMap }: FigureOptions): Drawing {
  const inks = inksOf(colourMap);
  const sheet = SHEETS[width];
  const grid = gridOf(input, width);
  const boxes = input.cells.map((cell) => boxOf(grid, input, cell));
  const detailOf = (wide: boolean): Detail => {
    const { width: room, height } = boxOf(grid, input, { row: 0, column: 0, wide });
    return detailFor(input.cells.filter((cell) => cell.wide === wide), room, height);
  };
  const [detail, wideDetail] = [detailOf(false), detailOf(true)];
  const shapes: Shape[] = [...headerShapes(input, grid, inks), ...rowLabels(input, grid, inks)];
  shapes.push(...cellShapes(input.cells.map((cell, i) => ({ cell, box: boxes[i] ?? boxOf(grid, input, cell), detail: cell.wide ? wideDetail : detail })), colourMap, inks));
  if (input.fixed !== null) {
    const box = boxOf(grid, input, { row: input.rows.length, column: 0, wide: true });
    shapes.push({ kind: 'rect', ...box, fill: inks.paper, stroke: { colour: inks.strong, width: 0.5 } }, label(box.x + box.width / 2, box.y + box.height / 2, input.fixed.text, inks.soft, { anchor: 'middle' }));
  }
  const right = sheet.width - EDGE;
  const bar = colourBar(input.rampTitle, input.floors, colourMap, { left: EDGE, right, top: grid.bottom + 4, rampWidth: Math.min(LONGEST_RAMP, right - EDGE) }, inks);
  const key = flowKey(keyEntries(input, grid, detail, bar.hasFloor, colourMap, inks), { left: EDGE, right, top: grid.bottom + 4 + bar.height + 2 }, inks);
  shapes.push(...bar.shapes, ...key.shapes);
  return { width: sheet.width, height: grid.bottom + 4 + bar.height + 2 + key.height + EDGE, unit: sheet.unit, shapes };
}

/** "layer" above the numbers; every number that there is room for. */
function headerShapes({ columns, rows }: HeatInput, grid: Grid, inks: Inks): Shape[] {
  const widest = textWidth(String(columns - 1), SMALL) + 2;
  const every = [1, 2, 4, 5, 8, 10, 16, 20].find((n) => n * grid.cellWidth >= widest) ?? columns;
  const middle = EDGE + 15;
  const shapes = [
    label(grid.labels + (columns * grid.cellWidth) / 2, EDGE + 5, 'layer', inks.ink, { size: NORMAL, anchor: 'middle' }),
    label(EDGE, middle, GROUPS, inks.soft),
    ...(rows.some(({ part }) => part !== null) ? [label(EDGE + grid.groups, middle, PARTS, inks.soft)] : []),
  ];
  for (let c = 0; c < columns; c += every) shapes.push(label(grid.labels + (c + 0.5) * grid.cellWidth, middle, String(c), inks.soft, { anchor: 'middle' }));
  return shapes;
}

function rowLabels({ rows, fixed }: HeatInput, grid: Grid, inks: Inks): Shape[] {
  const middleOf = (r: number): number => (grid.rowY[r] ?? 0) + (grid.cellHeight - CELL_GAP) / 2;
  const shapes = rows.flatMap(({ group, part }, r) => [
    ...(rows[r - 1]?.group === group ? [] : [label(EDGE, middleOf(r), group, inks.ink)]),
    ...(part === null ? [] : [label(EDGE + grid.groups, middleOf(r), grid.isShort ? part.short : part.long, inks.soft)]),
  ]);
  return fixed === null ? shapes : [...shapes, label(EDGE, middleOf(rows.length), fixed.group, inks.ink)];
}

const BLANK: FigureCell = { id: '', row: 0, column: 0, wide: false, state: 'value', angleDeg: null, mark: '4', locked: false, belowNoise: false, stored: false, unstable: false, unpredicted: false };

/** One entry for each mark and pattern that occurs, drawn as a cell of the same detail. */
function keyEntries(input: HeatInput, grid: Grid, detail: Detail, hasFloor: boolean, map: FigureOptions['colourMap'], inks: Inks): KeyEntry[] {
  const { cells, formats } = input;
  const some = (is: (cell: FigureCell) => boolean | undefined): boolean => cells.some(is);
  const swatch = (cell: Partial<FigureCell>, look: Detail = 'patterns'): KeyEntry['swatch'] => ({
    width: 13,
    shapes: (x, middle) => cellShapes([{ cell: { ...BLANK, ...cell }, box: { x, y: middle - 4.5, width: 13, height: 9 }, detail: look }], map, inks),
  });
  const entry = (is: boolean, drawn: KeyEntry['swatch'], text: string): KeyEntry[] => (is ? [{ swatch: drawn, words: text }] : []);
  const parts = [...new Map(input.rows.flatMap(({ part }) => (part === null ? [] : [[part.short, part]]))).values()];
  const unmeasured = (cell: FigureCell): boolean => cell.angleDeg === null && cell.state !== 'failed';
  return [
    ...(['B', '8', '6', '4'] as const satisfies readonly Mark[]).flatMap((mark) => entry(some((cell) => cell.mark === mark), swatch({ mark }, detail === 'patterns' ? 'patterns' : 'letters'), formats[mark] ?? `${mark} bits`)),
    ...entry(some((cell) => cell.belowNoise), swatch({ belowNoise: true }), input.hatchWords),
    ...entry(some((cell) => cell.angleDeg !== null && cell.angleDeg < 0), swatch({ angleDeg: -1 }), input.negativeWords),
    ...entry(some(unmeasured), swatch({ state: 'missing' }), `${detail === 'figures' ? `${SIGNS.missing} ` : ''}not measured`),
    ...entry(some((cell) => cell.state === 'failed'), swatch({ state: 'failed' }), `${detail === 'figures' ? `${SIGNS.failed} ` : ''}failed`),
    ...entry(some((cell) => cell.locked), swatch({ locked: true }), 'locked'),
    ...(detail === 'figures' && some((cell) => cell.unpredicted) ? [words(`${SIGNS.missing} on a colour: not measured in the plan's format`)] : []),
    ...entry(some((cell) => cell.unstable), swatch({ unstable: true }), 'flips within noise'),
    ...entry(some((cell) => cell.stored), swatch({ stored: true }), 'not measured on this device'),
    ...(grid.isShort && parts.some(({ short, long }) => short !== long) ? [words(parts.map(({ short, long }) => `${short} ${long}`).join(', '))] : []),
    ...(hasFloor ? [words('fw, bw: noise floor of the forward and the backward pass')] : []),
    ...(input.source.note === null ? [] : [words(input.source.note)]),
  ];
}
