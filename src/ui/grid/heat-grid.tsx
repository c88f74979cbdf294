/**
 * The DOM grid above the heatmap's drawing: one focusable, named cell a site, header buttons for rows and layers, one tab
 * stop (ARIA grid pattern, ux.md 3.7). It draws nothing but focus and selection.
 */
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Plan } from '../../allocate/plan';
import type { SiteId } from '../../graph/policy';
import type { HeatLayout } from '../charts/heat-layout';
import { sitesOf } from '../../state';
import { useActions, useFacts, useView, useWorkbench } from '../workbench';
import { columnSites, isWide, positionOf, type GridModel } from './grid-model';
import type { Position } from './navigation';
import { siteSentence } from './site-sentence';
import { useGridKeys } from './use-grid-keys';
import { useGridPointer } from './use-grid-pointer';

export interface HeatGridProps {
  readonly model: GridModel;
  readonly layout: HeatLayout;
  readonly plan: Plan;
  openMenu(id: SiteId, x: number, y: number): void;
  /** A cell got or lost keyboard focus: its tooltip. */
  onFocusCell(id: SiteId | null): void;
}

export function HeatGrid({ model, layout, plan, openMenu, onFocusCell }: HeatGridProps) {
  const { view } = useWorkbench();
  const actions = useActions();
  const facts = useFacts((f) => f);
  const fill = useView((v) => v.fill);
  const selection = useView((v) => v.selection);
  const primary = useView((v) => v.primary);
  const hasBrush = useView((v) => v.brush !== null);
  const [active, setActive] = useState<Position>({ row: 0, column: 0 });
  const anchor = useRef<Position>({ row: 0, column: 0 });
  const root = useRef<HTMLDivElement | null>(null);

  const names = useMemo(() => new Map(model.rows.flatMap((row) => row.sites.map((site) => [site.id, siteSentence(facts, plan, site.id, fill)] as const))), [facts, fill, model, plan]);
  const free = useMemo(() => new Set(facts.graph ? sitesOf(facts.graph, facts.recipe).filter(({ cost }) => cost === 0).map(({ id }) => id) : []), [facts.graph, facts.recipe]);
  // Chosen elsewhere (a pair, the scatter): the tab stop follows.
  useEffect(() => {
    const at = positionOf(model, primary);
    // A wide cell is at every column: the way on keeps the column one came from.
    if (at) setActive((old) => (old.row === at.row && (old.column === at.column || isWideAt(model, at.row)) ? old : at));
  }, [primary, model]);

  const focusAt = (at: Position): void => {
    setActive(at);
    root.current?.querySelector<HTMLElement>(`[data-at="${at.row},${at.column >= 0 && isWideAt(model, at.row) ? 0 : at.column}"]`)?.focus();
  };
  const select = (ids: readonly SiteId[], lead: SiteId | null = ids[0] ?? null): void => view.setState({ selection: new Set(ids), primary: lead });
  const onKeyDown = useGridKeys({ model, active, anchor, focusAt, select, openMenu, root });
  const pointer = useGridPointer({ model, layout, anchor, setActive, select });
  const at = (row: number, column: number) => ({ 'data-at': `${row},${column}`, tabIndex: active.row === row && (active.column === column || (column >= 0 && active.column >= 0 && isWideAt(model, row))) ? 0 : -1 });
  const headerFocus = (row: number, column: number) => () => {
    onFocusCell(null);
    setActive({ row, column });
  };
  const cellFocus = (row: number, column: number): void => setActive((old) => (old.row === row && old.column >= 0 && isWideAt(model, row) ? old : { row, column }));

  return (
    <div
      ref={root}
      className={`heat-grid${hasBrush ? ' heat-grid-brush' : ''}${model.kind === 'out' ? ' heat-grid-out' : ''}${layout.cellWidth < 20 ? ' heat-grid-narrow' : ''}`}
      role="grid"
      aria-label={model.kind === 'pass' ? 'Bending by op group, pass and layer' : 'Bending by op group and layer'}
      aria-multiselectable="true"
      aria-rowcount={model.rows.length + 1 + (model.fixed.length > 0 ? 1 : 0)}
      aria-colcount={model.columns + 1}
      style={{ width: layout.right, height: layout.bottom }}
      onKeyDown={onKeyDown}
      onContextMenu={(event) => {
        const cell = (event.target as Element).closest<HTMLElement>('[data-site]');
        if (!cell?.dataset['site']) return;
        event.preventDefault();
        const id = cell.dataset['site'];
        if (!selection.has(id)) select([id]);
        openMenu(id, event.clientX, event.clientY);
      }}
      {...pointer}
    >
      <div role="row" aria-rowindex={1} className="grid-row">
        <div role="columnheader" aria-colindex={1} className="grid-corner" style={{ left: 0, top: layout.headerHeight - 22, width: layout.labelWidth - 8 }}>layer</div>
        {Array.from({ length: model.columns }, (_, c) => (
          <div key={c} role="columnheader" aria-colindex={c + 2} className="grid-head" style={{ left: layout.columnX(c), top: layout.headerHeight - 24, width: layout.cellWidth - 1, height: 22 }}>
            <button type="button" {...at(-1, c)} aria-label={`Layer ${c}: select all its ${model.kind === 'pass' ? 'passes' : 'outputs'}; double click sets them to BF16`} onFocus={headerFocus(-1, c)}
              onClick={() => select(columnSites(model, c))} onDoubleClick={() => actions.setFormats(columnSites(model, c), 'bf16', `set layer ${c} to BF16`)}>
              {c}
            </button>
          </div>
        ))}
      </div>
      {model.rows.map((row, r) => {
        const first = r === 0 || model.rows[r - 1]?.group !== row.group;
        const top = layout.rowY[r] ?? 0;
        const isFree = row.sites.every((site) => free.has(site.id));
        const part = `${row.passLabel.long}${isFree ? ', free' : ''}`;
        return (
          <div key={`${row.group}:${row.pass}`} role="row" aria-rowindex={r + 2} className="grid-row">
            <div role="rowheader" aria-colindex={1} className="grid-head grid-head-row" style={{ left: 0, top, width: layout.labelWidth - 8, height: layout.cellHeight }}>
              <button type="button" {...at(r, -1)} aria-label={`${row.groupLabel.short} ${part}, ${row.groupLabel.long}: select the row`} title={`${row.groupLabel.long}, ${row.passLabel.long}${isFree ? ': the backward pass does not keep it, so BF16 costs nothing' : ''}`} onFocus={headerFocus(r, -1)}
                onClick={() => select(row.sites.map((site) => site.id))}>
                <span className="grid-group">{first ? row.groupLabel.short : ''}</span>{' '}
                <span className="grid-pass">{part}</span>
              </button>
            </div>
            {row.sites.map((site, c) => (
              <div
                key={site.id}
                role="gridcell"
                aria-colindex={c + 2}
                aria-colspan={isWide(row) ? model.columns : undefined}
                {...at(r, c)}
                data-site={site.id}
                className={`grid-cell${site.id === primary ? ' grid-primary' : ''}`}
                aria-selected={selection.has(site.id)}
                aria-label={names.get(site.id)}
                style={{ left: layout.columnX(c), top, width: (isWide(row) ? layout.right - layout.columnX(0) : layout.cellWidth) - 0.5, height: layout.cellHeight - 0.5 }}
                onFocus={(event) => {
                  cellFocus(r, c);
                  if (event.currentTarget.matches(':focus-visible')) onFocusCell(site.id);
                }}
                onBlur={() => onFocusCell(null)}
              />
            ))}
          </div>
        );
      })}
      {model.fixed.length > 0 ? <FixedRow model={model} layout={layout} {...at(model.rows.length, 0)} onFocus={() => {
        onFocusCell(null);
        cellFocus(model.rows.length, 0);
      }} /> : null}
    </div>
  );
}

