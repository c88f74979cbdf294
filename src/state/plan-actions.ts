/**
 * Editing the plan: paint, lock, baselines, the frontier's points, name and notes, undo and redo. Each gesture is one
 * commit, so one undo step; a preview is none. Editing is allowed while a measurement runs, for it changes no result.
 */
import { differences, paint, planAt, presetPlan, PRESETS, type Plan } from '../allocate/plan';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { ActionContext } from './context';
import { commit } from './document';
import { notify } from './facts';
import { frontierOf, sitesOf } from './selectors';
import { formatName, plural } from './words';

export function createPlanActions({ document, facts, view }: ActionContext) {
  const planInHand = (): Plan | null => document.getState().plan;
  const paintable = (ids: Iterable<SiteId>): SiteId[] => {
    const { graph } = facts.getState();
    const known = new Set(graph ? sitesOf(graph).map((site) => site.id) : []);
    return [...ids].filter((id) => known.has(id));
  };

  const setFormats = (ids: Iterable<SiteId>, format: SiteFormat, label?: string): void => {
    const plan = planInHand();
    if (!plan) return;
    const result = paint(plan, paintable(ids), format);
    if (result.changed.length > 0) commit(document, result.plan, label ?? `paint ${plural(result.changed.length, 'cell')} to ${formatName(format)}`);
    if (result.lockedUnchanged > 0) notify(facts, { kind: 'info', name: '', message: `${plural(result.lockedUnchanged, 'locked cell')} unchanged`, hint: '' });
  };

  return {
    setFormats,
    /** Sets the format of selected cells, or of one. */
    paintSelection(format: SiteFormat): void {
      const { selection, primary } = view.getState();
      setFormats(selection.size > 0 ? selection : primary === null ? [] : [primary], format);
    },
    setLocked(ids: readonly SiteId[], locked: boolean): void {
      const plan = planInHand();
      if (!plan) return;
      const next: Record<SiteId, true> = { ...plan.locked };
      const changed = paintable(ids).filter((id) => (plan.locked[id] === true) !== locked);
      for (const id of changed) {
        if (locked) next[id] = true;
        else Reflect.deleteProperty(next, id);
      }
      if (changed.length > 0) commit(document, { ...plan, locked: next }, `${locked ? 'lock' : 'unlock'} ${plural(changed.length, 'cell')}`);
    },
    /** Shows a plan without committing it (a drag); null takes it away. */
    preview(plan: Plan | null): void {
      view.setState({ preview: plan });
    },
    commitPlan(plan: Plan, label: string): void {
      view.setState({ preview: null });
      commit(document, plan, label);
    },
    /** The plan at one point of the frontier (of a row or layer with `part`), keeping locks. */
    planAtPoint(index: number, part?: ReadonlySet<SiteId>): Plan | null {
      const plan = planInHand();
      const state = facts.getState();
      if (!plan || !state.graph) return null;
      const frontier = frontierOf(state, plan, part);
      return frontier ? planAt(plan, sitesOf(state.graph), frontier, index, state.recipe, part) : null;
    },
    /** Takes over a baseline's formats; locked cells stay. */
    applyBaseline(id: string): void {
      const plan = planInHand();
      const { graph, recipe } = facts.getState();
      const preset = PRESETS.find((p) => p.id === id);
      if (!plan || !graph || !preset) return;
      const sites = sitesOf(graph);
      const kept = Object.fromEntries(Object.keys(plan.locked).map((site) => [site, plan.formats[site] ?? 'bf16']));
      const formats = { ...presetPlan(preset, sites, recipe).formats, ...kept };
      if (differences(sites, plan.formats, formats).length > 0) commit(document, { ...plan, formats }, `apply ${preset.name}`);
    },
    rename(name: string): void {
      const plan = planInHand();
      if (plan && name.trim() !== '' && name !== plan.name) commit(document, { ...plan, name }, `rename to ${name}`);
    },
    setNotes(notes: string): void {
      const plan = planInHand();
      if (plan && notes !== plan.notes) commit(document, { ...plan, notes }, 'edit notes');
    },
    undo(): void {
      document.temporal.getState().undo();
    },
    redo(): void {
      document.temporal.getState().redo();
    },
  };
}
