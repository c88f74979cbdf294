/** Plans measured one after the other: each under its own recipe, what is known is passed over, Stop leaves the rest. */
import { describe, expect, it } from 'vitest';
import { costFigureOf, hashOfPlan, jointOf, OWN_COST, plansOf, shownUnder, totalsOf } from '.';
import type { JointRequest } from '../bridge/protocol';
import { allMeasured, ALL_SITES, createPage, FULL, jointWorker, settled, SITES } from './page-fixture';

async function readyPage(angleOf: (request: JointRequest) => number | null = () => 4) {
  const asked: JointRequest[] = [];
  const page = createPage({ record: FULL, verifyJointly: (request, onEvent) => {
    asked.push(request);
    return jointWorker(() => angleOf(request))(request, onEvent);
  } });
  await page.actions.checkDevice();
  return { ...page, asked, all: () => plansOf(page.document.getState(), page.shown(), OWN_COST) };
}

describe('plans in a row', () => {
  it('are measured in the order asked for, each as what it is', async () => {
    const page = await readyPage((request) => Object.keys(request.policy.passes).length / 2);
    const { actions, document, shown, asked } = page;
    actions.setFormats([SITES[0]], 'mxfp8');
    const saved = actions.savePlan()!;
    actions.setRecipe('mxfp4', { floor: true });
    const other = actions.savePlan()!;
    actions.setRecipe('nvfp4', {});
    actions.setFormats([SITES[1]], 'bf16');
    const names: string[] = [];
    const progress: string[] = [];
    page.facts.subscribe(({ run, verifying }, before) => {
      if (run !== null && before.run === null) names.push(run.what);
      if (verifying !== before.verifying) progress.push(verifying === null ? 'over' : `${verifying.done} of ${verifying.total}`);
    });
    await actions.verifyPlans([saved, 'fprop-high', other, 'current', 'no such plan']);
    expect(names).toEqual(['Plan, 1 of 4', 'Forward passes BF16, 2 of 4', expect.stringMatching(/^Plan.*, 3 of 4$/), 'Plan, 4 of 4']);
    expect(progress).toEqual(['0 of 4', '1 of 4', '2 of 4', '3 of 4', 'over']);
    expect(asked.map(({ recipe, policy }) => [recipe, policy.options, policy.passes[SITES[0]], Object.keys(policy.passes).length])).toEqual([
      ['nvfp4', {}, 'mxfp8', 24], ['nvfp4', {}, undefined, 16], ['mxfp4', { floor: true }, 'mxfp4', 24], ['nvfp4', {}, 'mxfp8', 23],
    ]);
    for (const id of [saved, 'fprop-high', other, 'current']) {
      const named = page.all().find((plan) => plan.id === id)!;
      expect(jointOf(shownUnder(shown(), named), named.plan)?.result).toMatchObject({ angleDeg: Object.values(named.plan.formats).filter((format) => format !== 'bf16').length / 2 });
    }
    expect(document.getState().recipe).toBe('nvfp4');
  });

  it('that are known, or low in nothing, are passed over', async () => {
    const page = await readyPage();
    await page.actions.verifyPlans(['all-low', 'all-high', 'dgrad-high']);
    await page.actions.verifyPlans(['all-low', 'dgrad-high', 'wgrad-high']);
    expect(page.asked.map(({ planHash }) => planHash)).toEqual(['all-low', 'dgrad-high', 'wgrad-high'].map((id) => hashOfPlan(page.shown(), page.all().find((plan) => plan.id === id)!.plan)));
    await page.actions.verifyPlans(['all-low']);
    expect(page.facts.getState().notices).toMatchObject([{ kind: 'info', message: '1 plan measured already' }]);
  });

  it('go on after one that has no finite gradient, and end with a run that fails', async () => {
    let calls = 0;
    const page = await readyPage(() => {
      calls += 1;
      if (calls === 3) throw Object.assign(new Error('gone'), { name: 'E-GPU-02' });
      return calls === 1 ? null : 3;
    });
    await page.actions.verifyPlans(['all-low', 'fprop-high', 'dgrad-high', 'wgrad-high']);
    expect(calls).toBe(3);
    expect(page.facts.getState()).toMatchObject({ run: null, verifying: null, notices: [{ name: 'E-GPU-02' }] });
  });

  it('end when one is stopped', async () => {
    let end = (): void => undefined;
    const heard: string[] = [];
    const page = createPage({ record: FULL, verifyJointly: (request, onEvent) => {
      heard.push(request.planHash);
      return new Promise((_, reject) => (end = () => {
        onEvent({ kind: 'stopped', runId: request.runId });
        reject(Object.assign(new Error('stopped'), { name: 'E-RUN-03' }));
      }));
    } });
    await page.actions.checkDevice();
    const ended = page.actions.verifyPlans(['all-low', 'fprop-high']);
    await settled();
    expect(page.facts.getState().verifying).toEqual({ done: 0, total: 2 });
    // Another row under way: refused, and the first one's progress stays.
    await page.actions.verifyPlans(['dgrad-high']);
    expect(page.facts.getState()).toMatchObject({ verifying: { done: 0, total: 2 }, notices: [{ kind: 'warning' }] });
    page.actions.dismiss(page.facts.getState().notices[0]!.id);
    await page.actions.stop();
    end();
    await ended;
    expect(page.facts.getState().verifying).toBeNull();
    expect([heard.length, page.facts.getState().run, page.facts.getState().notices]).toEqual([1, null, []]);
  });
});

it('figures of any plan are those of its own recipe, text and second format', async () => {
  const page = await readyPage();
  page.actions.addStored({ ...FULL, recipe: 'mxfp8', sites: allMeasured('mxfp8', 0.12) });
  page.actions.setRecipe('mxfp8');
  page.actions.setFormats(ALL_SITES.slice(1), 'bf16');
  const id = page.actions.savePlan()!;
  page.actions.setRecipe('nvfp4');
  const named = page.all().find((plan) => plan.id === id)!;
  const own = shownUnder(page.shown(), named);
  const alone = allMeasured('mxfp8', 0.12)[ALL_SITES[0]!]!.cleanAngleDeg;
  const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;
  expect(tan2(totalsOf(own, named.plan)!.predictedDeg!)).toBeCloseTo(tan2(alone) + tan2(0.1), 12);
  // One of c_attn's three passes is low: 3 of 72 units of work.
  expect(costFigureOf(own, named.plan, OWN_COST)).toBeCloseTo(1 - 3 / 72, 12);
  expect(shownUnder(page.shown(), named)).toBe(own);
});
