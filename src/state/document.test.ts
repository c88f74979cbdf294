/**
 * The document: one gesture is one undo step with its name, locked cells stay, a refused file leaves everything, and the
 * plan of each model is there again after a reload, unless what storage holds cannot be trusted.
 */
import { describe, expect, it } from 'vitest';
import { allocation } from '../allocate/exports/allocation';
import { createDocumentStore, frontierOf, HISTORY_STEPS, keepDocument, KEPT_MODELS, OWN_COST, redoLabel, restoreDocument, totalsOf, undoLabel } from '.';
import { planAt } from '../allocate/plan';
import { ALL_SITES, createPage, FILES, GRAPH, memoryStorage, MODEL, OTHER, SITES } from './page-fixture';

const steps = ({ document }: Pick<ReturnType<typeof createPage>, 'document'>): number => document.temporal.getState().pastStates.length;

describe('the history', () => {
  it('undoes and redoes gesture by gesture and says which', () => {
    const { document, shown, actions } = createPage();
    const formats = () => document.getState().plan?.formats;
    const before = formats();
    expect(undoLabel(document)).toBeNull();
    actions.setFormats(SITES, 'bf16');
    expect(undoLabel(document)).toBe('paint 2 cells to BF16');
    expect(totalsOf(shown(), document.getState().plan!)?.siteCount).toMatchObject({ bf16: 2, nvfp4: ALL_SITES.length - 2 });
    actions.setLocked([SITES[0]], true);
    expect(undoLabel(document)).toBe('lock 1 cell');
    actions.rename('Mine');
    expect(undoLabel(document)).toBe('rename to Mine');
    actions.undo();
    actions.undo();
    expect([undoLabel(document), redoLabel(document)]).toEqual(['paint 2 cells to BF16', 'lock 1 cell']);
    actions.undo();
    expect(formats()).toEqual(before);
    expect([undoLabel(document), redoLabel(document)]).toEqual([null, 'paint 2 cells to BF16']);
    actions.redo();
    expect(formats()?.[SITES[0]]).toBe('bf16');
  });

  it('has one step a stroke, none for a preview, a gesture that changes nothing, or cells no plan decides over', () => {
    const page = createPage();
    const { actions, document, view } = page;
    const stroke = { ...document.getState().plan!, name: 'under the hand' };
    for (let i = 0; i < 5; i++) actions.preview({ ...stroke });
    expect(steps(page)).toBe(0);
    actions.preview(null);
    actions.setFormats(ALL_SITES, 'bf16');
    expect(steps(page)).toBe(1);
    actions.setFormats(ALL_SITES, 'bf16');
    actions.applyBaseline('all-high');
    actions.setLocked([], true);
    actions.rename(document.getState().plan!.name);
    actions.setFormats(['lm_head:fprop', 'no.such:site'], 'bf16');
    expect(steps(page)).toBe(1);
    expect(Object.keys(document.getState().plan!.formats).sort()).toEqual([...ALL_SITES].sort());
    actions.preview(stroke);
    actions.commitPlan({ ...stroke, name: 'dragged' }, 'drag the budget');
    expect([steps(page), undoLabel(document), view.getState().preview]).toEqual([2, 'drag the budget', null]);
  });

  it('is bounded, the oldest steps go first', () => {
    const page = createPage();
    for (let i = 0; i <= HISTORY_STEPS + 5; i++) page.actions.setNotes(`note ${i}`);
    expect(steps(page)).toBe(HISTORY_STEPS);
    for (let i = 0; i < HISTORY_STEPS; i++) page.actions.undo();
    expect(page.document.getState().plan?.notes).toBe('note 5');
  });
});

