/**
 * Recipes on the page: each keeps its plan and switches, a choice is one undo step, results of one never stand in
 * another's cells even under a running measurement, and a reload brings all of it back.
 */
import { describe, expect, it } from 'vitest';
import { allocation } from '../allocate/exports/allocation';
import { keepDocument, memoryOf, planMemoryOf, recipeId, recipeName, resultsKey, resultsUnder, restoreDocument, createDocumentStore, totalsOf, undoLabel } from '.';
import { ALL_OUTS, ALL_SITES, createPage, createRunningPage, floor, GRAPH, LEDGER, measured, memoryStorage, MODEL, provenance, RECORD, SITES } from './page-fixture';

const STARTED = { kind: 'started', provenance: provenance('here'), allocated: LEDGER, resumedSites: 0 } as const;

describe('choosing a recipe', () => {
  it('there and back brings back every mark, lock and switch, one undo step each', () => {
    const { actions, document } = createPage();
    actions.setFormats([SITES[0]], 'bf16');
    actions.setRecipe('nvfp4', { rht: true });
    const before = document.getState();
    actions.setRecipe('fp8-out');
    expect(Object.keys(document.getState().plan!.formats)).toEqual(ALL_OUTS);
    actions.setFormats(['ln_f:out'], 'bf16');
    actions.setRecipe('nvfp4');
    expect(document.getState()).toMatchObject({ recipe: 'nvfp4', options: { rht: true } });
    expect(document.getState().plan).toBe(before.plan);
    actions.setRecipe('fp8-out');
    expect(document.getState().plan?.formats).toMatchObject({ 'ln_f:out': 'bf16', 'wte:out': 'fp8-out' });
    expect(undoLabel(document)).toBe('choose FP8 op groups');
    for (let i = 0; i < 4; i++) actions.undo();
    expect(document.getState()).toMatchObject({ recipe: 'nvfp4', options: { rht: true }, label: 'change switches' });
    expect(document.getState().plan).toBe(before.plan);
  });

  it('for the first time takes over which cells are BF16, where the cells are the same', () => {
    const { actions, document, shown } = createPage();
    actions.setFormats(SITES, 'bf16');
    actions.setLocked([SITES[1]], true);
    actions.setRecipe('mxfp8');
    const { plan } = document.getState();
    expect(Object.entries(plan!.formats).filter(([, format]) => format === 'bf16').map(([id]) => id)).toEqual([...SITES]);
    expect(plan).toMatchObject({ locked: { [SITES[1]]: true } });
    expect(totalsOf(shown(), plan!)?.siteCount).toMatchObject({ bf16: 2, mxfp8: ALL_SITES.length - 2, nvfp4: 0 });
    actions.setRecipe('fp8-out');
    expect(Object.values(document.getState().plan!.formats).every((format) => format === 'fp8-out')).toBe(true);
  });

  it('keeps only switches that the recipe reads, and is no step when nothing changes', () => {
    const { actions, document } = createPage();
    const steps = (): number => document.temporal.getState().pastStates.length;
    actions.setRecipe('nvfp4', { seed: 7, weights1d: false });
    expect([steps(), document.getState().options]).toEqual([0, {}]);
    actions.setRecipe('nvfp4', { sr: true, seed: 7, floor: true });
    expect(document.getState().options).toEqual({ sr: true, seed: 7 });
    expect(recipeName('nvfp4', document.getState().options)).toBe('NVFP4 (Stochastic rounding, seed 7)');
    expect(steps()).toBe(1);
  });

  it('by its own name never means the switches of its preset', () => {
    const { actions, document } = createPage();
    const te = { rht: true, sr: true };
    actions.setRecipe('nvfp4', te);
    expect(recipeId('nvfp4', document.getState().options)).toBe('nvfp4-te');
    actions.setRecipe('nvfp4');
    expect(document.getState().options).toEqual({});
    actions.setRecipe('nvfp4', te);
    actions.setRecipe('mxfp8');
    actions.setRecipe('nvfp4');
    expect(document.getState().options).toEqual({});
  });

  it('lets go of cells that the other kind of recipe has not', () => {
    const { actions, view } = createPage();
    view.setState({ primary: SITES[0], selection: new Set(SITES), brush: 'low' });
    actions.setRecipe('mxfp4');
    expect(view.getState()).toMatchObject({ primary: SITES[0], brush: 'low' });
    actions.setRecipe('fp8-out');
    expect(view.getState()).toMatchObject({ primary: null, brush: 'low' });
    expect(view.getState().selection.size).toBe(0);
  });
});