/** Whether a row is one wide cell: an op group outside the layers, or the fixed row. */
function isWideAt(model: GridModel, row: number): boolean {
  const found = model.rows[row];
  return found === undefined ? row >= model.rows.length : isWide(found);
}

/** The head: its passes exist and stay BF16 under every recipe of passes, so they are shown and never painted (ux.md 3.1). */
function FixedRow({ model, layout, ...cell }: { readonly model: GridModel; readonly layout: HeatLayout; readonly tabIndex: number; readonly 'data-at': string; onFocus(): void }) {
  const label = model.fixed[0]?.groupLabel;
  const top = layout.rowY[model.rows.length] ?? 0;
  return (
    <div role="row" aria-rowindex={model.rows.length + 2} className="grid-row">
      <div role="rowheader" aria-colindex={1} className="grid-head grid-head-row grid-head-fixed" style={{ left: 0, top, width: layout.labelWidth - 8, height: layout.cellHeight }} title={label?.long}>
        <span className="grid-group">{label?.short}</span>
      </div>
      <div role="gridcell" aria-colindex={2} aria-colspan={model.columns} {...cell} className="grid-cell grid-fixed" aria-label={`${label?.long ?? 'Head'}, all three passes: BF16, kept by the recipe.`}
        style={{ left: layout.columnX(0), top, width: layout.right - layout.columnX(0) - 1, height: layout.cellHeight - 1 }}>
        BF16, kept by the recipe
      </div>
    </div>
  );
}
