/**
 * Plans put aside and A: save, recall, delete, pin, go back to A in some cells. Saving and deleting are steps of the
 * document; A belongs to the view, so pinning is none (ux.md 3.7 to 3.9).
 */
import { withFormats, type Plan } from '../allocate/plan';
import type { SiteFormat, SiteId } from '../graph/policy';
import { formatOf } from '../allocate/cost';
import type { ActionContext } from './context';
import { costChoiceOf } from './cost-choice';
import { commit, numberOf, undoLabel, withRecipe } from './document';
import { createDocumentEdits } from './document-edits';
import { dismiss, notify } from './facts';
import { plansOf, type NamedPlan } from './plans';
import { freeName, withSaved } from './saved-plans';
import { freshPlan } from './selectors';
import { plural } from './words';

export function createSavedActions(context: ActionContext) {
  const { document, facts, view, shown } = context;
  const { take, withCells } = createDocumentEdits(context);
  const planById = (id: string): NamedPlan | null => plansOf(document.getState(), shown(), costChoiceOf(view.getState())).find((plan) => plan.id === id) ?? null;

  return {
    /** Puts the plan in hand aside, under a key (1 to 9) if one is given. Its id, or null without a plan. */
    savePlan(slot: number | null = null): string | null {
      const { recipe, options, second, plan, saved } = document.getState();
      if (!plan) return null;
      const id = `plan-${numberOf(document)}`;
      const name = freeName(plan.name, saved);
      commit(document, { saved: withSaved(saved, { id, slot, recipe, options, second, plan: { ...plan, name } }) }, `save ${name}${slot === null ? '' : ` under ${slot}`}`);
      return id;
    },

    /** Takes a saved plan in hand, with its recipe and switches. */
    recallPlan(id: string): void {
      const { graph } = facts.getState();
      const state = document.getState();
      const found = state.saved.find((saved) => saved.id === id);
      if (!found || !graph) return;
      const { recipe, options, second, plan } = found;
      const next = withRecipe(state, recipe, options, () => freshPlan(graph, recipe));
      withCells(() => commit(document, { ...next, options, second, plan }, `recall ${plan.name}`));
    },

    /** Deletes a saved plan; the notice offers it back. */
    deletePlan(id: string): void {
      const { saved } = document.getState();
      const gone = saved.find((plan) => plan.id === id);
      if (!gone) return;
      const label = `delete ${gone.plan.name}`;
      commit(document, { saved: saved.filter((plan) => plan !== gone) }, label);
      view.setState(({ small }) => ({ small: small.filter((other) => other !== id) }));
      notify(facts, { kind: 'info', name: '', message: `${gone.plan.name} deleted`, hint: '', undoes: label });
    },

    /** Takes back the step that a notice is about, while it is the last one. */
    undoNotice(id: number): void {
      const notice = facts.getState().notices.find((known) => known.id === id);
      if (notice?.undoes !== undefined && notice.undoes === undoLabel(document)) withCells(() => document.temporal.getState().undo());
      dismiss(facts, id);
    },

    /** Makes a plan A: the one in hand, a saved one, a baseline; null: none. */
    pin(id: string | null): void {
      const found = id === null ? null : planById(id);
      if (id !== null && !found) return;
      const { modelSha256 } = facts.getState();
      view.setState({ pinned: found && { name: found.name, recipe: found.recipe, options: found.options, second: found.second, plan: found.plan, modelSha256 } });
    },

    /** Gives cells the format they have in A, one undo step; locked ones stay, and so do those that A has not. */
    revertToPinned(ids: readonly SiteId[]): void {
      const { plan } = document.getState();
      const { pinned } = view.getState();
      if (!plan || !pinned) return;
      const wanted = ids.filter((id) => Object.hasOwn(pinned.plan.formats, id) && formatOf(pinned.plan.formats, id) !== formatOf(plan.formats, id));
      const changed = wanted.filter((id) => plan.locked[id] !== true);
      const formats = Object.fromEntries(changed.map((id): [SiteId, SiteFormat] => [id, formatOf(pinned.plan.formats, id)]));
      const next: Plan = withFormats(plan, formats);
      if (changed.length > 0) take(next, `revert ${plural(changed.length, 'cell')} to ${pinned.name}`);
      if (wanted.length > changed.length) notify(facts, { kind: 'info', name: '', message: `${plural(wanted.length - changed.length, 'locked cell')} unchanged`, hint: '' });
    },
  };
}
