/**
 * Pointer gestures of the grid (ux.md 3.3): click, Shift+click and Ctrl+click select; dragging selects a rectangle, or
 * paints with the brush in hand. A stroke is drawn live and committed on release as one undo step; Esc takes it back.
 */
import { useState, type PointerEvent as ReactPointerEvent, type RefObject } from 'react';
import { paint } from '../../allocate/plan';
import type { SiteFormat, SiteId } from '../../graph/policy';
import type { HeatLayout } from '../charts/heat-layout';
import { createFrame } from '../charts/per-frame';
import { useActions, useWorkbench } from '../workbench';
import { brushFormat } from './brushes';
import { rectangle, siteAt, type GridModel } from './grid-model';
import type { Position } from './navigation';

interface GridPointerOptions {
  readonly model: GridModel;
  readonly layout: HeatLayout;
  readonly anchor: RefObject<Position>;
  setActive(at: Position): void;
  select(ids: readonly SiteId[], lead?: SiteId | null): void;
}

export function useGridPointer({ model, layout, anchor, setActive, select }: GridPointerOptions) {
  const { document, view } = useWorkbench();
  const actions = useActions();
  const [frame] = useState(() => createFrame());

  /** Cell nearest to a point, so that a fast drag past the edge still means the edge. */
  const nearest = (x: number, y: number): Position => {
    const column = Math.min(model.columns - 1, Math.max(0, Math.floor((x - layout.labelWidth) / layout.cellWidth)));
    let row = 0;
    for (let r = 0; r < model.rows.length; r++) if (y >= (layout.rowY[r] ?? Infinity)) row = r;
    return { row, column };
  };

  const startDrag = (grid: HTMLElement, from: Position, brush: SiteFormat | null): void => {
    const box = grid.getBoundingClientRect();
    const stroke = new Set<SiteId>();
    let last = from;
    const add = (at: Position): void => {
      // Every cell between two pointer events, so that a fast stroke has no holes.
      const steps = Math.max(1, Math.abs(at.row - last.row), Math.abs(at.column - last.column));
      for (let k = 0; k <= steps; k++) {
        const id = siteAt(model, { row: Math.round(last.row + ((at.row - last.row) * k) / steps), column: Math.round(last.column + ((at.column - last.column) * k) / steps) });
        if (id !== null) stroke.add(id);
      }
      last = at;
    };
    const show = (): void => {
      const { plan } = document.getState();
      if (plan && brush !== null) actions.preview(paint(plan, stroke, brush).plan);
    };
    const onMove = (event: PointerEvent): void => {
      const at = nearest(event.clientX - box.left, event.clientY - box.top);
      if (at.row === last.row && at.column === last.column) return;
      add(at);
      setActive(at);
      if (brush !== null) frame.ask(show);
      else select(rectangle(model, anchor.current, at), siteAt(model, at));
    };
    const end = (): void => {
      window.removeEventListener('pointermove', onMove);
      window.removeEventListener('pointerup', onUp);
      window.removeEventListener('pointercancel', onCancel);
      window.removeEventListener('keydown', onKey, true);
      frame.drop();
      if (brush !== null) actions.preview(null);
    };
    const onUp = (): void => {
      end();
      if (brush !== null) actions.setFormats(stroke, brush);
    };
    const onCancel = (): void => end();
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      end();
    };
    window.addEventListener('pointermove', onMove);
    window.addEventListener('pointerup', onUp);
    window.addEventListener('pointercancel', onCancel);
    window.addEventListener('keydown', onKey, true);
    add(from);
    if (brush !== null) show();
  };

  return {
    onPointerDown(event: ReactPointerEvent<HTMLElement>): void {
      const cell = (event.target as Element).closest<HTMLElement>('[data-site]');
      const id = cell?.dataset['site'];
      if (event.button !== 0 || id === undefined) return;
      const [row = 0, column = 0] = (cell?.dataset['at'] ?? '').split(',').map(Number);
      const at = { row, column };
      setActive(at);
      if (event.shiftKey) return select(rectangle(model, anchor.current, at), id);
      anchor.current = at;
      if (event.ctrlKey || event.metaKey) {
        const next = new Set(view.getState().selection);
        if (!next.delete(id)) next.add(id);
        view.setState({ selection: next, primary: id });
        return;
      }
      const { brush } = view.getState();
      select([id]);
      startDrag(event.currentTarget, at, brushFormat(brush, document.getState()));
    },
    onPointerOver(event: ReactPointerEvent<HTMLElement>): void {
      const id = (event.target as Element).closest<HTMLElement>('[data-site]')?.dataset['site'] ?? null;
      if (view.getState().hovered !== id) view.setState({ hovered: id });
    },
    onPointerLeave(): void {
      view.setState({ hovered: null });
    },
  };
}
