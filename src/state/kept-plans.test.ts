/**
 * Documents in storage: a document of an earlier build still opens, saved plans and forks come back with their history, each
 * plan is written once, and what does not fit is not trusted.
 */
import { describe, expect, it } from 'vitest';
import { createDocumentStore, keepDocument, restoreDocument } from '.';
import { ALL_SITES, createPage, GRAPH, memoryStorage, MODEL, SITES } from './page-fixture';

const [FIRST, SECOND] = SITES;
const formatsOf = ({ document }: ReturnType<typeof createPage>) => document.getState().plan!.formats;

describe('after a reload', () => {
  /** What an earlier build wrote: plans where they stand, no second format, nothing put aside. */
  const version2 = (): string => {
    const plan = (high: readonly string[]) => ({ name: 'Old', notes: 'kept', locked: { [FIRST]: true }, formats: Object.fromEntries(ALL_SITES.map((id) => [id, high.includes(id) ? 'bf16' : 'nvfp4'])) });
    const state = (label: string, ...high: string[]) => ({ recipe: 'nvfp4', options: { rht: true }, plan: plan(high), left: { mxfp8: { plan: { ...plan([]), formats: Object.fromEntries(ALL_SITES.map((id) => [id, 'mxfp8'])) }, options: {} } }, modelSha256: MODEL, label });
    return JSON.stringify({ present: state('paint', FIRST), past: [state('')], future: [state('paint 2', FIRST, SECOND)] });
  };

  it('a document of version 2 opens, and is written anew', () => {
    const storage = memoryStorage();
    storage.saved.set(`bendscope-document/2/${MODEL}`, version2());
    const page = createPage({ storage });
    expect(page.document.getState()).toMatchObject({ recipe: 'nvfp4', options: { rht: true }, second: null, saved: [], label: 'paint', plan: { name: 'Old', formats: { [FIRST]: 'bf16' } }, left: { mxfp8: { second: null } } });
    page.actions.redo();
    expect(formatsOf(page)[SECOND]).toBe('bf16');
    const keeper = keepDocument(page.document, storage);
    page.actions.setSecond('mxfp8');
    keeper.flush();
    keeper.stop();
    expect([...storage.saved.keys()].filter((key) => key.endsWith(MODEL))).toEqual([`bendscope-document/3/${MODEL}`]);
    expect(createPage({ storage }).document.getState()).toMatchObject({ second: 'mxfp8', plan: { name: 'Old' } });
  });

  it('saved plans, forks and second formats are there with their history', () => {
    const storage = memoryStorage();
    const page = createPage();
    const keeper = keepDocument(page.document, storage);
    page.actions.setFormats([FIRST], 'mxfp8');
    page.actions.savePlan(4);
    page.actions.setRecipe('fp8-out');
    page.actions.savePlan();
    page.actions.setFormats(['wte:out'], 'bf16');
    page.actions.undo();
    page.actions.undo();
    page.actions.setFormats(['ln_f:out'], 'bf16');
    keeper.flush();
    keeper.stop();
    const next = createPage({ storage });
    const { recipe, options, second, plan, left, saved } = page.document.getState();
    expect(next.document.getState()).toMatchObject({ recipe, options, second, plan, left, saved });
    expect(saved.map(({ id }) => id.split('-')[0])).toEqual(['plan', 'plan', 'before']);
    next.actions.undo();
    page.actions.undo();
    expect(next.document.getState()).toEqual(page.document.getState());
  });

  it('a plan is written once, however many steps hold it', () => {
    const storage = memoryStorage();
    const page = createPage();
    const keeper = keepDocument(page.document, storage);
    const sizes = [0, 30].map((n) => {
      for (let i = 0; i < n; i++) page.actions.savePlan(1 + (i % 9));
      for (let i = 0; i < n; i++) page.actions.deletePlan(page.document.getState().saved[0]!.id);
      page.actions.setNotes(`note ${n}`);
      keeper.flush();
      return storage.saved.get(`bendscope-document/3/${MODEL}`)!.length;
    });
    keeper.stop();
    const plan = JSON.stringify(page.document.getState().plan).length;
    // 61 steps more with up to 30 saved plans each; 32 plans at most are new.
    expect(sizes[1]! - sizes[0]!).toBeLessThan(33 * plan + 61 * 500);
  });

  it('plans that do not fit are not trusted', () => {
    const storage = memoryStorage();
    const page = createPage();
    const keeper = keepDocument(page.document, storage);
    page.actions.setFormats([FIRST], 'mxfp8');
    page.actions.savePlan(4);
    keeper.flush();
    keeper.stop();
    const key = `bendscope-document/3/${MODEL}`;
    const text = storage.saved.get(key)!;
    expect(restoreDocument(createDocumentStore(), GRAPH, MODEL, storage)).toBe(true);
    const bad = [
      text.replaceAll('"second":"mxfp8"', '"second":null'), text.replaceAll('"second":"mxfp8"', '"second":"nvfp4"'), text.replaceAll('"second":"mxfp8"', '"second":"fp8"'),
      text.replace('"slot":4', '"slot":10'), text.replace('"slot":4', '"slot":"4"'), text.replace(/"plan":\d+/, '"plan":99'), text.replace(/"plan":\d+/, '"plan":-1'), text.replace(/"plan":\d+/, '"plan":0.5'),
      text.replace('"saved":[0]', '"saved":[7]'), text.replace('"plans":[', '"plans":[{},'), text.replace(`"${SECOND}":"nvfp4"`, `"${SECOND}":"fp8"`),
    ];
    for (const damaged of bad) {
      expect(damaged).not.toBe(text);
      storage.saved.set(key, damaged);
      expect(restoreDocument(createDocumentStore(), GRAPH, MODEL, storage), damaged.slice(0, 60)).toBe(false);
    }
  });
});
