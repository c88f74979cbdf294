/** The panels' logic: pace, the one filled button, device words, what a dropped file is. */
import { describe, expect, it } from 'vitest';
import { presetPlan, presets } from '../../allocate/plan';
import type { Measured } from '../../graph/probe-record';
import { gpt2Graph } from '../../models/gpt2';
import { hashOfPlan, sitesOf, type FactsState, type Results, type Shown } from '../../state';
import { shownWith } from '../shown-fixture';
import { deviceReport, deviceWords } from './device-words';
import { addArrival, remainingMs, type Arrival } from './eta';
import { canOpenWithoutTokenizer, EMPTY_INTAKE, kindByName, kindOfJson, missingFiles, modelName, refuseByName } from './file-intake';
import { primaryAction } from './primary-action';
import { runLabel } from './run-label';

const graph = gpt2Graph({ model: 'tiny', layers: 1, width: 16, heads: 2, positions: 8, vocabulary: 32, eps: 1e-5 });
const plan = presetPlan(presets('nvfp4')[0]!, sitesOf(graph, 'nvfp4'), 'nvfp4');
const READY = { status: 'ready', error: null, device: 'GPU', isFallbackAdapter: false, checks: [{ name: 'softmax', passed: true, detail: 'worst 1e-7' }], facts: { vendor: 'v', device: '' } } as const;
const measured: Measured = {
  status: 'measured', angleDeg: 1.25, cleanAngleDeg: 1.2345678901234567, angleSeDeg: 0.1, belowNoise: false, relativeShift: 0.02, lengthRatio: 1.01, rotationShare: 0.9, lossChange: -0.5,
  localError: null, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 1,
};
const facts = (part: Partial<FactsState & Results>): Shown => shownWith({ graph, modelName: 'tiny', modelSha256: 'sha256:m', checking: false, device: READY, ...part }, part);

describe('time left', () => {
  const after = (gaps: readonly number[]): readonly Arrival[] => {
    let atMs = 1000;
    return gaps.reduce<readonly Arrival[]>((all, gap, i) => addArrival(all, { done: i + 1, atMs: (atMs += gap) }), []);
  };
  it('is the pace of the last cells times the cells left', () => {
    expect(remainingMs(after([0, 250, 250, 250]), 10)).toBe(6 * 250);
    expect(remainingMs(after([0]), 10)).toBeNull();
  });
  it('does not take stored cells for fast ones', () => {
    expect(remainingMs(after([0, 1, 1, 1, 1, 400, 400]), 9)).toBe(2 * 400);
  });
  it('follows a GPU that slows down, and forgets an earlier run', () => {
    expect(remainingMs(after([...Array<number>(5).fill(100), ...Array<number>(20).fill(300)]), 30)).toBeCloseTo(5 * 300);
    expect(addArrival(after([0, 250, 250]), { done: 1, atMs: 9000 })).toEqual([{ done: 1, atMs: 9000 }]);
  });
});

describe('the filled button', () => {
  const all = new Set(sitesOf(graph, 'nvfp4').map((site) => site.id));
  const hash = hashOfPlan(facts({}), plan)!;
  const joint = { [hash]: { planHash: hash, lowSites: 12, result: measured } };
  it('is Run, then Verify, then Export', () => {
    expect(primaryAction(facts({}), plan)).toBe('run');
    expect(primaryAction(facts({ measuredHere: new Set([...all].slice(1)) }), plan)).toBe('run');
    expect(primaryAction(facts({ measuredHere: all }), plan)).toBe('verify');
    expect(primaryAction(facts({ measuredHere: all, joint }), plan)).toBe('verify');
    expect(primaryAction(facts({ measuredHere: all, joint, jointHere: new Set([hash]) }), plan)).toBe('export');
  });
  it('is Export without a GPU, and none during a run or without a model', () => {
    expect(primaryAction(facts({ device: { ...READY, status: 'absent' } }), plan)).toBe('export');
    expect(primaryAction(facts({ device: null, checking: true }), plan)).toBe('run');
    const run = { kind: 'probe', what: 'NVFP4', runId: 'r', status: 'running', phase: '', recipe: 'nvfp4', key: { text: '', recipe: '' }, measuring: null, part: 'isolated', rounds: 1, done: 0, total: 1, startedAtMs: 0 } as const;
    expect(primaryAction(facts({ run }), plan)).toBe('none');
    expect(primaryAction(facts({ graph: null }), null)).toBe('none');
  });
});

