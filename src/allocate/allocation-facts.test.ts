/** allocation.json of several low formats, and what is read back of any: plan, options, figures, prediction. */
import { describe, expect, it } from 'vitest';
import { hashOf } from '../base/canonical-json';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { Measured, Provenance, SiteResult } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { allocationFacts } from './allocation-facts';
import { exportAllocation, importAllocation, type AllocationFacts } from './allocation-file';
import type { AllocationFile } from './allocation-schema';
import { costedSites, predict } from './cost';
import { planHash, type Plan } from './plan';

const GRAPH = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
const SITES = costedSites(GRAPH, 'nvfp4');
const CONTEXT = { graph: GRAPH, modelSha256: hashOf('weights'), recipe: 'nvfp4', options: { rht: true, floor: true, pow2: true } } as const;
const FORMATS: readonly SiteFormat[] = ['nvfp4', 'bf16', 'mxfp8'];
const PLAN: Plan = { name: 'mixed', notes: '', locked: { 'h.0.attn.c_attn:fprop': true }, formats: Object.fromEntries(SITES.map(({ id }, i): [SiteId, SiteFormat] => [id, FORMATS[i % 3] ?? 'bf16'])) };
const measured = (angleDeg: number): Measured => ({
  status: 'measured', angleDeg, cleanAngleDeg: angleDeg * 0.9, angleSeDeg: null, belowNoise: false, relativeShift: 0.1, lengthRatio: 1.01,
  rotationShare: 0.99, lossChange: -0.001, localError: 0.005, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 0,
});
const PROVENANCE: Provenance = {
  appVersion: '0.1.0', device: 'a device', isFallbackAdapter: false, browser: 'Dawn for Node', modelSha256: CONTEXT.modelSha256, tokensSha256: hashOf('tokens'),
  modelName: 'gpt2-nano', dataName: 'T.json', seed: 0, batches: 2, sequences: 4, tokens: 64, startedAt: '',
};
const FACTS: AllocationFacts = {
  sites: {
    ...Object.fromEntries(SITES.map(({ id }, i): [SiteId, SiteResult] => [id, measured(1 + i)])),
    'h.0.attn.c_attn:dgrad': { status: 'failed', errorName: 'E-RUN-02', reason: 'loss: NaN' },
  },
  otherAngles: Object.fromEntries(SITES.map(({ id }) => [id, { angleDeg: { mxfp8: 0.5 }, cleanDeg: { mxfp8: 0.25 } }])),
  floor: { forwardDeg: 0.15, backwardDeg: 0.03, perRun: [] }, provenance: PROVENANCE, joint: {},
};
const TEXT = exportAllocation(PLAN, FACTS, CONTEXT);
const FILE = JSON.parse(TEXT) as AllocationFile;

describe('a plan of several low formats', () => {
  const imported = importAllocation(TEXT, CONTEXT, 'plan.json');

  it('is given back with the switches that its formats read, and the same bytes', () => {
    expect(imported).toMatchObject({ plan: PLAN, recipe: 'nvfp4', options: { rht: true, floor: true } });
    expect(imported.options).not.toHaveProperty('pow2');
    expect(imported.planHash).toBe(planHash(PLAN.formats, SITES, CONTEXT));
    expect(exportAllocation(imported.plan, allocationFacts(imported, 'plan.json'), { ...CONTEXT, options: imported.options })).toBe(TEXT);
  });

  it('holds the angle of each site in the format it runs in, beside those of the others', () => {
    expect(FILE.sites['h.0.attn.c_attn:fprop']).toMatchObject({ format: 'nvfp4', angleDeg: { nvfp4: 1, mxfp8: 0.5 }, cleanDeg: { nvfp4: 0.9, mxfp8: 0.25 } });
    expect(FILE.sites['h.0.attn.c_attn:wgrad']).toMatchObject({ format: 'mxfp8', angleDeg: { mxfp8: 3 }, cleanDeg: { mxfp8: 2.7 } });
    expect(FILE.sites['h.0.attn.c_attn:dgrad']).toMatchObject({ format: 'bf16', status: 'failed', angleDeg: { mxfp8: 0.5 } });
    expect(FILE.totals.predictedDeg).toBe(predict(SITES, PLAN.formats, FACTS).predictedDeg);
  });

  it('has no switch that none of its formats reads', () => {
    const foreign = TEXT.replace('"floor": true', '"pow2": true');
    expect(foreign).not.toBe(TEXT);
    expect(() => importAllocation(foreign, CONTEXT)).toThrow(expect.objectContaining({ name: 'E-PLAN-03', message: expect.stringMatching(/expected switches of nvfp4, mxfp8, got pow2/) as string }));
  });

  it('never holds op groups among passes', () => {
    const out = TEXT.replace('"format": "mxfp8"', '"format": "fp8-out"');
    expect(() => importAllocation(out, CONTEXT, 'plan.json')).toThrow(expect.objectContaining({ name: 'E-PLAN-02' }));
  });
});

describe('facts of a file', () => {
  const edit = (change: (file: { -readonly [key in keyof AllocationFile]: AllocationFile[key] }) => void): AllocationFacts => {
    const file = structuredClone(FILE);
    change(file);
    return allocationFacts(importAllocation(JSON.stringify(file), CONTEXT, 'plan.json'), 'plan.json');
  };

  it('are those it was written from', () => {
    const { sites, floor, provenance, joint } = edit(() => undefined);
    expect({ sites, floor, provenance, joint }).toEqual({ sites: FACTS.sites, floor: FACTS.floor, provenance: PROVENANCE, joint: {} });
    expect(edit((file) => (file.measuredOn = null)).provenance).toBeNull();
  });

  it('hold the measured joint angle only under the hash of the plan', () => {
    const verified = (file: AllocationFile): AllocationFile['totals'] => ({ ...file.totals, measuredDeg: 9 });
    expect(Object.values(edit((file) => (file.totals = verified(file))).joint)).toEqual([{ result: { status: 'measured', angleDeg: 9 } }]);
    expect(edit((file) => {
      file.totals = verified(file);
      file.plan = { name: 'by hand', notes: '' };
    }).joint).toEqual({});
  });

  it('refuse a measured site without its figures', () => {
    const row = FILE.sites['h.0.attn.c_attn:fprop']!;
    for (const [change, message] of [[{ cleanDeg: { mxfp8: 1 } }, /cleanDeg\.nvfp4/], [{ belowNoise: null }, /belowNoise/]] as const) {
      expect(() => edit((file) => (file.sites = { ...file.sites, 'h.0.attn.c_attn:fprop': { ...row, ...change } }))).toThrow(expect.objectContaining({ name: 'E-FILE-07', message: expect.stringMatching(message) as string }));
    }
  });
});
