/**
 * Keys of the grid (ux.md 3.7): movement of the ARIA grid pattern, selection, and single keys that act on cells. Single
 * keys work only while the grid has the focus and can be turned off (WCAG 2.1.4).
 */
import type { KeyboardEvent, RefObject } from 'react';
import type { SiteId } from '../../graph/policy';
import { ranksOf, shownNow } from '../../state';
import { useActions, useWorkbench } from '../workbench';
import { allSites, columnSites, markOf, positionOf, rectangle, siteAt, type GridModel } from './grid-model';
import { moveFocus, type Position } from './navigation';

interface GridKeysOptions {
  readonly model: GridModel;
  readonly active: Position;
  readonly anchor: RefObject<Position>;
  readonly root: RefObject<HTMLDivElement | null>;
  focusAt(at: Position): void;
  select(ids: readonly SiteId[], lead?: SiteId | null): void;
  openMenu(id: SiteId, x: number, y: number): void;
}

export function useGridKeys({ model, active, anchor, root, focusAt, select, openMenu }: GridKeysOptions): (event: KeyboardEvent) => void {
  const { document, facts, view } = useWorkbench();
  const actions = useActions();
  const shape = { rows: model.rows.length + (model.fixed.length > 0 ? 1 : 0), columns: model.columns, page: model.page };
  const now = () => shownNow({ facts, document });

  /** The cells a key acts on: those of a focused header; the selection when it holds the focused cell; else that cell alone. */
  const targets = (): SiteId[] => {
    const { selection } = view.getState();
    if (active.row < 0) return columnSites(model, active.column);
    if (active.column < 0) return model.rows[active.row]?.sites.map((site) => site.id) ?? [];
    const id = siteAt(model, active);
    if (id === null) return [];
    return selection.has(id) ? [...selection] : [id];
  };
  const goTo = (id: SiteId): void => {
    const at = positionOf(model, id);
    if (!at) return;
    anchor.current = at;
    focusAt(at);
    select([id]);
  };
  const nextByRank = (): void => {
    const ranks = ranksOf(now());
    const id = siteAt(model, active);
    const after = (id === null ? undefined : ranks.get(id)) ?? 0;
    const next = [...ranks].find(([, rank]) => rank === after + 1) ?? [...ranks].find(([, rank]) => rank === 1);
    if (next) goTo(next[0]);
  };
  const toggleLock = (): void => {
    const ids = targets();
    const locked = document.getState().plan?.locked ?? {};
    actions.setLocked(ids, !ids.every((id) => locked[id] === true));
  };
  const retry = (): void => {
    const failed = targets().filter((id) => now().sites[id]?.status === 'failed');
    if (failed.length > 0) void actions.runProbe(failed);
  };
  const low = (): void => actions.setFormats(targets(), now().recipe);
  const high = (): void => actions.setFormats(targets(), 'bf16');
  const single: Readonly<Record<string, () => void>> = {
    // The recipe's letter: 4 or 8.
    [markOf(now().recipe)]: low,
    b: high,
    l: toggleLock,
    // With two formats one step cheaper is the recipe's, and one step dearer BF16.
    '[': low,
    ']': high,
    enter: () => view.setState({ inspectorOpen: true, inspector: 'cell' }),
    v: () => void actions.verifyJointly(),
    n: nextByRank,
    r: retry,
  };

  return (event) => {
    const { key, shiftKey: shift } = event;
    const ctrl = event.ctrlKey || event.metaKey;
    const onHeader = active.row < 0 || active.column < 0;
    const id = siteAt(model, active);
    const done = (): void => {
      event.preventDefault();
      event.stopPropagation();
    };
    if ((key === 'F10' && shift) || key === 'ContextMenu') {
      if (id === null) return;
      const box = root.current?.querySelector(`[data-at="${active.row},${active.column}"]`)?.getBoundingClientRect();
      if (!view.getState().selection.has(id)) select([id]);
      openMenu(id, (box?.left ?? 0) + 12, (box?.bottom ?? 0) - 4);
      return done();
    }
    if (key === ' ' && !onHeader) {
      if (shift) select(model.rows[active.row]?.sites.map((site) => site.id) ?? [], id);
      else if (ctrl) select(columnSites(model, active.column), id);
      return done();
    }
    if (ctrl && key.toLowerCase() === 'a') {
      select(allSites(model), id);
      return done();
    }
    const to = event.altKey ? null : moveFocus(active, { key, ctrl, shift }, shape);
    if (to) {
      focusAt(to);
      const target = siteAt(model, to);
      if (shift && target !== null) select(rectangle(model, anchor.current, to), target);
      else {
        anchor.current = to;
        if (target !== null) select([target]);
      }
      return done();
    }
    if (key === 'Escape' && view.getState().selection.size > 1) {
      select(id === null ? [] : [id]);
      return done();
    }
    if (ctrl || event.altKey || (onHeader && (key === 'Enter' || key === ' '))) return;
    const act = key === 'Enter' || view.getState().singleKeys ? single[key.toLowerCase()] : undefined;
    if (act) {
      act();
      done();
    }
  };
}