it('the Run button says what is left, extra measures included', () => {
  const all = sitesOf(graph, 'nvfp4').map((site) => site.id);
  const here = new Set(all);
  const sites = Object.fromEntries(all.map((id) => [id, measured]));
  const extra = { persistent: true, leaveOneOut: true };
  expect(runLabel(facts({}))).toBe('Run on this GPU');
  expect(runLabel(facts({ measuredHere: new Set(all.slice(1)) }))).toBe('Continue: 1 cell left');
  expect(runLabel(facts({ sites, measuredHere: here }))).toBe('Run again on this GPU');
  expect(runLabel(facts({ sites, measuredHere: here, extra }))).toBe('Measure what persists and leave one out');
  expect(runLabel(facts({ sites, measuredHere: here, leaveOneOutHere: here, extra: { ...extra, persistent: false } }))).toBe('Run again on this GPU');
});

describe('the device chip', () => {
  it('has words for every state', () => {
    expect(deviceWords(null, true)).toMatchObject({ tone: 'busy', chip: 'Checking GPU' });
    expect(deviceWords(READY, false)).toMatchObject({ tone: 'ok', chip: 'GPU checked: GPU' });
    // First what kind it is: the name behind it may be cut off.
    expect(deviceWords({ ...READY, isFallbackAdapter: true }, false)).toMatchObject({ chip: 'GPU checked (software): GPU' });
    const failed = { ...READY, status: 'refused', checks: [...READY.checks, { name: 'gelu backward', passed: false, detail: '0 everywhere' }] } as const;
    expect(deviceWords(failed, false)).toMatchObject({ tone: 'error', title: '1 of 2 checks failed on GPU.' });
    expect(deviceReport(failed)).toContain('FAIL  gelu backward: 0 everywhere');
    expect(deviceReport(READY)).toMatch(/vendor: v\npass {2}softmax: worst 1e-7$/);
  });
});

describe('dropped files', () => {
  it('are known by name or by what they hold', () => {
    expect(kindByName('model.safetensors')).toBe('weights');
    expect(kindByName('Notes.TXT')).toBe('text');
    expect(kindByName('photo.png')).toBe('other');
    expect(kindOfJson('whatever.json', '{"model_type":"gpt2"}')).toBe('config');
    expect(kindOfJson('t.json', '{"model":{"vocab":{}}}')).toBe('tokenizer');
    expect(kindOfJson('a.json', '{"schema":"bendscope-allocation/9"}')).toBe('bendscope');
    expect(kindOfJson('config.json', '{broken')).toBe('config');
    expect(kindOfJson('generation_config.json', '{}')).toBe('other');
    expect(kindOfJson('plan.json', '{broken')).toBe('bendscope');
  });
  it('of other formats are refused by their own names', () => {
    expect(() => refuseByName('pytorch_model.bin')).toThrow(expect.objectContaining({ name: 'E-FILE-01', hint: expect.stringContaining("torch.load('pytorch_model.bin'") as string }) as Error);
    expect(() => refuseByName('model-00001-of-00002.safetensors')).toThrow(expect.objectContaining({ name: 'E-FILE-02' }) as Error);
    expect(() => refuseByName('m.gguf')).toThrow(expect.objectContaining({ name: 'E-FILE-08' }) as Error);
    expect(() => refuseByName('model.safetensors')).not.toThrow();
  });
  it('make a model in any order, and what is missing is named', () => {
    expect(missingFiles(EMPTY_INTAKE)).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
    const whole = { ...EMPTY_INTAKE, config: '{}', tokenizer: '{}', weights: new Blob([]) };
    expect(missingFiles(whole)).toEqual([]);
    expect([whole, { ...whole, tokenizer: null }, { ...whole, config: null }, { ...whole, weights: null }, { ...whole, config: null, tokenizer: null }].map(canOpenWithoutTokenizer)).toEqual([false, true, false, false, false]);
    expect(modelName({ ...EMPTY_INTAKE, name: 'folder' })).toBe('folder');
    expect(modelName({ ...EMPTY_INTAKE, config: '{"_name_or_path":"org/gpt2-x/"}' })).toBe('gpt2-x');
    expect(modelName({ ...EMPTY_INTAKE, config: '{"n_layer":2,"n_embd":64}' })).toBe('gpt2-2x64');
    expect(modelName({ ...EMPTY_INTAKE, config: '{' })).toBe('dropped-model');
  });
});
