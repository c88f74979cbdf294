/** One contract for every store: memory, the fallback when a durable store refuses, and the command line's file. */
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFileRunStore } from '../cli/file-run-store';
import type { JointResult, Measured, SiteResult } from '../graph/probe-record';
import { answers, memoryBackend, openRunStore, runKey, runStoreOver, withMemoryFallback } from './run-store';
import type { RecordBackend, RunIdentity, RunStore } from './run-store';

const FAILED: SiteResult = { status: 'failed', errorName: 'E-GPU-02', reason: 'lost' };
const REFERENCE = { floor: { forwardDeg: 0.15, backwardDeg: 0.03, perRun: [] }, referenceLoss: [5.05, 5.1] };
function measured(angleDeg: number): Measured {
  return {
    status: 'measured', angleDeg, cleanAngleDeg: angleDeg, angleSeDeg: 0.1, belowNoise: false, relativeShift: 0.1, lengthRatio: 1,
    rotationShare: 0.99, lossChange: 1e-9, localError: null, blockAngleDeg: { wte: 0.1 }, layerAngleDeg: { '0': 0.2 }, perBatch: [], elapsedMs: 3,
  };
}
const JOINT: JointResult = { planHash: 'sha256:aa', lowSites: 2, result: measured(9.5) };

let folder = '';
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bendscope-'));
});
afterAll(() => rm(folder, { recursive: true }));
const newFile = (): string => join(folder, 'deep', `${files++}.jsonl`);

/** A store that accepts `writes` records and then refuses everything, as a full disk does. */
function refusingAfter(writes: number): RecordBackend {
  const inner = memoryBackend();
  const guard = <T>(run: () => Promise<T>): Promise<T> => (writes-- > 0 ? run() : Promise.reject(new Error('quota exceeded')));
  return { ...inner, put: (record) => guard(() => inner.put(record)) };
}

const stores: [string, () => Promise<RunStore>][] = [
  ['memory', () => Promise.resolve(runStoreOver(memoryBackend()))],
  ['a store that refuses every write', () => Promise.resolve(runStoreOver(withMemoryFallback(refusingAfter(0))))],
  ['a store that refuses from the third write on', () => Promise.resolve(runStoreOver(withMemoryFallback(refusingAfter(2))))],
  ['a file', () => openFileRunStore(newFile())],
];

describe.each(stores)('run store: %s', (_name, open) => {
  it('gives back exactly what was put, per run, the latest of each site', async () => {
    const store = await open();
    expect(await store.load('a')).toEqual({ reference: null, sites: {}, scores: {}, leaveOneOut: {}, joint: {} });
    await store.putReference('a', REFERENCE);
    await store.putSite('a', 'h.0.mlp.c_fc:fprop', FAILED);
    await store.putSite('a', 'h.0.mlp.c_fc:fprop', measured(6.8));
    await store.putSite('a', 'h.1.mlp.c_fc:wgrad', FAILED);
    await store.putSite('b', 'h.1.mlp.c_fc:wgrad', measured(1 / 3));
    await store.putScores('a', 'h.0.mlp.c_fc:fprop', { firstOrder: 0.1, snip: null });
    await store.putLeaveOneOut('a', 'h.0.mlp.c_fc:fprop', measured(20));
    await store.putJoint('a', JOINT);
    expect(await store.load('a')).toEqual({
      reference: REFERENCE,
      sites: { 'h.0.mlp.c_fc:fprop': measured(6.8), 'h.1.mlp.c_fc:wgrad': FAILED },
      scores: { 'h.0.mlp.c_fc:fprop': { firstOrder: 0.1, snip: null } },
      leaveOneOut: { 'h.0.mlp.c_fc:fprop': measured(20) },
      joint: { 'sha256:aa': JOINT },
    });
    expect((await store.load('b')).sites).toEqual({ 'h.1.mlp.c_fc:wgrad': measured(1 / 3) });
    expect((await store.list()).map(({ key }) => key).sort()).toEqual(['a', 'b']);
    await store.delete('a');
    expect(await store.load('a')).toEqual({ reference: null, sites: {}, scores: {}, leaveOneOut: {}, joint: {} });
    expect(await store.list()).toEqual([{ key: 'b', records: 1 }]);
  });

  it('keeps records that are put at the same time', async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.putSite('a', `s${i}`, measured(i))));
    const { sites } = await store.load('a');
    expect(Object.keys(sites)).toHaveLength(50);
    expect(sites['s49']).toEqual(measured(49));
  });
});

