/**
 * Runs against facts: what the worker says in time is on the page, what it says too late changes nothing, what fails
 * costs nothing, and no figure of another model gets in. The worker is scripted, stores and actions are the real ones.
 */
import { describe, expect, it } from 'vitest';
import { BendscopeError } from '../base/errors';
import type { ProbeEvent } from '../bridge/protocol';
import { ALL_SITES, CONFIG, createPage, createRunningPage, FILES, floor, GRAPH, jointOfAngle, LEDGER, measured, MODEL, OTHER, provenance, READY, RECORD, settled, SITES, type OpenRun } from './page-fixture';

const ERROR = { name: 'E-GPU-02', message: 'the device was lost', hint: 'again' };
const LATE: readonly Parameters<OpenRun['say']>[0][] = [
  { kind: 'started', provenance: provenance('late'), allocated: LEDGER, resumedSites: 3 },
  { kind: 'phase', text: 'late' },
  { kind: 'floor', floor: floor(9), referenceLoss: [9] },
  { kind: 'scores', scores: { [SITES[0]]: { firstOrder: 1, snip: 2 } } },
  { kind: 'measuring', site: SITES[0] },
  { kind: 'site', site: SITES[0], result: measured(80), done: 1, total: 1 },
  { kind: 'leave-one-out', site: SITES[0], result: measured(70), done: 1, total: 1 },
  { kind: 'joint', joint: jointOfAngle('sha256:late', 80) },
  { kind: 'paused' },
  { kind: 'warning', error: ERROR },
  { kind: 'device', report: { ...READY, device: 'late' } },
  { kind: 'failed', error: ERROR },
  { kind: 'stopped' },
  { kind: 'finished' },
];
/** Fails to compile when the protocol gets an event that is not tried here. */
const KINDS: Record<ProbeEvent['kind'], true> = { started: true, phase: true, floor: true, scores: true, site: true, 'leave-one-out': true, measuring: true, joint: true, paused: true, stopped: true, finished: true, warning: true, device: true, failed: true };

