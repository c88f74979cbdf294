/** Plans put aside, forks and A: nothing that was edited is lost, and every gesture is one step. */
import { describe, expect, it } from 'vitest';
import { planInSlot, shownOf, undoLabel } from '.';
import { ALL_SITES, createPage, MODEL, SITES } from './page-fixture';

const [FIRST, SECOND] = SITES;
type Page = ReturnType<typeof createPage>;
const steps = ({ document }: Page): number => document.temporal.getState().pastStates.length;
const names = ({ document }: Page): string[] => document.getState().saved.map(({ plan }) => plan.name);
const formatsOf = ({ document }: Page) => document.getState().plan!.formats;

describe('plans put aside', () => {
  it('come back with recipe, switches and second format, one undo step each way', () => {
    const page = createPage();
    const { actions, document } = page;
    actions.setRecipe('nvfp4', { rht: true });
    actions.setSecond('mxfp8');
    actions.setFormats([FIRST], 'mxfp8');
    const kept = document.getState();
    const id = actions.savePlan(3)!;
    expect([undoLabel(document), steps(page)]).toEqual(['save Plan under 3', 4]);
    actions.setRecipe('fp8-out');
    actions.recallPlan(id);
    expect(undoLabel(document)).toBe('recall Plan');
    expect(document.getState()).toMatchObject({ recipe: 'nvfp4', options: { rht: true }, second: 'mxfp8', plan: kept.plan });
    actions.undo();
    expect(document.getState().recipe).toBe('fp8-out');
    expect(planInSlot(document.getState().saved, 3)?.id).toBe(id);
  });

  it('have names and ids of their own, and a key belongs to the last one stored under it', () => {
    const page = createPage();
    const ids = [page.actions.savePlan(1), page.actions.savePlan(), page.actions.savePlan(1)];
    expect(new Set(ids).size).toBe(3);
    expect(names(page)).toEqual(['Plan', 'Plan 2', 'Plan 3']);
    expect(page.document.getState().saved.map(({ slot }) => slot)).toEqual([null, null, 1]);
    page.actions.undo();
    expect(page.document.getState().saved.map(({ slot }) => slot)).toEqual([1, null]);
    page.actions.setNotes('an edit');
    expect(ids).not.toContain(page.actions.savePlan());
  });

  it('that are deleted can be taken back from the notice, as long as that is the last step', () => {
    const page = createPage();
    const { actions, facts, view } = page;
    const id = actions.savePlan()!;
    view.setState({ small: [id, 'all-low'] });
    actions.deletePlan(id);
    expect([names(page), view.getState().small]).toEqual([[], ['all-low']]);
    const [notice] = facts.getState().notices;
    expect(notice).toMatchObject({ kind: 'info', message: 'Plan deleted', undoes: 'delete Plan' });
    actions.undoNotice(notice!.id);
    expect([names(page), facts.getState().notices]).toEqual([['Plan'], []]);
    actions.deletePlan(id);
    actions.setNotes('later');
    actions.undoNotice(facts.getState().notices[0]!.id);
    expect([names(page), page.document.getState().plan?.notes]).toEqual([[], 'later']);
    actions.undo();
    actions.undo();
    expect(names(page)).toEqual(['Plan']);
  });

  it('lets a plan be deleted after an undo, though the branch that ends held it', () => {
    const { actions, document } = createPage();
    const id = actions.savePlan()!;
    actions.rename('Mine');
    actions.undo();
    actions.deletePlan(id);
    expect(document.getState().saved.map((saved) => saved.id)).not.toContain(id);
    actions.undo();
    expect(document.getState().saved.map((saved) => saved.id)).toContain(id);
  });

  it('an unknown one is recalled, deleted and pinned as nothing', () => {
    const page = createPage();
    page.actions.recallPlan('plan-9');
    page.actions.deletePlan('plan-9');
    page.actions.pin('plan-9');
    expect([steps(page), page.view.getState().pinned]).toEqual([0, null]);
  });
});

