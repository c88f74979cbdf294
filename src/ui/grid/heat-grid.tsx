/**
 * The DOM grid above the heatmap's drawing: one focusable, named cell a site, header buttons for rows and layers, one tab
 * stop (ARIA grid pattern, ux.md 3.7). It draws nothing but focus and selection, so a drag does not touch it.
 */
import { memo, useCallback, useEffect, useMemo, useRef, useState, type FocusEvent } from 'react';
import type { Plan } from '../../allocate/plan';
import type { SiteId } from '../../graph/policy';
import type { HeatLayout } from '../charts/heat-layout';
import { sitesOf } from '../../state';
import { useActions, useFacts, useView, useWorkbench } from '../workbench';
import { FixedRow, GridRowCells } from './grid-cells';
import { columnSites, isWide, positionOf, type GridModel } from './grid-model';
import type { Position } from './navigation';
import { siteSentence } from './site-sentence';
import { useGridKeys } from './use-grid-keys';
import { useGridPointer } from './use-grid-pointer';
import { isInRange, type ColumnRange } from './visible-columns';

export interface HeatGridProps {
  readonly model: GridModel;
  readonly layout: HeatLayout;
  readonly plan: Plan;
  /** Layers to render, beside that of the tab stop. */
  readonly columns: ColumnRange;
  /** A, in the difference view. */
  readonly against: Plan | null;
  openMenu(id: SiteId, x: number, y: number): void;
  /** A cell got or lost keyboard focus: its tooltip. */
  onFocusCell(id: SiteId | null): void;
}

export const HeatGrid = memo(function HeatGrid({ model, layout, plan, columns, against, openMenu, onFocusCell }: HeatGridProps) {
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
  /** To be focused as soon as it is rendered. */
  const wanted = useRef<Position | null>(null);

  const nameOf = useMemo(() => namesOf((id) => siteSentence(facts, plan, id, fill, against)), [facts, fill, plan, against]);
  const free = useMemo(() => new Set(facts.graph ? sitesOf(facts.graph, facts.recipe).filter(({ cost }) => cost === 0).map(({ id }) => id) : []), [facts.graph, facts.recipe]);
  // Chosen elsewhere (a pair, the scatter): the tab stop follows.
  useEffect(() => {
    const at = positionOf(model, primary);
    // A wide cell is at every column: the way on keeps the column one came from.
    if (at) setActive((old) => (old.row === at.row && (old.column === at.column || isWideAt(model, at.row)) ? old : at));
  }, [primary, model]);

  const elementAt = (at: Position): HTMLElement | null => root.current?.querySelector(`[data-at="${at.row},${at.column >= 0 && isWideAt(model, at.row) ? 0 : at.column}"]`) ?? null;
  const focusAt = (at: Position): void => {
    const element = elementAt(at);
    wanted.current = element === null ? at : null;
    setActive(at);
    element?.focus();
  };
  // Far away a cell is rendered only once it is the tab stop.
  useEffect(() => {
    if (wanted.current === null) return;
    elementAt(wanted.current)?.focus();
    wanted.current = null;
  });
  const select = useCallback((ids: readonly SiteId[], lead: SiteId | null = ids[0] ?? null): void => view.setState({ selection: new Set(ids), primary: lead }), [view]);
  const onKeyDown = useGridKeys({ model, active, anchor, focusAt, select, openMenu, root });
  const pointer = useGridPointer({ model, layout, anchor, setActive, select });
  const onFocus = ({ target }: FocusEvent<HTMLElement>): void => {
    const at = target.closest<HTMLElement>('[data-at]')?.dataset['at'];
    if (at === undefined) return;
    const [row = 0, column = 0] = at.split(',').map(Number);
    setActive((old) => (old.row === row && (old.column === column || (column >= 0 && old.column >= 0 && isWideAt(model, row))) ? old : { row, column }));
    const id = target.dataset['site'];
    onFocusCell(id !== undefined && target.matches(':focus-visible') ? id : null);
  };

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
      onFocus={onFocus}
      onBlur={() => onFocusCell(null)}
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
        {Array.from({ length: model.columns }, (_, c) => (isInRange(columns, c) || c === active.column ? (
          <div key={c} role="columnheader" aria-colindex={c + 2} className="grid-head" style={{ left: layout.columnX(c), top: layout.headerHeight - 24, width: layout.cellWidth - 1, height: 22 }}>
            <button type="button" data-at={`-1,${c}`} tabIndex={active.row === -1 && active.column === c ? 0 : -1} aria-label={`Layer ${c}: select all its ${model.kind === 'pass' ? 'passes' : 'outputs'}; double click sets them to BF16`}
              onClick={() => select(columnSites(model, c))} onDoubleClick={() => actions.setFormats(columnSites(model, c), 'bf16', `set layer ${c} to BF16`)}>
              {c}
            </button>
          </div>
        ) : null))}
      </div>
      {model.rows.map((row, r) => (
        <GridRowCells
          key={`${row.group}:${row.pass}`} row={row} index={r} isFirst={r === 0 || model.rows[r - 1]?.group !== row.group} isFree={row.sites.every((site) => free.has(site.id))}
          model={model} layout={layout} nameOf={nameOf} selection={selection} primary={primary} columns={columns} tabColumn={active.row === r ? active.column : null} select={select}
        />
      ))}
      {model.fixed.length > 0 ? <FixedRow model={model} layout={layout} isTabStop={active.row === model.rows.length} /> : null}
    </div>
  );
});

/** A name is made when its cell is first rendered. */
function namesOf(make: (id: SiteId) => string): (id: SiteId) => string {
  const known = new Map<SiteId, string>();
  return (id) => {
    const name = known.get(id) ?? make(id);
    known.set(id, name);
    return name;
  };
}

/** Whether a row is one wide cell: an op group outside the layers, or the fixed row. */
function isWideAt(model: GridModel, row: number): boolean {
  const found = model.rows[row];
  return found === undefined ? row >= model.rows.length : isWide(found);
}
