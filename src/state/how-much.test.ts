/**
 * "How much is needed?" against a worker whose joint angles are known: every step is on the page as it comes, at most four are
 * measured, the result meets the target and no cheaper plan of the frontier does but for the tolerance; Stop and failures
 * keep the steps; what was found is shown before it is taken over.
 */
import { describe, expect, it } from 'vitest';
import { costChoiceOf, frontierOf, hashOfPlan, undoLabel, type HowMuchState } from '.';
import { TOLERANCE } from '../allocate/how-much';
import { planAt } from '../allocate/plan';
import type { Policy } from '../graph/policy';
import { allMeasured, ALL_SITES, createPage, FILES, FULL, jointWorker, settled } from './page-fixture';

const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;
const CLEAN = allMeasured('nvfp4');
/** What a plan would bend if squared tangents added, by hand, times a law of its own. */
function truth(policy: Policy, law: (tan2: number) => number): number {
  const ids = Object.keys(policy.passes);
  const floor = ids.some((id) => id.endsWith(':fprop')) ? 0.1 : ids.some((id) => id.endsWith(':dgrad')) ? 0.05 : 0;
  const sum = ids.reduce((total, id) => total + tan2(CLEAN[id]!.cleanAngleDeg), tan2(floor));
  return (Math.atan(Math.sqrt(law(sum))) * 180) / Math.PI;
}
const LAWS = { 'a third more': (x: number) => 1.3 * x, 'a tenth less': (x: number) => 0.9 * x, 'a power': (x: number) => 3 * x ** 1.2 } as const;

async function readyPage(law: (tan2: number) => number = (x) => x, options: Parameters<typeof createPage>[0] = {}) {
  const asked: string[] = [];
  const seen: HowMuchState[] = [];
  const page = createPage({ record: FULL, verifyJointly: jointWorker((policy) => truth(policy, law)), ...options });
  await page.actions.checkDevice();
  page.facts.subscribe(({ howMuch, run }, before) => {
    if (howMuch !== null && howMuch !== before.howMuch) seen.push(howMuch);
    if (run !== null && before.run === null) asked.push(run.what);
  });
  return { ...page, seen, asked, found: () => page.facts.getState().howMuch! };
}
type Page = Awaited<ReturnType<typeof readyPage>>;
const lineOf = (page: Page) => frontierOf(page.shown(), page.document.getState().plan!, costChoiceOf(page.view.getState()))!;
const trueAngle = (page: Page, index: number, law: (tan2: number) => number): number => {
  const { formats } = planAt(page.document.getState().plan!, lineOf(page), index);
  return truth({ reference: 'bf16', options: {}, passes: Object.fromEntries(ALL_SITES.filter((id) => formats[id] === 'nvfp4').map((id) => [id, 'nvfp4' as const])) }, law);
};

describe.each(Object.entries(LAWS))('joint angles that are %s', (_, law) => {
  it.each([1.5, 3, 5])('%d degrees: the cheapest plan that keeps them, within the tolerance, in four measurements', async (targetDeg) => {
    const page = await readyPage(law);
    await page.actions.howMuch(targetDeg);
    const { status, steps, best, plan, isSettled, costName, key } = page.found();
    expect(page.facts.getState().notices).toEqual([]);
    expect([status, costName, key]).toEqual(['done', 'HP GEMM work', page.shown().key]);
    expect(steps.length).toBeLessThanOrEqual(4);
    expect(page.asked).toEqual(steps.map((_step, i) => `How much is needed, ${i + 1}`));
    for (const step of steps) expect(step).toMatchObject({ status: 'measured', isKnown: false, angleDeg: expect.closeTo(trueAngle(page, step.index, law), 9) as number, planHash: hashOfPlan(page.shown(), planAt(page.document.getState().plan!, lineOf(page), step.index)) });
    expect(best!.angleDeg).toBeLessThanOrEqual(targetDeg);
    expect(isSettled).toBe(true);
    // Settled: near the target, or the next cheaper plan misses it.
    expect(best!.angleDeg >= (1 - TOLERANCE) * targetDeg || trueAngle(page, best!.index - 1, law) > targetDeg).toBe(true);
    expect(plan).toEqual(planAt(page.document.getState().plan!, lineOf(page), best!.index));
  });
});

