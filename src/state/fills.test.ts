/** What fills the grid, against the definitions of method.md: one angle scale, a cell without a figure says so. */
import { describe, expect, it } from 'vitest';
import { RECIPE_NAMES } from '../graph/policy';
import { RECIPE_PRESETS } from '../graph/recipes';
import { comparedOf, fillCell, fillNote, fillOf } from '.';
import type { FillFacts } from './fills';
import { createPage, createRunningPage, floor, GRAPH, jointOfAngle, measured, RECORD, settled, SITES } from './page-fixture';
import { hashOfPlan } from './selectors';

const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;
const deg = (t: number): number => (Math.atan(Math.sqrt(t)) * 180) / Math.PI;
const [A, B] = SITES;
const failed = { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' } as const;
const facts = (part: Partial<FillFacts>): FillFacts => ({ graph: GRAPH, sites: {}, floor: floor(0.1), leaveOneOut: {}, allLow: null, ...part });

describe('fills', () => {
  it('isolated: the clean angle', () => {
    const sites = { [A]: { ...measured(2), cleanAngleDeg: 1.5, belowNoise: true }, [B]: failed };
    expect(fillCell('isolated', facts({ sites }), A)).toEqual({ state: 'value', angleDeg: 1.5, belowNoise: true, reason: null });
    expect(fillCell('isolated', facts({ sites }), B)).toMatchObject({ state: 'failed', angleDeg: null, reason: 'E-RUN-01: NaN' });
    expect(fillCell('isolated', facts({}), A)).toMatchObject({ state: 'missing', angleDeg: null });
  });

  it('left out: the squared tangents that go away; nothing without the joint of everything low', () => {
    const leaveOneOut = { [A]: measured(5), [B]: measured(6.1) };
    const allLow = measured(6);
    const cell = fillCell('leave-one-out', facts({ leaveOneOut, allLow }), A);
    expect(cell.angleDeg).toBeCloseTo(deg(tan2(6) - tan2(5)), 10);
    // Bending more without it is no zero: negative, by the same rule.
    const more = fillCell('leave-one-out', facts({ leaveOneOut, allLow }), B);
    expect(more).toMatchObject({ state: 'value', belowNoise: false, reason: null });
    expect(more.angleDeg).toBeCloseTo(-deg(tan2(6.1) - tan2(6)), 10);
    expect(fillCell('leave-one-out', facts({ leaveOneOut }), A)).toMatchObject({ state: 'missing', reason: 'All low is not verified jointly' });
    expect(fillCell('leave-one-out', facts({ leaveOneOut, allLow: failed }), A)).toMatchObject({ state: 'missing', reason: 'All low failed: E-RUN-01: NaN' });
    expect(fillCell('leave-one-out', facts({ leaveOneOut: { [A]: failed }, allLow }), A)).toMatchObject({ state: 'failed' });
  });

  it('persists and local error: as the angle that a shift of that length makes at right angles', () => {
    const shift = { draws: 8, relative: 0.02, standardError: 0.001, share: 0.5 };
    const sites = { [A]: { ...measured(2), localError: 0.0025, persistent: { overBatches: shift, overDraws: { reason: 'off' } } }, [B]: { ...measured(2), localError: null, persistent: { overBatches: { reason: 'few' }, overDraws: { reason: 'off' } } } };
    expect(fillCell('persistent', facts({ sites }), A)).toMatchObject({ state: 'value', belowNoise: false });
    expect(fillCell('persistent', facts({ sites }), A).angleDeg).toBeCloseTo(deg(0.02 ** 2), 10);
    expect(fillCell('persistent', facts({ sites }), B)).toMatchObject({ state: 'missing', reason: 'few' });
    expect(fillCell('local-error', facts({ sites }), A).angleDeg).toBeCloseTo(deg(0.0025), 10);
    expect(fillCell('local-error', facts({ sites }), B)).toMatchObject({ state: 'missing', reason: 'its own output is zero or overflows' });
  });

  it('an empty one says what to do, or why nothing helps', () => {
    const leaveOneOut = { [A]: measured(5) };
    const sites = { [A]: measured(2), [B]: { ...measured(2), localError: null, persistent: { overBatches: { reason: 'few' }, overDraws: { reason: 'off' } } } };
    const notes = (part: Partial<FillFacts>) => (['leave-one-out', 'persistent', 'local-error'] as const).map((fill) => fillNote(fill, facts(part)));
    expect(notes({})).toEqual(['Not measured: tick “Leave one out” and run', 'Not measured: tick “What persists” and run', 'Not measured: run the probe']);
    expect(notes({ sites, leaveOneOut })).toEqual(['Verify All low jointly to see it', 'Not known: few', 'Not known: its own output is zero or overflows']);
    expect(fillNote('leave-one-out', facts({ leaveOneOut, allLow: failed }))).toBe('All low failed: E-RUN-01: NaN');
  });
});

describe('what is compared', () => {
  const entries = (page: ReturnType<typeof createPage>) => comparedOf(page.facts.getState(), page.document.getState());

  it('is every recipe once, presets and left-out cells included, measured or not', () => {
    const page = createPage();
    const names = entries(page).map(({ recipe, options, fill }) => `${recipe} ${Object.keys(options).join('+')} ${fill}`);
    expect(names).toEqual(RECIPE_NAMES.flatMap((recipe) => [`${recipe}  isolated`, ...(recipe === 'nvfp4' ? ['nvfp4 rht+sr isolated'] : [])]));
    page.actions.setRecipe('mxfp4', { floor: true });
    page.actions.setRecipe('nvfp4');
    expect(entries(page)).toHaveLength(RECIPE_NAMES.length + Object.keys(RECIPE_PRESETS).length + 1);
    expect(entries(page).filter(({ recipe }) => recipe === 'mxfp4').map(({ options }) => options)).toEqual([{}, { floor: true }]);
  });

  it('shows isolated cells beside left-out ones, with the plan of their recipe', () => {
    const probe = createPage();
    const hash = hashOfPlan(probe.shown(), probe.document.getState().plan!)!;
    const page = createPage({ record: { ...RECORD, joint: { [hash]: jointOfAngle(hash, 9) }, leaveOneOut: { [A]: measured(8) } } });
    const [isolated, leftOut] = entries(page);
    expect([isolated?.fill, leftOut?.fill]).toEqual(['isolated', 'leave-one-out']);
    expect(leftOut?.plan).toBe(page.document.getState().plan);
    expect(fillOf(isolated!, 'isolated').get(A)?.angleDeg).toBe(1);
    expect(fillOf(leftOut!, 'leave-one-out').get(A)?.angleDeg).toBeCloseTo(deg(tan2(9) - tan2(8)), 10);
    expect(entries(page).find(({ recipe }) => recipe === 'mxfp8')).toMatchObject({ plan: null, sites: {}, floor: RECORD.floor });
  });
});

describe('leave one out', () => {
  it('is followed by the joint of everything low, once, if the run came to its end', async () => {
    const { actions, facts, run, heard, shown, ended } = await createRunningPage({}, { persistent: false, leaveOneOut: true });
    const runs = (): number => heard.filter((call) => call.startsWith('run')).length;
    expect(run().request).toMatchObject({ extra: { leaveOneOut: true } });
    // One count over both rounds.
    const progress = (): (number | undefined)[] => [facts.getState().run?.done, facts.getState().run?.total];
    expect(progress()).toEqual([0, 48]);
    run().say({ kind: 'site', site: SITES[0], result: measured(1), done: 24, total: 24 });
    expect(progress()).toEqual([24, 48]);
    run().say({ kind: 'leave-one-out', site: SITES[0], result: measured(5), done: 1, total: 24 });
    expect(progress()).toEqual([25, 48]);
    run().say({ kind: 'finished' });
    expect(shown().leaveOneOut).toEqual({ [SITES[0]]: measured(5) });
    run().end();
    await settled();
    const { request } = run();
    expect('policy' in request && Object.keys(request.policy.passes)).toHaveLength(24);
    run().say({ kind: 'joint', joint: jointOfAngle('planHash' in request ? request.planHash : '', 6) });
    run().say({ kind: 'finished' });
    run().end();
    await ended;
    expect(fillOf(shown(), 'leave-one-out').get(SITES[0])?.angleDeg).toBeGreaterThan(3);
    expect(runs()).toBe(2);
    const again = actions.runProbe();
    await settled();
    run().say({ kind: 'stopped' });
    run().end();
    await again;
    expect(runs()).toBe(3);
  });
});
