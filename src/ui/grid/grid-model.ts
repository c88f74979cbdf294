/**
 * The grid as rows and columns of sites, and every cell as what the heatmap draws. Pure: facts and plans in, data out.
 * A row of an op group outside the layers (embedding, final norm, head) is one wide cell across all columns.
 */
import { formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import type { RecipeName, SiteFormat, SiteId } from '../../graph/policy';
import { RECIPES } from '../../graph/recipes';
import { gridRows, type GridRow } from '../../graph/sites';
import type { Graph } from '../../graph/types';
import { FORMATS } from '../../numerics/formats';
import { operandFormat } from '../../numerics/schemes';
import type { FillCell } from '../../state';
import type { HalfCell, HeatCell, Mark } from '../charts/heatmap';
import { ANGLE_DOMAIN } from '../charts/scales';
import type { Position } from './navigation';
import type { ColumnRange } from './visible-columns';

export interface GridModel {
  readonly kind: 'pass' | 'out';
  /** Rows that can be painted, from the top. */
  readonly rows: readonly GridRow[];
  /** The head's rows under a recipe of passes: shown as one, never painted. */
  readonly fixed: readonly GridRow[];
  readonly columns: number;
  /** Sizes of the blocks of rows, the fixed row as a block of one. */
  readonly groups: readonly number[];
  /** Rows that PageUp and PageDown move by. */
  readonly page: number;
}

export function isWide(row: GridRow): boolean {
  return row.sites[0]?.layer === null;
}

export function gridModel(graph: Graph, recipe: RecipeName): GridModel {
  const all = gridRows(graph, recipe);
  const rows = all.filter((row) => row.paintable);
  const fixed = all.filter((row) => !row.paintable);
  const { kind } = RECIPES[recipe];
  const sums = new Set(graph.nodes.filter((node) => node.op === 'add').map((node) => node.id));
  /** Passes: a block an op group. Outputs: a residual sum ends the attention's rows and the MLP's. */
  const begins = (row: GridRow, before: GridRow | undefined): boolean =>
    before === undefined || (kind === 'pass' ? before.group !== row.group : isWide(before) !== isWide(row) || sums.has(before.sites[0]?.node ?? ''));
  const groups: number[] = [];
  rows.forEach((row, i) => {
    if (begins(row, rows[i - 1])) groups.push(0);
    groups[groups.length - 1] = (groups.at(-1) ?? 0) + 1;
  });
  return { kind, rows, fixed, columns: graph.layers, groups: fixed.length > 0 ? [...groups, 1] : groups, page: Math.max(1, ...groups) };
}

export function siteAt(model: GridModel, { row, column }: Position): SiteId | null {
  const found = model.rows[row];
  if (found === undefined || column < 0) return null;
  return (isWide(found) ? found.sites[0] : found.sites[column])?.id ?? null;
}

/** Where a site is; a wide cell counts as column 0. */
export function positionOf(model: GridModel, id: SiteId | null): Position | null {
  if (id === null) return null;
  for (const [row, { sites }] of model.rows.entries()) {
    const column = sites.findIndex((site) => site.id === id);
    if (column >= 0) return { row, column };
  }
  return null;
}

/** B: BF16; else the bits of an element of the format. */
export function markOf(format: SiteFormat): Mark {
  if (format === 'bf16') return 'B';
  const { bits } = FORMATS[operandFormat(format, 'x').element];
  return bits <= 4 ? '4' : bits <= 6 ? '6' : '8';
}

export interface CellFacts {
  /** By site, what the chosen fill says. */
  readonly fill: ReadonlyMap<SiteId, FillCell>;
  readonly measuring: SiteId | null;
  /** Whether the cell's figure came with the app. */
  isStored(id: SiteId): boolean;
  /** Cells whose decision flips within noise. */
  readonly unstable?: ReadonlySet<SiteId>;
  /** Cells that the committed plan has in a format that was not measured. */
  readonly unpredicted?: ReadonlySet<SiteId>;
  /** Layers to draw; absent: all. Wide cells are always drawn. */
  readonly columns?: ColumnRange;
  /** In the difference view: A, and how much a cell bends in a format, degrees; null where it was not measured. */
  readonly against?: { readonly plan: Plan; angleIn(id: SiteId, format: SiteFormat): number | null };
}

/** Outside the legend's handles; a handle at its end cuts nothing off: 0 has the colour of the lower end. */
function isOutside(angleDeg: number, [low, high]: readonly [number, number]): boolean {
  return (angleDeg < low && low > ANGLE_DOMAIN[0]) || (angleDeg > high && high < ANGLE_DOMAIN[1]);
}

/** What to draw of a committed plan, row by row. */
export function heatCells(model: GridModel, facts: CellFacts, plan: Plan, range: readonly [number, number]): HeatCell[] {
  const { columns } = facts;
  return model.rows.flatMap((row, r) => {
    const [first, last] = columns === undefined || isWide(row) ? [0, row.sites.length - 1] : columns;
    return row.sites.slice(first, last + 1).map((site, c): HeatCell => {
      const { state, angleDeg, belowNoise } = facts.fill.get(site.id) ?? { state: 'missing', angleDeg: null, belowNoise: false };
      const format = formatOf(plan.formats, site.id);
      const halves = facts.against === undefined ? null : splitOf(facts.against, site.id, format);
      return {
        id: site.id,
        row: r,
        column: site.layer ?? c,
        wide: isWide(row),
        state: facts.measuring === site.id ? 'measuring' : state,
        angleDeg,
        mark: markOf(format),
        ghost: null,
        locked: plan.locked[site.id] === true,
        belowNoise,
        stored: state !== 'missing' && facts.isStored(site.id),
        dimmed: halves === 'same' || (angleDeg !== null && isOutside(angleDeg, range)),
        ...(facts.unstable?.has(site.id) === true ? { unstable: true } : {}),
        ...(facts.unpredicted?.has(site.id) === true ? { unpredicted: true } : {}),
        ...(halves === null || halves === 'same' ? {} : { split: halves }),
      };
    });
  });
}

/** The same cells where a plan under the hand, or pointed at, would change nothing; the others with its letter. */
export function withGhosts(cells: readonly HeatCell[], plan: Plan, shown: Plan): readonly HeatCell[] {
  if (shown.formats === plan.formats) return cells;
  return cells.map((cell): HeatCell => {
    const next = formatOf(shown.formats, cell.id);
    return next === formatOf(plan.formats, cell.id) ? cell : { ...cell, ghost: markOf(next) };
  });
}

/** A's side and B's of a cell; null where A has no such cell. */
function splitOf({ plan, angleIn }: NonNullable<CellFacts['against']>, id: SiteId, format: SiteFormat): readonly [HalfCell, HalfCell] | 'same' | null {
  const before = plan.formats[id];
  if (before === undefined) return null;
  if (before === format) return 'same';
  const half = (of: SiteFormat): HalfCell => ({ mark: markOf(of), angleDeg: of === 'bf16' ? null : angleIn(id, of) });
  return [half(before), half(format)];
}

/** Sites of the rectangle between two cells, either corner first. */
export function rectangle(model: GridModel, a: Position, b: Position): SiteId[] {
  const [top, bottom] = [Math.min(a.row, b.row), Math.max(a.row, b.row)];
  const [left, right] = [Math.min(a.column, b.column), Math.max(a.column, b.column)];
  return model.rows.slice(Math.max(0, top), bottom + 1).flatMap((row) => (isWide(row) ? row.sites : row.sites.slice(Math.max(0, left), right + 1)).map((site) => site.id));
}

/** The sites of a layer; wide cells are in none. */
export function columnSites(model: GridModel, column: number): SiteId[] {
  return model.rows.flatMap((row) => (isWide(row) ? [] : row.sites.slice(column, column + 1).map((site) => site.id)));
}

export function allSites(model: GridModel): SiteId[] {
  return model.rows.flatMap((row) => row.sites.map((site) => site.id));
}
