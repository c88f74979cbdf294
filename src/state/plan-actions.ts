/**
 * Editing the plan in hand: paint, lock, baselines, plans of the solver, name and notes, undo and redo.
 * Each gesture is one commit, so one undo step; a preview is none. All of it is allowed while a measurement runs: its
 * results go where they belong, whatever is looked at meanwhile.
 */
import { paint, withFormats, type Plan } from '../allocate/plan';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { ActionContext } from './context';
import { costChoiceOf } from './cost-choice';
import { commit } from './document';
import { createDocumentEdits } from './document-edits';
import { notify } from './facts';
import { baselinesAt } from './plans';
import { countDifferences, sitesOf } from './selectors';
import { formatName, plural } from './words';

export function createPlanActions(context: ActionContext) {
  const { document, facts, view, shown } = context;
  const { take, withCells } = createDocumentEdits(context);
  const planInHand = (): Plan | null => document.getState().plan;
  const paintable = (ids: Iterable<SiteId>): SiteId[] => {
    const { graph, recipe } = shown();
    const known = new Set(graph ? sitesOf(graph, recipe).map((site) => site.id) : []);
    return [...ids].filter((id) => known.has(id));
  };
  const setFormats = (ids: Iterable<SiteId>, format: SiteFormat, label?: string): void => {
    const plan = planInHand();
    if (!plan) return;
    const result = paint(plan, paintable(ids), format);
    if (result.changed.length > 0) take(result.plan, label ?? `paint ${plural(result.changed.length, 'cell')} to ${formatName(format)}`);
    if (result.lockedUnchanged > 0) notify(facts, { kind: 'info', name: '', message: `${plural(result.lockedUnchanged, 'locked cell')} unchanged`, hint: '' });
  };

  return {
    setFormats,
    setLocked(ids: readonly SiteId[], locked: boolean): void {
      const plan = planInHand();
      if (!plan) return;
      const next: Record<SiteId, true> = { ...plan.locked };
      const changed = paintable(ids).filter((id) => (plan.locked[id] === true) !== locked);
      for (const id of changed) {
        if (locked) next[id] = true;
        else Reflect.deleteProperty(next, id);
      }
      if (changed.length > 0) commit(document, { plan: { ...plan, locked: next } }, `${locked ? 'lock' : 'unlock'} ${plural(changed.length, 'cell')}`);
    },
    /** Shows a plan without committing it (a drag); null takes it away. */
    preview(plan: Plan | null): void {
      view.setState({ preview: plan });
    },
    commitPlan(plan: Plan, label: string): void {
      withCells(() => take(plan, label));
    },
    /** Takes over a baseline's formats, as it is at what the plan in hand costs; locked cells stay. */
    applyBaseline(id: string): void {
      const plan = planInHand();
      const now = shown();
      const row = plan && baselinesAt(now, costChoiceOf(view.getState()), plan).find((known) => known.id === id);
      if (!plan || !now.graph || !row?.plan) return;
      const next = withFormats(plan, row.plan.formats);
      if (countDifferences(now, plan, next) > 0) take(next, `apply ${row.name}`);
    },
    rename(name: string): void {
      const plan = planInHand();
      if (plan && name.trim() !== '' && name !== plan.name) commit(document, { plan: { ...plan, name } }, `rename to ${name}`);
    },
    setNotes(notes: string): void {
      const plan = planInHand();
      if (plan && notes !== plan.notes) commit(document, { plan: { ...plan, notes } }, 'edit notes');
    },
    undo(): void {
      withCells(() => document.temporal.getState().undo());
    },
    redo(): void {
      withCells(() => document.temporal.getState().redo());
    },
  };
}