describe('results of several recipes', () => {
  it('stay apart while one is measured and another is looked at', async () => {
    const { actions, shown, run, facts } = await createRunningPage();
    run().say(STARTED);
    actions.setRecipe('mxfp8');
    expect(shown()).toMatchObject({ sites: {}, measuring: null, floor: RECORD.floor, allocated: null });
    run().say({ kind: 'measuring', site: SITES[0] });
    run().say({ kind: 'site', site: SITES[0], result: measured(1.5), done: 1, total: 24 });
    run().say({ kind: 'measuring', site: SITES[1] });
    expect(shown()).toMatchObject({ sites: {}, measuring: null });
    actions.setRecipe('nvfp4');
    expect(shown()).toMatchObject({ sites: { [SITES[0]]: { angleDeg: 1.5 } }, measuring: SITES[1], allocated: LEDGER });
    expect(resultsUnder(facts.getState(), resultsKey(facts.getState().data, 'mxfp8', {})).sites).toEqual({});
  });

  it('of a stored example wait for their recipe, of the open model only, and never replace what was measured here', async () => {
    const mx = { ...RECORD, recipe: 'mxfp8', sites: { [SITES[0]]: measured(0.5) } } as const;
    const { actions, shown, run } = await createRunningPage();
    actions.addStored(mx);
    actions.addStored({ ...mx, recipe: 'mxfp4', provenance: { ...mx.provenance, modelSha256: 'sha256:x' } });
    run().say(STARTED);
    run().say({ kind: 'site', site: SITES[0], result: measured(1.5), done: 1, total: 24 });
    actions.addStored(RECORD);
    expect(shown().sites[SITES[0]]).toMatchObject({ angleDeg: 1.5 });
    actions.setRecipe('mxfp8');
    expect(shown()).toMatchObject({ sites: mx.sites, storedProvenance: { device: 'elsewhere' } });
    actions.setRecipe('mxfp4');
    expect(shown().sites).toEqual({});
  });

  it('asks the worker for the recipe shown, with its switches and extra measures', async () => {
    const { actions, run } = createPage();
    await actions.checkDevice();
    actions.setRecipe('fp8-out', { out: 'mx' });
    actions.setExtra({ persistent: true, leaveOneOut: true });
    void actions.runProbe();
    await new Promise((resolve) => setTimeout(resolve));
    expect(run().request).toMatchObject({ recipe: 'fp8-out', options: { out: 'mx' }, extra: { persistent: true, leaveOneOut: true } });
    const { request } = run();
    expect('sites' in request && [...request.sites].sort()).toEqual([...ALL_OUTS].sort());
  });

  it('of a second format are measured beside the recipe in hand, each under its own switches', async () => {
    const { actions, document, shown, run } = createPage();
    await actions.checkDevice();
    actions.setRecipe('nvfp4', { rht: true });
    actions.setSecond('mxfp8');
    const { plan } = document.getState();
    void actions.runProbe(undefined, 'mxfp8');
    await new Promise((resolve) => setTimeout(resolve));
    expect(run().request).toMatchObject({ recipe: 'mxfp8', options: {} });
    run().say(STARTED);
    run().say({ kind: 'site', site: SITES[0], result: measured(0.5), done: 1, total: 24 });
    expect(shown()).toMatchObject({ recipe: 'nvfp4', sites: {}, others: { mxfp8: { [SITES[0]]: { angleDeg: 0.5 } } }, measuring: null });
    expect(document.getState().plan).toBe(plan);
  });

  it('and their floor: the reference of one text is the same under all', async () => {
    const { actions, shown, run } = await createRunningPage();
    run().say(STARTED);
    run().say({ kind: 'floor', floor: floor(0.3), referenceLoss: [3.6] });
    run().say({ kind: 'site', site: SITES[0], result: measured(1.5), done: 1, total: 24 });
    actions.setRecipe('mxfp4');
    expect(shown()).toMatchObject({ floor: floor(0.3), referenceLoss: [3.6] });
  });
});

