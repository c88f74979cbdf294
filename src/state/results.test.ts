/**
 * Results of two devices on one page: cells, joints and floor of the stored example give way to those measured here,
 * one by one, and nothing on the page or in a file claims to be of a device it is not of.
 */
import { describe, expect, it } from 'vitest';
import { allocation } from '../allocate/exports/allocation';
import { hashOfPlan, jointOf, provenanceOf, totalsOf } from '.';
import { changeResults } from './facts';
import { createPage, createRunningPage, floor, jointOfAngle, LEDGER, measured, MODEL, provenance, RECORD, settled, SITES } from './page-fixture';
import { storedResults } from './results';

const STARTED = { kind: 'started', provenance: provenance('here'), allocated: LEDGER, resumedSites: 0 } as const;
const FLOOR = { kind: 'floor', floor: floor(0.3), referenceLoss: [3.6] } as const;
const site = (id: string, angleDeg: number) => ({ kind: 'site', site: id, result: measured(angleDeg), done: 1, total: 2 }) as const;
const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;

/** Only the two stored cells low, so that the plan has a prediction; its joint angle is stored too. */
function pageWithJoint() {
  const probe = createPage();
  probe.actions.applyBaseline('all-high');
  probe.actions.setFormats(SITES, 'nvfp4');
  const plan = probe.document.getState().plan!;
  const hash = hashOfPlan(probe.shown(), plan)!;
  return { plan, hash, record: { ...RECORD, joint: { [hash]: jointOfAngle(hash, 2.2, 2), 'sha256:another': jointOfAngle('sha256:another', 7) } } };
}

describe('results', () => {
  it('never stand beside switches or text they were not measured with, and come back with them', async () => {
    const { shown, actions } = createPage();
    actions.setRecipe('nvfp4', { weights1d: true });
    expect(shown()).toMatchObject({ sites: {}, options: { weights1d: true }, floor: RECORD.floor, referenceLoss: [3.5] });
    actions.setRecipe('nvfp4', {});
    expect(shown().sites).toEqual(RECORD.sites);
    const { data } = shown();
    expect(await actions.setData({ ...data, seed: data.seed + 1 })).toBe(true);
    expect(shown()).toMatchObject({ sites: {}, floor: null, referenceLoss: [], provenance: null, openedData: { tokenCount: 9 } });
    expect(await actions.setData(data)).toBe(true);
    expect(shown()).toMatchObject({ sites: RECORD.sites, floor: RECORD.floor, provenance: RECORD.provenance });
  });

  it('of a recipe that was never measured claim no device, though its reference is known', () => {
    const { shown, actions } = createPage();
    actions.setRecipe('mxfp8');
    expect(shown()).toMatchObject({ sites: {}, floor: RECORD.floor });
    expect(provenanceOf(shown())).toBeNull();
    const file = JSON.parse(actions.exportPlan(allocation)!.text) as { sites: Record<string, { status: string }> };
    expect(file).toMatchObject({ measuredOn: null, floorDeg: null, recipe: { id: 'mxfp8' } });
    expect(new Set(Object.values(file.sites).map(({ status }) => status))).toEqual(new Set(['unmeasured']));
    expect(actions.exportProbe()).toBeNull();
  });

  it('replace the stored example cell by cell, and a file says so while both are there', async () => {
    const { shown, actions, run } = await createRunningPage();
    run().say(STARTED);
    run().say(FLOOR);
    expect(shown()).toMatchObject({ sites: RECORD.sites, floor: RECORD.floor, provenance: RECORD.provenance });
    expect(provenanceOf(shown())?.device).toBe('elsewhere');
    run().say(site(SITES[0], 1.5));
    expect(shown().sites).toEqual({ [SITES[0]]: measured(1.5), [SITES[1]]: measured(2) });
    expect([...shown().measuredHere]).toEqual([SITES[0]]);
    const mixed = 'mixed: 1 of 2 cells on here; the others, measured earlier, on elsewhere';
    expect(provenanceOf(shown())?.device).toBe(mixed);
    expect(JSON.parse(actions.exportPlan(allocation)!.text)).toMatchObject({ measuredOn: { device: mixed } });
    expect(JSON.parse(actions.exportProbe()!)).toMatchObject({ provenance: { device: mixed }, sites: { [SITES[0]]: { angleDeg: 1.5 } } });
    run().say(site(SITES[1], 2.5));
    expect(provenanceOf(shown())).toEqual(provenance('here'));
    expect(shown().referenceLoss).toEqual([3.6]);
  });
});

describe('scores of other methods', () => {
  it('come with the stored example, give way to this device\'s one by one, and are in the file', async () => {
    const { shown, actions, run, facts } = await createRunningPage();
    expect(shown().scores).toEqual({});
    expect(JSON.parse(actions.exportProbe()!)).not.toHaveProperty('scores');
    const score = (firstOrder: number | null) => ({ firstOrder, snip: 0.5 });
    changeResults(facts, shown().key, () => storedResults({ ...RECORD, scores: { [SITES[0]]: score(1), [SITES[1]]: score(2) } }));
    run().say(STARTED);
    run().say({ kind: 'scores', scores: { [SITES[0]]: score(null) } });
    expect(shown().scores).toEqual({ [SITES[0]]: score(null), [SITES[1]]: score(2) });
    expect(JSON.parse(actions.exportProbe()!)).toMatchObject({ scores: { [SITES[0]]: score(null), [SITES[1]]: score(2) } });
  });
});