describe('a run', () => {
  it('asks for the cells in coarse order, of the model that the page shows', async () => {
    const { heard, run, facts } = await createRunningPage();
    expect(heard).toEqual(['open tiny', `run ${MODEL}`]);
    const { request } = run();
    expect(request).toMatchObject({ modelSha256: MODEL, runId: facts.getState().run?.runId });
    expect('sites' in request && [...request.sites].sort()).toEqual([...ALL_SITES].sort());
    expect('sites' in request && request.sites[0]).toMatch(/^h\.1\./);
  });

  it('shows what it does, pauses, goes on, and ends', async () => {
    const { facts, actions, run, ended, heard } = await createRunningPage();
    run().say({ kind: 'started', provenance: provenance('here'), allocated: LEDGER, resumedSites: 2 });
    expect(facts.getState().run).toMatchObject({ phase: '2 cells kept from before', done: 0, total: 24, status: 'running' });
    run().say({ kind: 'measuring', site: SITES[1] });
    expect(facts.getState().run).toMatchObject({ measuring: SITES[1], phase: `measuring ${SITES[1]}` });
    await actions.pause();
    run().say({ kind: 'paused' });
    expect(facts.getState().run?.status).toBe('paused');
    await actions.resume();
    expect(facts.getState().run?.status).toBe('running');
    run().say({ kind: 'site', site: SITES[1], result: measured(3), done: 3, total: 24 });
    expect(facts.getState().run).toMatchObject({ measuring: null, done: 3 });
    const { runId } = run().request;
    await actions.stop();
    expect(heard.slice(-3)).toEqual([`pause ${runId}`, `resume ${runId}`, `cancel ${runId}`]);
    run().say({ kind: 'stopped' });
    run().end();
    await ended;
    expect(facts.getState()).toMatchObject({ run: null, notices: [] });
    expect(facts.getState().lastRun).toMatch(/^Probe 3\/24 stopped after \d+\.\d s$/);
  });

  it('warns once a message, and tells of a device found anew', async () => {
    const { facts, actions, run } = await createRunningPage();
    const warning = { name: 'E-STO-02', message: 'Results cannot be stored here.', hint: 'Export.' };
    run().say({ kind: 'warning', error: warning });
    expect(facts.getState().notices).toMatchObject([{ kind: 'warning', ...warning }]);
    actions.dismiss(facts.getState().notices[0]!.id);
    run().say({ kind: 'warning', error: warning });
    expect(facts.getState().notices).toEqual([]);
    run().say({ kind: 'device', report: { ...READY, device: 'another' } });
    expect(facts.getState()).toMatchObject({ device: { device: 'another' }, run: { status: 'running' } });
  });

  it('that failed keeps every cell and says why, once', async () => {
    const { facts, shown, document, run, ended } = await createRunningPage();
    run().say({ kind: 'started', provenance: provenance('here'), allocated: LEDGER, resumedSites: 0 });
    run().say({ kind: 'site', site: SITES[0], result: measured(1.5), done: 1, total: 24 });
    const plan = document.getState().plan;
    run().say({ kind: 'failed', error: ERROR });
    run().fail(new BendscopeError(ERROR.name, ERROR.message, ERROR.hint));
    await ended;
    expect(shown()).toMatchObject({ run: null, lastRun: 'stopped by E-GPU-02', sites: { [SITES[0]]: measured(1.5), [SITES[1]]: measured(2) }, notices: [{ kind: 'error', name: 'E-GPU-02' }] });
    expect(facts.getState().notices).toHaveLength(1);
    // What was being measured, what is kept, and the driver's own words behind the advice.
    expect(facts.getState().notices[0]?.message).toBe('The GPU stopped answering while opening model and text. 1 cell of this run is kept.');
    expect(facts.getState().notices[0]?.hint).toBe(`${ERROR.hint} (${ERROR.message})`);
    expect(document.getState().plan).toBe(plan);
  });

  it('that the worker takes down with it costs no cell and no plan', async () => {
    const { facts, shown, document, actions, run, ended } = await createRunningPage();
    run().say({ kind: 'site', site: SITES[0], result: measured(1.5), done: 1, total: 24 });
    const plan = document.getState().plan;
    const died = new BendscopeError('E-WRK-01', 'stopped', 'Run again.');
    actions.workerStopped(died);
    run().say({ kind: 'site', site: SITES[1], result: measured(80), done: 2, total: 24 });
    run().fail(died);
    await ended;
    expect(shown()).toMatchObject({ run: null, lastRun: 'stopped by E-WRK-01', sites: { [SITES[0]]: measured(1.5), [SITES[1]]: measured(2) }, device: { status: 'absent', error: { name: 'E-WRK-01' } } });
    expect(facts.getState().notices).toMatchObject([{ name: 'E-WRK-01' }]);
    expect(document.getState().plan).toBe(plan);
  });

  it('may be stopped while model and text are still being opened', async () => {
    let give = (): void => undefined;
    const { facts, actions, heard } = createPage({
      openModel: () => new Promise((resolve) => (give = () => resolve({ graph: GRAPH, modelName: 'tiny', modelSha256: MODEL }))),
    });
    await actions.checkDevice();
    const ended = actions.runProbe();
    await settled();
    await actions.stop();
    expect(facts.getState().run).toBeNull();
    give();
    await ended;
    expect(heard).toEqual([]);
    expect(facts.getState()).toMatchObject({ run: null, lastRun: 'stopped before it began', notices: [] });
  });
});

describe('events of a run that is over', () => {
  it.each(LATE.map((event) => [event.kind, event] as const))('%s: change nothing', async (_, event) => {
    const { figures, run, ended, actions } = await createRunningPage();
    const old = run();
    old.end();
    await ended;
    const idle = figures();
    old.say(event);
    expect(figures()).toEqual(idle);
    void actions.verifyJointly();
    await settled();
    expect(run()).not.toBe(old);
    const busy = figures();
    old.say(event);
    expect(figures()).toEqual(busy);
  });
  it('are all of the protocol', () => {
    expect(new Set(LATE.map((event) => event.kind))).toEqual(new Set(Object.keys(KINDS)));
  });
});