describe('an edit after undo', () => {
  it('puts the plan that redo would have led to aside, in the same step', () => {
    const page = createPage();
    const { actions, document } = page;
    actions.setFormats([FIRST], 'bf16');
    actions.setFormats([SECOND], 'bf16');
    const tip = document.getState().plan!;
    actions.undo();
    actions.undo();
    actions.setLocked([FIRST], true);
    expect([names(page), steps(page)]).toEqual([['before lock 1 cell'], 1]);
    const [branch] = document.getState().saved;
    expect(branch?.plan.formats).toBe(tip.formats);
    actions.undo();
    expect(names(page)).toEqual([]);
    actions.redo();
    actions.recallPlan(branch!.id);
    expect(formatsOf(page)).toEqual(tip.formats);
  });

  it('keeps plans that were put aside on the old branch, and no plan twice', () => {
    const page = createPage();
    const { actions } = page;
    actions.setFormats([FIRST], 'bf16');
    actions.rename('Mine');
    actions.savePlan(2);
    actions.undo();
    actions.undo();
    actions.undo();
    actions.setFormats([SECOND], 'bf16');
    expect(names(page)).toEqual(['Mine']);
    actions.undo();
    actions.setFormats([SECOND], 'bf16');
    expect(names(page)).toEqual(['Mine']);
  });

  it('keeps the last nine branches, of other recipes too', () => {
    const page = createPage();
    const { actions, document } = page;
    actions.setRecipe('mxfp8', { floor: true });
    actions.undo();
    actions.setFormats([FIRST], 'bf16');
    expect(document.getState().saved).toMatchObject([{ recipe: 'mxfp8', options: { floor: true }, plan: { name: 'before paint 1 cell to BF16' } }]);
    for (let i = 0; i < 12; i++) {
      actions.setFormats([ALL_SITES[i]!], 'bf16');
      actions.undo();
      actions.setNotes(`note ${i}`);
    }
    expect(document.getState().saved).toHaveLength(9);
    expect(new Set(names(page)).size).toBe(9);
  });
});

describe('A', () => {
  it('is pinned from any plan, and cells go back to it as one step; locked ones stay', () => {
    const page = createPage();
    const { actions, document, view, facts } = page;
    actions.setFormats([FIRST], 'bf16');
    actions.pin('current');
    expect(view.getState().pinned).toMatchObject({ name: 'Plan', recipe: 'nvfp4', second: null, modelSha256: MODEL, plan: { formats: { [FIRST]: 'bf16' } } });
    actions.pin('all-low');
    expect(view.getState().pinned?.plan.formats[FIRST]).toBe('nvfp4');
    expect(steps(page)).toBe(1);
    actions.setFormats([SECOND, ALL_SITES[0]!], 'bf16');
    actions.setLocked([SECOND], true);
    const before = steps(page);
    actions.revertToPinned([FIRST, SECOND, 'lm_head:fprop']);
    expect([formatsOf(page)[FIRST], formatsOf(page)[SECOND], steps(page) - before]).toEqual(['nvfp4', 'bf16', 1]);
    expect(undoLabel(document)).toBe('revert 1 cell to All low');
    expect(facts.getState().notices.at(-1)).toMatchObject({ message: '1 locked cell unchanged' });
    actions.pin(null);
    expect(view.getState().pinned).toBeNull();
    actions.revertToPinned([FIRST]);
    expect(steps(page) - before).toBe(1);
  });

  it('of another second format brings it along', () => {
    const { actions, document, facts } = createPage();
    actions.setFormats([FIRST], 'mxfp8');
    actions.pin('current');
    actions.undo();
    actions.revertToPinned([FIRST]);
    expect(document.getState()).toMatchObject({ second: 'mxfp8', plan: { formats: { [FIRST]: 'mxfp8' } } });
    expect(shownOf(facts.getState(), document.getState()).second).toBe('mxfp8');
  });
});