describe('the floor of a prediction', () => {
  it('is that of the stored cells until the first cell of this device, then that of this device', async () => {
    const { record } = pageWithJoint();
    const { shown, document, actions, run } = await createRunningPage({ record });
    actions.applyBaseline('all-high');
    actions.setFormats(SITES, 'nvfp4');
    const predicted = (): number => tan2(totalsOf(shown(), document.getState().plan!)!.predictedDeg!);
    const stored = tan2(1) + tan2(2) + tan2(0.1);
    expect(predicted()).toBeCloseTo(stored, 12);
    run().say(STARTED);
    run().say(FLOOR);
    expect(predicted()).toBeCloseTo(stored, 12);
    run().say(site(SITES[0], 1.5));
    expect(predicted()).toBeCloseTo(tan2(1.5) + tan2(2) + tan2(0.3), 12);
  });
});

describe('joint measurements', () => {
  it('of the stored example are shown and exported only beside its own cells', async () => {
    const { plan, hash, record } = pageWithJoint();
    const { shown, document, actions, run } = await createRunningPage({ record });
    actions.commitPlan(plan, 'test');
    const files = () => ({ allocation: JSON.parse(actions.exportPlan(allocation)!.text) as { totals: { measuredDeg: number | null } }, probe: JSON.parse(actions.exportProbe()!) as { joint: object } });
    expect(jointOf(shown(), plan)).toEqual(record.joint[hash]);
    expect(files()).toMatchObject({ allocation: { totals: { measuredDeg: 2.2 }, measuredOn: { device: 'elsewhere' } }, probe: { joint: record.joint } });
    run().say(STARTED);
    run().say(FLOOR);
    expect(jointOf(shown(), plan)).toEqual(record.joint[hash]);
    run().say(site(SITES[0], 1.5));
    expect(jointOf(shown(), plan)).toBeNull();
    expect(files()).toMatchObject({ allocation: { totals: { measuredDeg: null } }, probe: { joint: {} } });
    expect(Object.keys(files().probe.joint)).toEqual([]);
    expect(document.getState().plan).toBe(plan);
  });

  it('made here end the stored ones and are said to be of this device', async () => {
    const { plan, hash, record } = pageWithJoint();
    const { shown, actions, run, heard } = createPage({ record });
    await actions.checkDevice();
    actions.commitPlan(plan, 'test');
    const ended = actions.verifyJointly();
    await settled();
    expect(heard.at(-1)).toBe(`run ${MODEL}`);
    expect(run().request).toMatchObject({ planHash: hash, policy: { passes: { [SITES[0]]: 'nvfp4', [SITES[1]]: 'nvfp4' } } });
    for (const event of [STARTED, FLOOR, { kind: 'joint', joint: jointOfAngle(hash, 2.4, 2) }, { kind: 'finished' }] as const) run().say(event);
    run().end();
    await ended;
    expect(jointOf(shown(), plan)?.result).toMatchObject({ angleDeg: 2.4 });
    expect(shown()).toMatchObject({ floor: RECORD.floor, sites: RECORD.sites });
    const device = 'mixed: joint measurements on here; all cells, measured earlier, on elsewhere';
    expect(JSON.parse(actions.exportPlan(allocation)!.text)).toMatchObject({ totals: { measuredDeg: 2.4 }, measuredOn: { device } });
    const probe = JSON.parse(actions.exportProbe()!) as { joint: object };
    expect(probe).toMatchObject({ provenance: { device } });
    expect(Object.keys(probe.joint)).toEqual([hash]);
    // A plan without a joint angle of its own holds figures of the stored example only.
    actions.setFormats([SITES[0]], 'bf16');
    expect(JSON.parse(actions.exportPlan(allocation)!.text)).toMatchObject({ totals: { measuredDeg: null }, measuredOn: { device: 'elsewhere' } });
  });
});

it('cells of a device that was replaced count as stored, with its name, until they are measured anew', async () => {
  const { record, plan, hash } = pageWithJoint();
  const { shown, actions, run, ended } = await createRunningPage({ record });
  for (const event of [STARTED, FLOOR, site(SITES[0], 1.5), site(SITES[1], 2.5), { kind: 'joint', joint: jointOfAngle(hash, 2.9, 2) }, { kind: 'finished' }] as const) run().say(event);
  run().end();
  await ended;
  void actions.runProbe();
  await settled();
  run().say({ ...STARTED, provenance: provenance('spare') });
  expect(shown()).toMatchObject({ storedProvenance: { device: 'here' }, sites: { [SITES[0]]: { angleDeg: 1.5 } } });
  expect(shown().measuredHere.size).toBe(0);
  expect(jointOf(shown(), plan)?.result).toMatchObject({ angleDeg: 2.9 });
  expect(Object.keys(shown().joint)).toEqual([hash]);
  run().say({ ...FLOOR, floor: floor(0.5) });
  run().say(site(SITES[0], 1.7));
  expect(jointOf(shown(), plan)).toBeNull();
  expect(provenanceOf(shown())?.device).toBe('mixed: 1 of 2 cells on spare; the others, measured earlier, on here');
  expect(shown().floor).toEqual(floor(0.5));
});