describe('while it searches', () => {
  it('shows each plan before it is measured and its angle after, and the uncertainty at the end', async () => {
    const page = await readyPage(LAWS['a third more']);
    await page.actions.howMuch(3);
    const { steps } = page.found();
    expect(page.seen[0]).toMatchObject({ status: 'running', steps: [], best: null, plan: null });
    steps.forEach((step, i) => {
      const { index, cost, predictedDeg, planHash, figure } = step;
      expect(page.seen.some((state) => state.steps.length === i + 1 && state.steps[i]?.status === 'measuring' && state.steps[i].planHash === planHash)).toBe(true);
      expect(page.seen.some((state) => state.steps.length === i + 1 && state.steps[i] === step)).toBe(true);
      expect(lineOf(page).points[index]).toMatchObject({ cost, angleDeg: predictedDeg });
      expect(figure).toBeCloseTo(cost / lineOf(page).totalCost, 12);
    });
    const { costRange, figureRange, best, batches } = page.found();
    expect(costRange![0]).toBeLessThanOrEqual(best!.cost);
    expect(costRange![1]).toBeGreaterThanOrEqual(best!.cost);
    expect(figureRange).toEqual(costRange!.map((cost) => cost / lineOf(page).totalCost));
    expect(batches.map((row) => row.batches)).toEqual([1, 2, 3]);
  });

  it('takes over what was measured before, and runs nothing for it', async () => {
    const page = await readyPage(LAWS['a power']);
    await page.actions.howMuch(3);
    const [runs, first] = [page.asked.length, page.found()];
    await page.actions.howMuch(3);
    expect(page.asked).toHaveLength(runs);
    expect(page.found().steps.map((step) => (step.status === 'measured' ? [step.index, step.angleDeg, step.isKnown] : null))).toEqual(first.steps.map((step) => (step.status === 'measured' ? [step.index, step.angleDeg, true] : null)));
    expect(page.found().plan).toEqual(first.plan);
  });

  it('stops when it is told to, and keeps the steps there are', async () => {
    let joints = 0;
    let end = (): void => undefined;
    const answer = jointWorker((policy) => truth(policy, LAWS['a power']));
    const page = await readyPage(LAWS['a power'], {
      verifyJointly: (request, onEvent) => (joints++ === 0 ? answer(request, onEvent) : new Promise((_, reject) => (end = () => {
        onEvent({ kind: 'stopped', runId: request.runId });
        reject(Object.assign(new Error('stopped'), { name: 'E-RUN-03' }));
      }))),
    });
    const ended = page.actions.howMuch(3);
    await settled();
    expect(page.found()).toMatchObject({ status: 'running', steps: [{ status: 'measured' }, { status: 'measuring' }] });
    await page.actions.stop();
    end();
    await ended;
    expect(page.found()).toMatchObject({ status: 'stopped', reason: null });
    expect(page.found().steps).toHaveLength(1);
    expect([page.facts.getState().run, page.facts.getState().notices]).toEqual([null, []]);
  });

  it('a plan without a finite gradient is a step that says why, and ends it', async () => {
    const page = await readyPage(undefined, { verifyJointly: jointWorker(() => null) });
    await page.actions.howMuch(3);
    expect(page.found()).toMatchObject({ status: 'failed', best: null, plan: null, reason: 'E-RUN-02: the gradient is not finite', steps: [{ status: 'failed', reason: 'E-RUN-02: the gradient is not finite' }] });
  });

  it('a lost device ends it with its name', async () => {
    const page = await readyPage(undefined, { verifyJointly: () => Promise.reject(Object.assign(new Error('gone'), { name: 'E-GPU-02' })) });
    await page.actions.howMuch(3);
    expect(page.found()).toMatchObject({ status: 'failed', steps: [{ status: 'failed' }] });
    expect(page.found().reason).toContain('E-GPU-02');
    expect(page.facts.getState().notices).toMatchObject([{ name: 'E-GPU-02' }]);
  });

  it('is not begun without a device, a target, a measured cell, or beside another', async () => {
    const page = await readyPage();
    for (const target of [0, -1, 90, NaN]) {
      await page.actions.howMuch(target);
      expect(page.facts.getState().notices.at(-1)).toMatchObject({ kind: 'error', name: 'E-RUN-06' });
    }
    expect(page.facts.getState().howMuch).toBeNull();
    const [a, b] = [page.actions.howMuch(3), page.actions.howMuch(4)];
    await Promise.all([a, b]);
    expect(page.found().targetDeg).toBe(3);
    const bare = await readyPage(undefined, { record: { ...FULL, sites: {} } });
    await bare.actions.howMuch(3);
    expect(bare.facts.getState()).toMatchObject({ howMuch: null, notices: [{ name: 'E-RUN-06' }] });
    const unchecked = createPage({ record: FULL });
    await unchecked.actions.howMuch(3);
    expect(unchecked.facts.getState()).toMatchObject({ howMuch: null, notices: [{ name: 'E-GPU-12' }] });
  });
});

describe('what was found', () => {
  it('is a preview first, then one undo step, and locked cells stay', async () => {
    const page = await readyPage(LAWS['a power']);
    const { actions, document, view } = page;
    actions.setLocked([ALL_SITES[0]!], true);
    const before = document.temporal.getState().pastStates.length;
    await actions.howMuch(3);
    const found = page.found().plan!;
    expect(view.getState().preview).toBe(found);
    expect(document.temporal.getState().pastStates).toHaveLength(before);
    actions.rename('Mine');
    actions.applyHowMuch();
    expect(document.getState().plan).toMatchObject({ name: 'Mine', formats: found.formats });
    expect(found.formats[ALL_SITES[0]!]).toBe('nvfp4');
    expect([undoLabel(document), view.getState().preview]).toEqual(['what 3.00 deg need', null]);
    actions.applyHowMuch();
    expect(document.temporal.getState().pastStates).toHaveLength(before + 2);
  });

  it('is not taken over under another recipe, and is gone with its model', async () => {
    const page = await readyPage();
    await page.actions.howMuch(3);
    page.actions.setRecipe('mxfp8');
    const { plan } = page.document.getState();
    page.actions.applyHowMuch();
    expect(page.document.getState().plan).toBe(plan);
    expect(page.facts.getState().notices.at(-1)).toMatchObject({ kind: 'warning' });
    await page.actions.openModel(FILES);
    expect(page.facts.getState().howMuch).toBeNull();
  });
});