describe('locked cells', () => {
  it('stay under brush, baseline and frontier, and the page says how many', () => {
    const { actions, document, facts, shown } = createPage();
    const formats = () => document.getState().plan!.formats;
    actions.setLocked([SITES[0]], true);
    actions.setFormats(SITES, 'bf16');
    expect([formats()[SITES[0]], formats()[SITES[1]]]).toEqual(['nvfp4', 'bf16']);
    expect(facts.getState().notices).toMatchObject([{ kind: 'info', message: '1 locked cell unchanged' }]);
    actions.applyBaseline('all-high');
    expect(ALL_SITES.filter((id) => formats()[id] !== 'bf16')).toEqual([SITES[0]]);
    const line = frontierOf(shown(), document.getState().plan!, OWN_COST)!;
    line.points.forEach((_, i) => expect(planAt(document.getState().plan!, line, i).formats[SITES[0]]).toBe('nvfp4'));
    actions.setLocked([SITES[0]], false);
    actions.setFormats([SITES[0]], 'bf16');
    expect(formats()[SITES[0]]).toBe('bf16');
  });

  it('are all of a plan that the frontier depends on', () => {
    const { actions, document, shown } = createPage();
    const frontier = () => frontierOf(shown(), document.getState().plan!, OWN_COST);
    const before = frontier();
    actions.setFormats([SITES[1]], 'bf16');
    expect(frontier()).toBe(before);
    actions.setLocked([SITES[1]], true);
    const locked = frontier()!;
    expect(locked).not.toBe(before);
    locked.points.forEach((_, i) => expect(locked.formatsAt(i)[SITES[1]]).toBe('bf16'));
  });
});

describe('files and links', () => {
  it('that are refused leave everything as it is', () => {
    const { actions, document, facts, figures } = createPage();
    actions.setFormats([SITES[1]], 'bf16');
    const good = actions.exportPlan(allocation)!.text;
    const before = { figures: figures(), plan: document.getState().plan, past: document.temporal.getState().pastStates };
    const wrong: readonly (readonly [string, string])[] = [
      [good.slice(0, 200), 'E-FILE-07'],
      [good.replace('bendscope-allocation/1', 'bendscope-allocation/99'), 'E-VER-01'],
      [good.replace(MODEL, OTHER.modelSha256), 'E-PLAN-01'],
      [good.replace('"format": "bf16"', '"format": "fp3"'), 'E-PLAN-02'],
    ];
    for (const [text, name] of wrong) {
      expect(text).not.toBe(good);
      expect(actions.importAllocation(text, 'plan.json')).toBe(false);
      expect(facts.getState().notices.at(-1)).toMatchObject({ kind: 'error', name });
    }
    expect(actions.openLink('#v=1&m=tiny&d=moby-dick&s=1&r=nvfp4&x=&p=AAAA')).toBe(false);
    expect({ ...figures(), notices: 0 }).toEqual({ ...before.figures, notices: 0 });
    expect(document.getState().plan).toBe(before.plan);
    expect(document.temporal.getState().pastStates).toEqual(before.past);
    expect(actions.importAllocation(good, 'plan.json')).toBe(true);
  });

  it('of its own plan bring it back, as one step', () => {
    const page = createPage();
    const { document, actions } = page;
    actions.setFormats([SITES[1]], 'bf16');
    const formats = document.getState().plan?.formats;
    const url = actions.shareUrl()!;
    const file = actions.exportPlan(allocation)!.text;
    actions.undo();
    expect(actions.openLink(new URL(url).hash)).toBe(true);
    expect(document.getState().plan?.formats).toEqual(formats);
    actions.undo();
    expect(actions.importAllocation(file, 'plan.json')).toBe(true);
    expect(document.getState().plan?.formats).toEqual(formats);
    expect([steps(page), undoLabel(document)]).toEqual([1, 'import plan.json']);
  });
});

