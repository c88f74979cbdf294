/**
 * The page's state without a page: a worker that answers by script, a real graph, plans edited and undone. Held against
 * what a person may rely on: nothing measured is mixed up or lost, one gesture is one step, a stop is no error.
 */
import { describe, expect, it } from 'vitest';
import { BendscopeError } from '../base/errors';
import type { DeviceReport, WorkerApi } from '../bridge/protocol';
import type { Measured, ProbeRecord, Provenance } from '../graph/probe-record';
import { createActions, createDocumentStore, createFactsStore, createViewStore, keepDocument, provenanceOf, redoLabel, restoreDocument, sitesOf, totalsOf, undoLabel } from '.';

const CONFIG = { model: 'tiny', layers: 2, width: 16, heads: 2, positions: 8, vocabulary: 32, eps: 1e-5 };
const SITES = ['h.0.mlp.c_fc:fprop', 'h.1.mlp.c_fc:fprop'] as const;
const provenance = (device: string): Provenance => ({
  appVersion: '0', device, isFallbackAdapter: false, browser: 'none', modelSha256: 'sha256:m', tokensSha256: 'sha256:t', modelName: 'tiny', dataName: 'book',
  seed: 3, batches: 1, sequences: 1, tokens: 8, startedAt: '2026-01-01T00:00:00Z',
});
const measured = (angleDeg: number): Measured => ({
  status: 'measured', angleDeg, cleanAngleDeg: angleDeg, angleSeDeg: 0, belowNoise: false, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0,
  localError: 0, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 1,
});
const RECORD: ProbeRecord = {
  schema: 'bendscope-probe/1', recipe: 'nvfp4', options: {}, provenance: provenance('elsewhere'), referenceLoss: [3.5], floor: { forwardDeg: 0.1, backwardDeg: 0.1, perRun: [] },
  sites: { [SITES[0]]: measured(1), [SITES[1]]: measured(2) }, joint: {},
};
const READY: DeviceReport = { status: 'ready', error: null, device: 'here', isFallbackAdapter: false, checks: [], facts: {} };

function open(overrides: Partial<WorkerApi> = {}) {
  const unexpected = (): Promise<never> => Promise.reject(new Error('not expected here'));
  const api: WorkerApi = {
    start: () => Promise.resolve(READY), openModel: () => Promise.resolve({ graph: stores.facts.getState().graph!, modelName: 'tiny', modelSha256: 'sha256:m' }),
    openData: () => Promise.resolve({ dataName: 'book', tokensSha256: 'sha256:u', tokenCount: 9, firstWindow: 'Call me' }),
    plannedBytes: () => Promise.resolve(64), runProbe: unexpected, verifyJointly: unexpected, pause: unexpected, resume: unexpected, cancel: unexpected, ...overrides,
  };
  const stores = { document: createDocumentStore(), facts: createFactsStore(), view: createViewStore() };
  const actions = createActions(stores, () => Promise.resolve(api), 'https://host/app/', null);
  actions.openStored({ config: CONFIG, record: RECORD });
  return { ...stores, actions };
}

describe('results', () => {
  it('never stand beside switches or text they were not measured with, and come back with them', async () => {
    const { facts, actions } = open();
    actions.setOptions({ weights1d: true });
    expect(facts.getState()).toMatchObject({ sites: {}, options: { weights1d: true }, floor: RECORD.floor, referenceLoss: [3.5] });
    actions.setOptions({});
    expect(facts.getState().sites).toEqual(RECORD.sites);
    const { data } = facts.getState();
    expect(await actions.setData({ ...data, seed: data.seed + 1 })).toBe(true);
    expect(facts.getState()).toMatchObject({ sites: {}, floor: null, referenceLoss: [], provenance: null, openedData: { tokenCount: 9 } });
    expect(await actions.setData(data)).toBe(true);
    expect(facts.getState()).toMatchObject({ sites: RECORD.sites, floor: RECORD.floor, provenance: RECORD.provenance });
  });

  it('replace the stored example cell by cell, and a file says so while both are there', async () => {
    const { facts, actions } = open({
      runProbe({ runId }, onEvent) {
        onEvent({ kind: 'started', runId, provenance: provenance('here'), plannedBytes: 64, resumedSites: 0 });
        onEvent({ kind: 'site', runId, site: SITES[0], result: measured(1.5), done: 1, total: 2 });
        onEvent({ kind: 'stopped', runId });
        return Promise.resolve();
      },
    });
    await actions.checkDevice();
    await actions.runProbe(SITES);
    expect(facts.getState().sites).toMatchObject({ [SITES[0]]: { angleDeg: 1.5 }, [SITES[1]]: { angleDeg: 2 } });
    expect([...facts.getState().measuredHere]).toEqual([SITES[0]]);
    expect(provenanceOf(facts.getState())?.device).toBe('mixed: 1 of 2 cells on here; the others are the stored example, on elsewhere');
    expect(JSON.parse(actions.exportAllocation()!)).toMatchObject({ measuredOn: { device: expect.stringContaining('mixed') as unknown } });
    expect(JSON.parse(actions.exportProbe()!)).toMatchObject({ provenance: { device: expect.stringContaining('mixed') as unknown }, sites: { [SITES[0]]: { angleDeg: 1.5 } } });
  });
});