describe('run store: what it says when it cannot keep', () => {
  it('is silent while records are durable and names the problem from the first refusal', async () => {
    const store = runStoreOver(withMemoryFallback(refusingAfter(1)));
    await store.putSite('a', 's', FAILED);
    expect(store.problem).toBeNull();
    await store.putSite('a', 't', FAILED);
    expect(store.problem).toMatchObject({ name: 'E-STO-02' });
    expect(store.problem?.message).toContain('quota exceeded');
  });

  it('falls back to memory where there is no IndexedDB', async () => {
    const store = await openRunStore();
    expect(store.problem).toMatchObject({ name: 'E-STO-02' });
    await store.putSite('a', 's', FAILED);
    expect((await store.load('a')).sites).toEqual({ s: FAILED });
  });
});

describe('run store: a file', () => {
  it('resumes after a stop in the middle of a line', async () => {
    const path = newFile();
    const first = await openFileRunStore(path);
    await first.putSite('a', 's', measured(1));
    await appendFile(path, '{"key":"a","kind":"site","id":"t","val');
    const second = await openFileRunStore(path);
    expect((await second.load('a')).sites).toEqual({ s: measured(1) });
    await second.putSite('a', 'u', measured(2));
    const third = await openFileRunStore(path);
    expect(Object.keys((await third.load('a')).sites)).toEqual(['s', 'u']);
  });

  it('names a damaged line and leaves the file alone', async () => {
    const path = join(folder, 'damaged.jsonl');
    const text = `{"key":"a","kind":"site","id":"s","value":${JSON.stringify(FAILED)}}\n{"key":"a"}\n`;
    await writeFile(path, text);
    await expect(openFileRunStore(path)).rejects.toMatchObject({ name: 'E-FILE-07', message: `${path} is damaged: line 2 is not a stored result.` });
    expect(await readFile(path, 'utf8')).toBe(text);
  });
});

describe('runKey', () => {
  const identity: RunIdentity = { modelSha256: 'sha256:1', tokensSha256: 'sha256:2', recipe: 'nvfp4', options: {}, device: 'd', appVersion: '1' };

  it('depends on every part, and not on how a default is written', () => {
    const key = runKey(identity);
    expect(key).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(runKey({ ...identity, options: { weights1d: false, rht: false, seed: 5 } })).toBe(key);
    const changed: Partial<RunIdentity>[] = [{ modelSha256: 'x' }, { tokensSha256: 'x' }, { recipe: 'mxfp8' }, { options: { weights1d: true } }, { options: { sr: true } }, { options: { sr: true, seed: 5 } }, { device: 'x' }, { appVersion: 'x' }];
    const keys = changed.map((part) => runKey({ ...identity, ...part }));
    expect(new Set([key, ...keys]).size).toBe(9);
  });
});

describe('answers', () => {
  it('a measured site, with what persists where that is asked for', () => {
    const persistent = { overBatches: { reason: 'few' }, overDraws: { reason: 'off' } };
    expect([undefined, FAILED, measured(1)].map((result) => answers(result, { persistent: false }))).toEqual([false, false, true]);
    expect([measured(1), { ...measured(1), persistent }].map((result) => answers(result, { persistent: true }))).toEqual([false, true]);
    expect(answers({ ...measured(1), persistent }, { persistent: false })).toBe(true);
  });
});