describe('no run starts', () => {
  it('while the device is checked, even if it was ready before', async () => {
    const { facts, actions, heard } = createPage();
    facts.setState({ device: READY });
    expect(facts.getState().checking).toBe(true);
    await actions.runProbe();
    await actions.verifyJointly();
    expect(heard).toEqual([]);
    expect(facts.getState()).toMatchObject({ run: null, notices: [{ name: 'E-GPU-12' }] });
  });

  it('on a device that was refused', async () => {
    const error = { name: 'E-GPU-14', message: 'wrong results', hint: '' };
    const { facts, actions } = createPage({ start: () => Promise.resolve({ ...READY, status: 'refused', error }) });
    await actions.checkDevice();
    await actions.runProbe();
    expect(facts.getState()).toMatchObject({ run: null, notices: [error] });
  });

  it('beside another, nor while a model is being opened', async () => {
    const { actions, heard, facts } = await createRunningPage();
    await actions.verifyJointly();
    expect(heard.filter((call) => call.startsWith('run'))).toHaveLength(1);
    expect(facts.getState().notices).toMatchObject([{ kind: 'warning', message: expect.stringContaining('running') as unknown }]);

    let give = (): void => undefined;
    const other = createPage({ openModel: () => new Promise((resolve) => (give = () => resolve(OTHER))) });
    await other.actions.checkDevice();
    const opened = other.actions.openModel(FILES);
    await other.actions.runProbe();
    expect(other.facts.getState().run).toBeNull();
    give();
    expect(await opened).toBe(true);
    expect(other.shown()).toMatchObject({ modelName: 'other', sites: {} });
    expect(other.heard).toEqual([]);
  });
});

describe('while a run is going', () => {
  it('nothing is switched under it: model, text, link, device', async () => {
    const { actions, figures, facts, document, heard } = await createRunningPage();
    const link = new URL(actions.shareUrl()!).hash.replace('s=3', 's=4');
    const { plan } = document.getState();
    const before = { ...figures(), notices: 0 };
    const calls = heard.length;
    const attempts: readonly (() => unknown)[] = [
      () => actions.openModel(FILES), () => actions.setData({ ...facts.getState().data, seed: 99 }), () => actions.openLink(link),
      () => actions.checkDevice(), () => actions.openStored({ config: CONFIG, record: RECORD }),
    ];
    for (const attempt of attempts) {
      expect(await attempt()).not.toBe(true);
      expect(facts.getState().notices).toMatchObject([{ kind: 'warning', message: expect.stringMatching(/^A measurement is running/) as unknown }]);
      actions.dismiss(facts.getState().notices[0]!.id);
      expect({ ...figures(), notices: 0 }).toEqual(before);
    }
    expect(document.getState().plan).toBe(plan);
    expect(heard).toHaveLength(calls);
  });

  it('a text that was still being opened when it began is not switched to', async () => {
    let give = (): void => undefined;
    let asked = 0;
    const text = { dataName: 'book', tokensSha256: 'sha256:u', tokenCount: 9, firstWindow: '' };
    const { actions, facts, shown, run } = createPage({ openData: () => (asked++ === 0 ? new Promise((resolve) => (give = () => resolve(text))) : Promise.resolve(text)) });
    await actions.checkDevice();
    const { data } = facts.getState();
    const switched = actions.setData({ ...data, seed: 99 });
    await settled();
    void actions.runProbe();
    await settled();
    give();
    expect(await switched).toBe(false);
    expect(shown()).toMatchObject({ data, sites: RECORD.sites });
    expect(run().request.data).toEqual(data);
  });

  it('the plan may be edited', async () => {
    const { actions, document } = await createRunningPage();
    actions.setFormats([SITES[0]], 'bf16');
    expect(document.getState().plan?.formats[SITES[0]]).toBe('bf16');
  });
});

it('a run that the worker ends by a rejection alone: a stop is no error, a failure is one', async () => {
  for (const [name, notices] of [['E-RUN-03', 0], ['E-GPU-02', 1]] as const) {
    const { facts, run, ended } = await createRunningPage();
    run().fail(new BendscopeError(name, 'ended', 'hint'));
    await ended;
    expect(facts.getState().run).toBeNull();
    expect(facts.getState().notices).toHaveLength(notices);
  }
});