describe('runs', () => {
  it('end without a notice when stopped, with one when they fail', async () => {
    let name = 'E-RUN-03';
    const { facts, actions } = open({ verifyJointly: () => Promise.reject(new BendscopeError(name, 'ended', 'hint')) });
    await actions.checkDevice();
    await actions.verifyJointly();
    expect(facts.getState()).toMatchObject({ run: null, notices: [] });
    name = 'E-GPU-02';
    await actions.verifyJointly();
    expect(facts.getState()).toMatchObject({ run: null, notices: [{ kind: 'error', name: 'E-GPU-02', hint: 'hint' }] });
  });

  it('do not start on a device that was refused', async () => {
    const error = { name: 'E-GPU-14', message: 'wrong results', hint: '' };
    const { facts, actions } = open({ start: () => Promise.resolve({ ...READY, status: 'refused', error }) });
    await actions.checkDevice();
    await actions.runProbe();
    expect(facts.getState()).toMatchObject({ run: null, notices: [error] });
  });

  it('keep everything on the page when the worker dies', () => {
    const { facts, document, actions } = open();
    actions.workerStopped(new BendscopeError('E-WRK-01', 'stopped', 'Run again.'));
    expect(facts.getState()).toMatchObject({ sites: RECORD.sites, run: null, device: { status: 'absent', error: { name: 'E-WRK-01' } } });
    expect(document.getState().plan).not.toBeNull();
  });
});

describe('the document', () => {
  it('undoes and redoes gesture by gesture and says which', () => {
    const { document, facts, actions } = open();
    const formats = () => document.getState().plan?.formats;
    const before = formats();
    expect(undoLabel(document)).toBeNull();
    actions.setFormats(SITES, 'bf16');
    expect(undoLabel(document)).toBe('paint 2 cells to BF16');
    expect(totalsOf(facts.getState(), document.getState().plan!)?.siteCount).toEqual({ bf16: 2, nvfp4: sitesOf(facts.getState().graph!).length - 2 });
    actions.undo();
    expect(formats()).toEqual(before);
    expect(redoLabel(document)).toBe('paint 2 cells to BF16');
    actions.redo();
    expect(formats()?.[SITES[0]]).toBe('bf16');
  });

  it('is kept at once when the page goes, with its history, and only for its own model', () => {
    const saved = new Map<string, string>();
    const storage = { getItem: (key: string) => saved.get(key) ?? null, setItem: (key: string, value: string) => void saved.set(key, value) };
    const { document, actions } = open();
    const kept: boolean[] = [];
    const keeper = keepDocument(document, storage, (ok) => kept.push(ok));
    actions.setFormats(SITES, 'bf16');
    keeper.flush();
    keeper.stop();
    expect(kept).toEqual([true]);
    const next = createDocumentStore();
    expect(restoreDocument(next, 'sha256:other', storage)).toBe(false);
    expect(restoreDocument(next, 'sha256:m', storage)).toBe(true);
    expect(next.getState().plan).toEqual(document.getState().plan);
    next.temporal.getState().undo();
    expect(next.getState().plan?.formats[SITES[0]]).toBe('nvfp4');
  });

  it('takes a link of its own plan back unchanged', () => {
    const { document, actions } = open();
    actions.setFormats([SITES[1]], 'bf16');
    const formats = document.getState().plan?.formats;
    const url = actions.shareUrl()!;
    actions.undo();
    expect(actions.openLink(new URL(url).hash)).toBe(true);
    expect(document.getState().plan?.formats).toEqual(formats);
  });
});