describe('files and links', () => {
  it('of another recipe bring it with its switches and plan, as one step, and the plan in hand waits', () => {
    const page = createPage();
    const { actions, document } = page;
    actions.setFormats([SITES[0]], 'bf16');
    const passes = document.getState().plan;
    actions.setRecipe('fp8-out', { out: 'block' });
    actions.setFormats(['wte:out', 'h.1.ln_1:out'], 'bf16');
    const [file, link] = [actions.exportPlan(allocation)!.text, new URL(actions.shareUrl()!).hash];
    const sent = document.getState().plan!.formats;
    for (const open of [() => actions.importAllocation(file, 'plan.json'), () => actions.openLink(link)]) {
      for (let i = 0; i < 3; i++) actions.undo();
      actions.setRecipe('nvfp4', {});
      expect(document.getState().plan?.formats).toEqual({ ...passes!.formats, [SITES[0]]: 'nvfp4' });
      actions.setFormats([SITES[0]], 'bf16');
      expect(open()).toBe(true);
      expect(document.getState()).toMatchObject({ recipe: 'fp8-out', options: { out: 'block' }, plan: { formats: sent } });
      actions.undo();
      expect(document.getState()).toMatchObject({ recipe: 'nvfp4', plan: { formats: passes!.formats } });
    }
  });
});

describe('after a reload', () => {
  it('recipe, switches and the plans of all recipes are there', () => {
    const storage = memoryStorage();
    const { document, actions } = createPage();
    const keeper = keepDocument(document, storage);
    actions.setRecipe('mxfp8', { floor: true });
    actions.setRecipe('fp8-out', { out: 'mx' });
    actions.setFormats(['wte:out'], 'bf16');
    keeper.flush();
    keeper.stop();
    const next = createPage({ storage });
    const { recipe, options, plan, left } = document.getState();
    expect(next.document.getState()).toMatchObject({ recipe, options, plan, left });
    next.actions.undo();
    next.actions.undo();
    expect(next.document.getState()).toMatchObject({ recipe: 'mxfp8', options: { floor: true } });
  });

  it('a document of before there were recipes is one of NVFP4; one whose plan is of other cells is not trusted', () => {
    const storage = memoryStorage();
    const { document, actions } = createPage();
    const keeper = keepDocument(document, storage);
    actions.setFormats([SITES[0]], 'bf16');
    keeper.flush();
    keeper.stop();
    const [key, text] = [...storage.saved].find(([, value]) => value.includes('"present"'))!;
    const plain = JSON.parse(text, (name, value: unknown) => (['recipe', 'options', 'left'].includes(name) ? undefined : value)) as object;
    storage.saved.set(key, JSON.stringify(plain));
    const store = createDocumentStore();
    expect(restoreDocument(store, GRAPH, MODEL, storage)).toBe(true);
    expect(store.getState()).toMatchObject({ recipe: 'nvfp4', options: {}, left: {}, plan: document.getState().plan });
    for (const bad of [text.replaceAll('"recipe":"nvfp4"', '"recipe":"fp8-out"'), text.replaceAll('"recipe":"nvfp4"', '"recipe":"fp3"'), text.replaceAll('"options":{}', '"options":{"rht":"yes"}')]) {
      expect(bad).not.toBe(text);
      storage.saved.set(key, bad);
      expect(restoreDocument(createDocumentStore(), GRAPH, MODEL, storage)).toBe(false);
    }
  });
});

it('memory is predicted before a run, and a plan of low outputs keeps less', () => {
  const { actions, document, shown } = createPage();
  actions.setRecipe('fp8-out');
  const memory = memoryOf(shown())!;
  expect(memory.allocated).toBeNull();
  const { totalBytes, activationBytes, ...rest } = memory.predicted;
  const parts = [...Object.values(activationBytes), rest.weightBytes, rest.gradientBytes, rest.parameterGradientBytes, rest.scratchBytes];
  expect(parts.reduce((a, b) => a + b, 0)).toBe(totalBytes);
  const kept = (plan: Parameters<typeof planMemoryOf>[1]): number => Object.values(planMemoryOf(shown(), plan)!.activationBytes).reduce((a, b) => a + b, 0);
  expect(kept(document.getState().plan)).toBeLessThan(kept(null));
});
