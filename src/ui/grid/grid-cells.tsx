/** Rows, headers and cells of the DOM grid. A cell is rendered again only where its own name, place or state has changed. */
import { memo } from 'react';
import type { SiteId } from '../../graph/policy';
import type { GridRow } from '../../graph/sites';
import type { HeatLayout } from '../charts/heat-layout';
import { isWide, type GridModel } from './grid-model';
import { isInRange, type ColumnRange } from './visible-columns';

interface GridCellProps {
  readonly id: SiteId;
  readonly row: number;
  readonly column: number;
  /** Columns it spans; 1 for a cell of a layer. */
  readonly span: number;
  readonly name: string;
  readonly isTabStop: boolean;
  readonly isSelected: boolean;
  readonly isPrimary: boolean;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const GridCell = memo(function GridCell({ id, row, column, span, name, isTabStop, isSelected, isPrimary, left, top, width, height }: GridCellProps) {
  return (
    <div
      role="gridcell" aria-colindex={column + 2} aria-colspan={span > 1 ? span : undefined} data-at={`${row},${column}`} data-site={id} tabIndex={isTabStop ? 0 : -1}
      className={isPrimary ? 'grid-cell grid-primary' : 'grid-cell'} aria-selected={isSelected} aria-label={name} style={{ left, top, width, height }}
    />
  );
});

interface GridRowProps {
  readonly row: GridRow;
  readonly index: number;
  /** First row of its op group. */
  readonly isFirst: boolean;
  /** BF16 costs nothing there. */
  readonly isFree: boolean;
  readonly model: GridModel;
  readonly layout: HeatLayout;
  readonly selection: ReadonlySet<SiteId>;
  readonly primary: SiteId | null;
  /** Layers to render; the tab stop's is always. */
  readonly columns: ColumnRange;
  /** Column of the tab stop in this row, -1 for its header; null: it is in another row. */
  readonly tabColumn: number | null;
  nameOf(id: SiteId): string;
  select(ids: readonly SiteId[]): void;
}

export const GridRowCells = memo(function GridRowCells({ row, index, isFirst, isFree, model, layout, nameOf, selection, primary, columns, tabColumn, select }: GridRowProps) {
  const top = layout.rowY[index] ?? 0;
  const wide = isWide(row);
  const part = `${row.passLabel.long}${isFree ? ', free' : ''}`;
  return (
    <div role="row" aria-rowindex={index + 2} className="grid-row">
      <div role="rowheader" aria-colindex={1} className="grid-head grid-head-row" style={{ left: 0, top, width: layout.labelWidth - 8, height: layout.cellHeight }}>
        <button type="button" data-at={`${index},-1`} tabIndex={tabColumn === -1 ? 0 : -1} aria-label={`${row.groupLabel.short} ${part}, ${row.groupLabel.long}: select the row`}
          title={`${row.groupLabel.long}, ${row.passLabel.long}${isFree ? ': the backward pass does not keep it, so BF16 costs nothing' : ''}`} onClick={() => select(row.sites.map((site) => site.id))}>
          <span className="grid-group">{isFirst ? row.groupLabel.short : ''}</span>{' '}
          <span className="grid-pass">{part}</span>
        </button>
      </div>
      {row.sites.map(({ id }, c) => (wide || tabColumn === c || isInRange(columns, c) ? (
        <GridCell
          key={id} id={id} row={index} column={c} span={wide ? model.columns : 1} name={nameOf(id)}
          // A wide cell is at every column.
          isTabStop={tabColumn === c || (wide && tabColumn !== null && tabColumn >= 0)} isSelected={selection.has(id)} isPrimary={id === primary}
          left={layout.columnX(c)} top={top} width={(wide ? layout.right - layout.columnX(0) : layout.cellWidth) - 0.5} height={layout.cellHeight - 0.5}
        />
      ) : null))}
    </div>
  );
});

/** The head: its passes exist and stay BF16 under every recipe of passes, so they are shown and never painted (ux.md 3.1). */
export function FixedRow({ model, layout, isTabStop }: { readonly model: GridModel; readonly layout: HeatLayout; readonly isTabStop: boolean }) {
  const label = model.fixed[0]?.groupLabel;
  const top = layout.rowY[model.rows.length] ?? 0;
  return (
    <div role="row" aria-rowindex={model.rows.length + 2} className="grid-row">
      <div role="rowheader" aria-colindex={1} className="grid-head grid-head-row grid-head-fixed" style={{ left: 0, top, width: layout.labelWidth - 8, height: layout.cellHeight }} title={label?.long}>
        <span className="grid-group">{label?.short}</span>
      </div>
      <div role="gridcell" aria-colindex={2} aria-colspan={model.columns} data-at={`${model.rows.length},0`} tabIndex={isTabStop ? 0 : -1} className="grid-cell grid-fixed" aria-label={`${label?.long ?? 'Head'}, all three passes: BF16, kept by the recipe.`}
        style={{ left: layout.columnX(0), top, width: layout.right - layout.columnX(0) - 1, height: layout.cellHeight - 1 }}>
        BF16, kept by the recipe
      </div>
    </div>
  );
}