describe('after a reload', () => {
  it('the plan is there with its history, and another model does not get it', () => {
    const storage = memoryStorage();
    const { document, actions } = createPage();
    const kept: boolean[] = [];
    const keeper = keepDocument(document, storage, (ok) => kept.push(ok));
    actions.setFormats(SITES, 'bf16');
    actions.setLocked([SITES[0]], true);
    actions.undo();
    keeper.flush();
    keeper.stop();
    expect(kept).toEqual([true]);
    expect(restoreDocument(createDocumentStore(), GRAPH, OTHER.modelSha256, storage)).toBe(false);
    const next = createPage({ storage });
    expect(next.document.getState().plan).toEqual(document.getState().plan);
    expect([undoLabel(next.document), redoLabel(next.document)]).toEqual(['paint 2 cells to BF16', 'lock 1 cell']);
    next.actions.redo();
    expect(next.document.getState().plan?.locked).toEqual({ [SITES[0]]: true });
    next.actions.undo();
    next.actions.undo();
    expect(next.document.getState().plan?.formats[SITES[0]]).toBe('nvfp4');
  });

  it('each model has its own, even if it was left in the middle of an edit', async () => {
    const storage = memoryStorage();
    const page = createPage({ storage });
    const keeper = keepDocument(page.document, storage);
    page.actions.setFormats([SITES[0]], 'bf16');
    await page.actions.openModel(FILES);
    page.actions.setNotes('of the other');
    keeper.flush();
    keeper.stop();
    const next = createPage({ storage });
    expect(next.document.getState().plan?.formats[SITES[0]]).toBe('bf16');
    expect(undoLabel(next.document)).toBe('paint 1 cell to BF16');
    await next.actions.openModel(FILES);
    expect(next.document.getState()).toMatchObject({ modelSha256: OTHER.modelSha256, plan: { notes: 'of the other' } });
  });

  it('only the last few models are kept, and older ones give way when there is no room', async () => {
    const edit = async (storage: ReturnType<typeof memoryStorage>, sha: string): Promise<boolean> => {
      const page = createPage({ openModel: () => Promise.resolve({ ...OTHER, modelSha256: sha }) });
      let stored = false;
      await page.actions.openModel(FILES);
      const keeper = keepDocument(page.document, storage, (kept) => (stored = kept));
      page.actions.setNotes(sha);
      keeper.flush();
      keeper.stop();
      return stored;
    };
    const restorable = (storage: ReturnType<typeof memoryStorage>): string[] => ['a', 'b', 'c', 'd', 'e', 'f', 'g'].filter((sha) => restoreDocument(createDocumentStore(), OTHER.graph, sha, storage));
    const roomy = memoryStorage();
    for (const sha of ['a', 'b', 'c', 'a', 'd', 'e', 'f']) expect(await edit(roomy, sha)).toBe(true);
    expect(restorable(roomy)).toEqual(['a', 'c', 'd', 'e', 'f']);
    expect(restorable(roomy)).toHaveLength(KEPT_MODELS);
    expect(roomy.saved.size).toBe(KEPT_MODELS + 1);

    const one = [...roomy.saved.values()].reduce((most, text) => Math.max(most, text.length), 0);
    const tight = memoryStorage(2.5 * one);
    for (const sha of ['a', 'b', 'c']) expect(await edit(tight, sha)).toBe(true);
    expect(restorable(tight)).toEqual(['b', 'c']);
    expect(await edit(memoryStorage(one / 2), 'a')).toBe(false);
  });

  it('what does not fit the open graph is not trusted', () => {
    const storage = memoryStorage();
    const { document, actions } = createPage();
    const keeper = keepDocument(document, storage);
    actions.setFormats([SITES[0]], 'bf16');
    actions.setLocked([SITES[0]], true);
    keeper.flush();
    keeper.stop();
    const [key, text] = [...storage.saved].find(([, value]) => value.includes('"present"'))!;
    expect(createPage({ storage }).document.getState().plan?.formats[SITES[0]]).toBe('bf16');
    const last = (part: string, other: string): string => text.slice(0, text.lastIndexOf(part)) + other + text.slice(text.lastIndexOf(part) + part.length);
    const damaged = [
      text.slice(0, -2), 'null', '{}', '[]',
      text.replace('"bf16"', '"fp3"'),
      last('"bf16"', '"fp3"'),
      text.replace(`"${SITES[1]}":`, '"lm_head:fprop":'),
      text.replace(`"${SITES[1]}":"nvfp4",`, ''),
      text.replace('"formats":{', '"formats":{"h.9.mlp.c_fc:fprop":"nvfp4",'),
      text.replace(`"locked":{"${SITES[0]}":true}`, '"locked":{"no.such:site":true}'),
      text.replace(MODEL, OTHER.modelSha256),
      text.replace('"past":[', '"past":[{},'),
    ];
    for (const bad of damaged) {
      expect(bad).not.toBe(text);
      storage.saved.set(key, bad);
      const page = createPage({ storage });
      expect(page.document.getState().plan?.formats[SITES[0]], bad.slice(0, 80)).toBe('nvfp4');
      expect(steps(page)).toBe(0);
    }
  });

  it('a storage that refuses costs nothing', () => {
    const refuse = (): never => {
      throw new DOMException('no', 'SecurityError');
    };
    const page = createPage({ storage: { getItem: refuse } });
    const kept: boolean[] = [];
    const keeper = keepDocument(page.document, { getItem: refuse, setItem: refuse, removeItem: refuse }, (ok) => kept.push(ok));
    page.actions.setFormats([SITES[0]], 'bf16');
    keeper.flush();
    keeper.stop();
    expect(kept).toEqual([false]);
    expect(page.document.getState().plan?.formats[SITES[0]]).toBe('bf16');
  });
});
