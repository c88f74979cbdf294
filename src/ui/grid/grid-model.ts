/**
 * The grid as rows and columns of sites, and every cell as what the heatmap draws. Pure: facts and plans in, data out.
 */
import { formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import type { SiteFormat, SiteId } from '../../graph/policy';
import { gridRows, type GridRow } from '../../graph/sites';
import type { Graph } from '../../graph/types';
import type { FactsState } from '../../state';
import type { HeatCell, Mark } from '../charts/heatmap';

export interface GridModel {
  /** Rows that can be painted: op groups from the top, in each the three passes. */
  readonly rows: readonly GridRow[];
  /** The head's rows: shown as one, never painted. */
  readonly fixed: readonly GridRow[];
  readonly columns: number;
  /** Sizes of the op groups, the fixed row as a group of one. */
  readonly groups: readonly number[];
}

export function gridModel(graph: Graph): GridModel {
  const all = gridRows(graph);
  const rows = all.filter((row) => row.paintable);
  const fixed = all.filter((row) => !row.paintable);
  const groups: number[] = [];
  rows.forEach((row, i) => {
    if (i === 0 || rows[i - 1]?.group !== row.group) groups.push(0);
    groups[groups.length - 1] = (groups.at(-1) ?? 0) + 1;
  });
  return { rows, fixed, columns: graph.layers, groups: fixed.length > 0 ? [...groups, 1] : groups };
}

export function markOf(format: SiteFormat): Mark {
  return format === 'bf16' ? 'B' : '4';
}

interface CellFacts extends Pick<FactsState, 'sites' | 'measuredHere'> {
  readonly measuring: SiteId | null;
}

/** What to draw, row by row. `plan` is the committed plan, `shown` the one under the hand. */
export function heatCells(model: GridModel, facts: CellFacts, plan: Plan, shown: Plan, range: readonly [number, number]): HeatCell[] {
  return model.rows.flatMap((row, r) =>
    row.sites.map((site, c): HeatCell => {
      const result = facts.sites[site.id];
      const measured = result?.status === 'measured' ? result : null;
      const mark = markOf(formatOf(plan.formats, site.id));
      const next = markOf(formatOf(shown.formats, site.id));
      const measuring = facts.measuring === site.id;
      return {
        id: site.id,
        row: r,
        column: site.layer ?? c,
        state: measuring ? 'measuring' : measured ? 'value' : result ? 'failed' : 'missing',
        angleDeg: measured ? measured.cleanAngleDeg : null,
        mark,
        ghost: next === mark ? null : next,
        locked: plan.locked[site.id] === true,
        belowNoise: measured?.belowNoise ?? false,
        stored: result !== undefined && !facts.measuredHere.has(site.id),
        dimmed: measured !== null && (measured.cleanAngleDeg < range[0] || measured.cleanAngleDeg > range[1]),
      };
    }),
  );
}

/** Sites of the rectangle between two cells, either corner first. */
export function rectangle(model: GridModel, a: { row: number; column: number }, b: { row: number; column: number }): SiteId[] {
  const [top, bottom] = [Math.min(a.row, b.row), Math.max(a.row, b.row)];
  const [left, right] = [Math.min(a.column, b.column), Math.max(a.column, b.column)];
  return model.rows.slice(Math.max(0, top), bottom + 1).flatMap((row) => row.sites.slice(Math.max(0, left), right + 1).map((site) => site.id));
}

export function columnSites(model: GridModel, column: number): SiteId[] {
  return model.rows.flatMap((row) => row.sites.slice(column, column + 1).map((site) => site.id));
}

export function allSites(model: GridModel): SiteId[] {
  return model.rows.flatMap((row) => row.sites.map((site) => site.id));
}
