/**
 * Keys of the grid (ux.md 3.7): movement of the ARIA grid pattern, selection, and single keys that act on cells. Single
 * keys work only while the grid has the focus and can be turned off (WCAG 2.1.4).
 */
import { useRef, type KeyboardEvent, type RefObject } from 'react';
import { formatOf } from '../../allocate/cost';
import { withFormats } from '../../allocate/plan';
import type { SiteFormat, SiteId } from '../../graph/policy';
import { planInSlot, ranksOf, shownNow, SLOTS, unstableOf } from '../../state';
import type { Mark } from '../charts/heatmap';
import { cellsText } from '../budget/cost-words';
import { useActions, useWorkbench } from '../workbench';
import { formatMarked, steppedFormat } from './brushes';
import { allSites, columnSites, positionOf, rectangle, siteAt, type GridModel } from './grid-model';
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
  /** M or G was pressed: the digit that follows is a slot. */
  const awaited = useRef<'store' | 'recall' | null>(null);
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
  const nextUnstable = (): void => {
    const flagged = unstableOf(now(), { preview: null });
    const all = allSites(model);
    const id = siteAt(model, active);
    const from = id === null ? 0 : all.indexOf(id) + 1;
    const next = [...all.slice(from), ...all.slice(0, from)].find((site) => flagged.has(site));
    if (next !== undefined) goTo(next);
    else actions.tell(now().unstable === null ? 'Which decisions flip within noise is not known yet.' : 'No decision of this plan flips within noise.');
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
  const setMarked = (mark: Mark): void => {
    const format = formatMarked(now(), mark);
    if (format !== null) actions.setFormats(targets(), format);
    else actions.tell(`No format of this plan has the letter ${mark}: choose a second format beside the recipe first.`);
  };
  /** Every cell from the format it has, in one step. */
  const stepFormats = (by: -1 | 1): void => {
    const { plan } = document.getState();
    if (!plan) return;
    const next = targets().map((id): [SiteId, SiteFormat] => [id, steppedFormat(now(), formatOf(plan.formats, id), by)]);
    const [[, first] = []] = next;
    const changed = next.filter(([id, format]) => format !== formatOf(plan.formats, id) && plan.locked[id] !== true);
    // All to one format is painting, which also says what is locked.
    if (first !== undefined && next.every(([, format]) => format === first)) actions.setFormats(next.map(([id]) => id), first);
    else if (changed.length > 0) actions.commitPlan(withFormats(plan, Object.fromEntries(changed)), `make ${cellsText(changed.length)} ${by < 0 ? 'cheaper' : 'dearer'}`);
  };
  const takeSlot = (slot: number, what: 'store' | 'recall'): void => {
    if (what === 'store') actions.savePlan(slot);
    else {
      const found = planInSlot(document.getState().saved, slot);
      if (found) actions.recallPlan(found.id);
      else actions.tell(`Nothing is stored under ${slot}: M then ${slot} stores the plan in hand.`);
    }
  };
  const single: Readonly<Record<string, () => void>> = {
    '4': () => setMarked('4'),
    '8': () => setMarked('8'),
    b: () => actions.setFormats(targets(), 'bf16'),
    l: toggleLock,
    '[': () => stepFormats(-1),
    ']': () => stepFormats(1),
    enter: () => view.setState({ inspectorOpen: true, inspector: 'cell' }),
    v: () => void actions.verifyJointly(),
    p: () => actions.pin('current'),
    m: () => (awaited.current = 'store'),
    g: () => (awaited.current = 'recall'),
    n: nextByRank,
    '.': nextUnstable,
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
    if (key === 'Shift') return;
    const slotFor = awaited.current;
    awaited.current = null;
    if (slotFor !== null && !ctrl && !event.altKey && /^\d$/.test(key) && Number(key) >= 1 && Number(key) <= SLOTS) {
      takeSlot(Number(key), slotFor);
      return done();
    }
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
