/**
 * A second low format: it comes and goes with the cells that need it, a third one is refused, and the same plan has the
 * same hash wherever it was made.
 */
import { describe, expect, it } from 'vitest';
import { allocation } from '../allocate/exports/allocation';
import { hashOfPlan, undoLabel } from '.';
import { ALL_SITES, createPage, SITES } from './page-fixture';

const [FIRST, SECOND] = SITES;
type Page = ReturnType<typeof createPage>;
const steps = ({ document }: Page): number => document.temporal.getState().pastStates.length;
const formatsOf = ({ document }: Page) => document.getState().plan!.formats;
const hash = (page: Page): string | null => hashOfPlan(page.shown(), page.document.getState().plan!);

describe('a second low format', () => {
  it('comes with the first cell painted in it, and a third one is refused', () => {
    const page = createPage();
    const { actions, document, facts } = page;
    actions.setFormats([FIRST], 'mxfp8');
    expect(document.getState()).toMatchObject({ second: 'mxfp8', plan: { formats: { [FIRST]: 'mxfp8' } } });
    expect(steps(page)).toBe(1);
    actions.setFormats([SECOND], 'fp8');
    expect(facts.getState().notices).toMatchObject([{ kind: 'warning', name: 'E-PLAN-12' }]);
    expect([steps(page), formatsOf(page)[SECOND]]).toEqual([1, 'nvfp4']);
    actions.setFormats([FIRST], 'fp8');
    expect(document.getState()).toMatchObject({ second: 'fp8', plan: { formats: { [FIRST]: 'fp8' } } });
    actions.undo();
    actions.undo();
    expect(document.getState()).toMatchObject({ second: null, plan: { formats: { [FIRST]: 'nvfp4' } } });
  });

  it('that is taken away leaves its cells in BF16, and the notice offers them back', () => {
    const page = createPage();
    const { actions, document, facts } = page;
    actions.setFormats([FIRST], 'mxfp8');
    actions.setLocked([FIRST], true);
    actions.setSecond('fp8');
    expect(formatsOf(page)[FIRST]).toBe('bf16');
    expect(facts.getState().notices).toMatchObject([{ message: '1 cell in MXFP8 became BF16', undoes: undoLabel(document)! }]);
    actions.undoNotice(facts.getState().notices[0]!.id);
    expect(document.getState()).toMatchObject({ second: 'mxfp8', plan: { formats: { [FIRST]: 'mxfp8' } } });
  });

  it('is never the recipe itself, and op groups have none', () => {
    const page = createPage();
    page.actions.setSecond('nvfp4');
    page.actions.setRecipe('fp8-out');
    page.actions.setSecond('mxfp8');
    expect([steps(page), page.document.getState().second]).toEqual([1, null]);
  });

  it('brings its switches with it and takes them away, and stays with its recipe', () => {
    const { actions, document } = createPage();
    actions.setSecond('mxfp8');
    actions.setRecipe('nvfp4', { rht: true, floor: true, pow2: true });
    expect(document.getState().options).toEqual({ rht: true, floor: true });
    actions.setRecipe('nvfp4', {});
    expect(document.getState().options).toEqual({ floor: true });
    actions.setRecipe('mxfp8');
    expect(document.getState()).toMatchObject({ recipe: 'mxfp8', second: null, left: { nvfp4: { second: 'mxfp8' } } });
    actions.setRecipe('nvfp4');
    expect(document.getState()).toMatchObject({ second: 'mxfp8', options: { floor: true } });
    actions.setSecond(null);
    expect(document.getState()).toMatchObject({ second: null, options: {} });
  });
});

it('the same plan has the same hash in two tabs, after undo and redo, and when it comes as a file or link', () => {
  const [a, b] = [createPage(), createPage()];
  for (const { actions } of [a, b]) {
    actions.setRecipe('nvfp4', { rht: true });
    actions.setFormats([FIRST], 'mxfp8');
  }
  // Another order of gestures, with detours.
  a.actions.setFormats([SECOND], 'bf16');
  b.actions.setFormats(ALL_SITES, 'bf16');
  b.actions.undo();
  b.actions.savePlan();
  b.actions.setLocked([FIRST], true);
  b.actions.rename('another name');
  b.actions.setFormats([SECOND], 'bf16');
  const made = hash(a);
  expect(made).toMatch(/^sha256:/);
  expect(hash(b)).toBe(made);
  b.actions.undo();
  expect(hash(b)).not.toBe(made);
  b.actions.redo();
  expect(hash(b)).toBe(made);
  const [file, link] = [a.actions.exportPlan(allocation)!.text, new URL(a.actions.shareUrl()!).hash];
  const [c, d] = [createPage(), createPage()];
  expect([c.actions.importAllocation(file, 'plan.json'), d.actions.openLink(link)]).toEqual([true, true]);
  expect([hash(c), hash(d)]).toEqual([made, made]);
  expect(c.document.getState()).toMatchObject({ second: 'mxfp8', options: { rht: true } });
  expect(d.document.getState()).toMatchObject({ second: 'mxfp8', options: { rht: true } });
});

it('a file of three low formats is refused and changes nothing', () => {
  const page = createPage();
  const file = JSON.parse(page.actions.exportPlan(allocation)!.text) as { plan: { hash?: string }; sites: Record<string, { format: string }> };
  delete file.plan.hash;
  file.sites[FIRST]!.format = 'mxfp8';
  file.sites[SECOND]!.format = 'fp8';
  expect(page.actions.importAllocation(JSON.stringify(file), 'plan.json')).toBe(false);
  expect(page.facts.getState().notices).toMatchObject([{ name: 'E-PLAN-12' }]);
  expect([steps(page), page.document.getState().second]).toEqual([0, null]);
});
