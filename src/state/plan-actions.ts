/**
 * Editing the document: recipe and switches, paint, lock, baselines, the frontier's points, name and notes, undo and redo.
 * Each gesture is one commit, so one undo step; a preview is none. All of it is allowed while a measurement runs: its
 * results go where they belong, whatever is looked at meanwhile.
 */
import { differences, paint, planAt, presetPlan, presets, type Plan } from '../allocate/plan';
import type { PolicyOptions, RecipeName, SiteFormat, SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import type { ActionContext } from './context';
import { commit, withRecipe } from './document';
import { notify } from './facts';
import { frontierOf, freshPlan, sitesOf } from './selectors';
import { formatName, plural, recipeId, recipeName } from './words';

export function createPlanActions({ document, facts, view, shown }: ActionContext) {
  const planInHand = (): Plan | null => document.getState().plan;
  const paintable = (ids: Iterable<SiteId>): SiteId[] => {
    const { graph, recipe } = shown();
    const known = new Set(graph ? sitesOf(graph, recipe).map((site) => site.id) : []);
    return [...ids].filter((id) => known.has(id));
  };
  /** Does something that may change the recipe; cells of the other kind of place are then no longer chosen. */
  const withCells = (act: () => void): void => {
    const before = RECIPES[document.getState().recipe].kind;
    act();
    view.setState(RECIPES[document.getState().recipe].kind === before ? { preview: null } : { preview: null, primary: null, selection: new Set(), hovered: null });
  };

  const setFormats = (ids: Iterable<SiteId>, format: SiteFormat, label?: string): void => {
    const plan = planInHand();
    if (!plan) return;
    const result = paint(plan, paintable(ids), format);
    if (result.changed.length > 0) commit(document, { plan: result.plan }, label ?? `paint ${plural(result.changed.length, 'cell')} to ${formatName(format)}`);
    if (result.lockedUnchanged > 0) notify(facts, { kind: 'info', name: '', message: `${plural(result.lockedUnchanged, 'locked cell')} unchanged`, hint: '' });
  };

  return {
    setFormats,
    /**
     * Another recipe, or other switches of it (null: those it had; a preset's are not its own). Its own plan comes back; a
     * recipe looked at for the first time takes over which cells are BF16, if it has the same cells.
     */
    setRecipe(recipe: RecipeName, options: PolicyOptions | null = null): void {
      const { graph } = facts.getState();
      if (!graph) return;
      const state = document.getState();
      const had = (recipe === state.recipe ? state.options : state.left[recipe]?.options) ?? {};
      const next = withRecipe(state, recipe, options ?? (recipeId(recipe, had) === recipe ? had : {}), (from) => freshPlan(graph, recipe, RECIPES[recipe].kind === RECIPES[state.recipe].kind ? from : null));
      withCells(() => commit(document, next, recipe === state.recipe ? 'change switches' : `choose ${recipeName(recipe, next.options)}`));
    },
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
      if (changed.length > 0) commit(document, { plan: { ...plan, locked: next } }, `${locked ? 'lock' : 'unlock'} ${plural(changed.length, 'cell')}`);
    },
    /** Shows a plan without committing it (a drag); null takes it away. */
    preview(plan: Plan | null): void {
      view.setState({ preview: plan });
    },
    commitPlan(plan: Plan, label: string): void {
      view.setState({ preview: null });
      commit(document, { plan }, label);
    },
    /** The plan at one point of the frontier (of a row or layer with `part`), keeping locks. */
    planAtPoint(index: number, part?: ReadonlySet<SiteId>): Plan | null {
      const plan = planInHand();
      const now = shown();
      if (!plan || !now.graph) return null;
      const frontier = frontierOf(now, plan, part);
      return frontier ? planAt(plan, sitesOf(now.graph, now.recipe), frontier, index, now.recipe, part) : null;
    },
    /** Takes over a baseline's formats; locked cells stay. */
    applyBaseline(id: string): void {
      const plan = planInHand();
      const { graph, recipe } = shown();
      const preset = presets(recipe).find((p) => p.id === id);
      if (!plan || !graph || !preset) return;
      const sites = sitesOf(graph, recipe);
      const kept = Object.fromEntries(Object.keys(plan.locked).map((site) => [site, plan.formats[site] ?? 'bf16']));
      const formats = { ...presetPlan(preset, sites, recipe).formats, ...kept };
      if (differences(sites, plan.formats, formats).length > 0) commit(document, { plan: { ...plan, formats } }, `apply ${preset.name}`);
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
