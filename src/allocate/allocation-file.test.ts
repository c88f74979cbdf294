/** allocation.json: round trip, equal bytes, its published JSON schema, and every way a file can be wrong. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { hashOf } from '../base/canonical-json';
import { BendscopeError } from '../base/errors';
import { RECIPE_NAMES, type PolicyOptions, type RecipeName } from '../graph/policy';
import type { Measured, Provenance, SiteResult } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { exportAllocation, importAllocation } from './allocation-file';
import type { AllocationFacts } from './allocation-file';
import { allocationJsonSchema } from './allocation-schema';
import type { AllocationFile } from './allocation-schema';
import { costedSites, planTotals } from './cost';
import { formatsWhere, planHash } from './plan';
import type { Plan } from './plan';

const GRAPH = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
const SITES = costedSites(GRAPH, 'nvfp4');
const OUTS = costedSites(GRAPH, 'fp8-out');
const CONTEXT = { graph: GRAPH, modelSha256: hashOf('weights'), recipe: 'nvfp4', options: {} } as const;
const PLAN: Plan = {
  name: 'Plan "B"', notes: 'down projections stay\nhigh', locked: { 'h.1.mlp.c_proj:fprop': true },
  formats: formatsWhere(SITES, (site) => site.id.startsWith('h.1.mlp.c_proj'), 'nvfp4'),
};
const PROVENANCE: Provenance = {
  appVersion: '0.1.0', device: 'a device', isFallbackAdapter: false, browser: 'Node', modelSha256: CONTEXT.modelSha256, tokensSha256: hashOf('tokens'),
  modelName: 'gpt2-nano', dataName: 'moby-dick', seed: 7, batches: 4, sequences: 4, tokens: 64, startedAt: '2026-01-01T00:00:00Z',
};
const measured = (angleDeg: number): Measured => ({
  status: 'measured', angleDeg, cleanAngleDeg: angleDeg * 0.9, angleSeDeg: 0.1, belowNoise: angleDeg < 0.3, relativeShift: 0.1, lengthRatio: 1.01,
  rotationShare: 0.99, lossChange: -0.001, localError: 0.005, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 1,
});
const RESULTS = Object.fromEntries(SITES.map((site, i): [string, SiteResult] => [site.id, measured(0.25 + i)]));
const FACTS: AllocationFacts = {
  sites: { ...RESULTS, 'h.0.attn.c_attn:fprop': { status: 'failed', errorName: 'E-RUN-01', reason: 'Loss became NaN' } },
  floor: { forwardDeg: 0.15, backwardDeg: 0.03, perRun: [] }, provenance: PROVENANCE, joint: {},
};
const TEXT = exportAllocation(PLAN, FACTS, CONTEXT);
const FILE = JSON.parse(TEXT) as AllocationFile;

function errorOf(text: string, context = CONTEXT): BendscopeError | null {
  try {
    importAllocation(text, context);
    return null;
  } catch (thrown) {
    if (thrown instanceof BendscopeError && thrown.message !== '' && thrown.hint !== '') return thrown;
    throw thrown;
  }
}
/** The file with one value replaced (or removed, with undefined), by path. */
function withValue(path: readonly string[], value: unknown): string {
  const copy = JSON.parse(TEXT) as Record<string, unknown>;
  const parent = path.slice(0, -1).reduce((object, key) => object[key] as Record<string, unknown>, copy);
  if (value === undefined) delete parent[path.at(-1)!];
  else parent[path.at(-1)!] = value;
  return JSON.stringify(copy);
}

describe('allocation.json', () => {
  it('gives the same plan and plan hash back', () => {
    const imported = importAllocation(TEXT, CONTEXT);
    expect(imported.plan).toEqual(PLAN);
    expect(imported.planHash).toBe(planHash(PLAN.formats, SITES, CONTEXT));
    expect([imported.recipe, imported.options]).toEqual(['nvfp4', {}]);
    expect(exportAllocation(imported.plan, FACTS, CONTEXT)).toBe(TEXT);
    const oneD = importAllocation(exportAllocation(PLAN, FACTS, { ...CONTEXT, options: { weights1d: true } }), CONTEXT);
    expect(oneD.options).toEqual({ weights1d: true });
    expect(oneD.planHash).not.toBe(imported.planHash);
  });

  it('knows the same weights under another folder name', () => {
    expect(importAllocation(withValue(['model', 'name'], 'gpt2-2x64'), CONTEXT).plan).toEqual(PLAN);
  });

  it('gives any plan back, byte for byte', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: 24, maxLength: 24 }), fc.string(), (cells, name) => {
      const locked = Object.fromEntries(SITES.filter((_, i) => cells[i]![1]).map((site) => [site.id, true as const]));
      const plan: Plan = { name, notes: '', locked, formats: formatsWhere(SITES, (site) => cells[SITES.indexOf(site)]![0], 'nvfp4') };
      const text = exportAllocation(plan, FACTS, CONTEXT);
      const imported = importAllocation(text, CONTEXT);
      expect(imported.plan).toEqual(plan);
      expect(exportAllocation(imported.plan, FACTS, CONTEXT)).toBe(text);
    }), { numRuns: 50 });
  });

  it.each<[RecipeName, PolicyOptions, object]>([
    ['nvfp4', { rht: true, sr: true, seed: 9, weights1d: true }, { id: 'nvfp4', rht: true, sr: true, weights1d: true, seed: 9 }],
    ['mxfp8', { floor: true, e5m2Grad: true, rht: true }, { id: 'mxfp8', rht: false, sr: false, weights1d: false, floor: true, e5m2Grad: true }],
    ['fp8', { pow2: true }, { id: 'fp8', rht: false, sr: false, weights1d: false, pow2: true }],
    ['fp8-out', { out: 'mx' }, { id: 'fp8-out', rht: false, sr: false, weights1d: false, out: 'mx' }],
  ])('carries %s with %j', (recipe, options, row) => {
    const sites = costedSites(GRAPH, recipe);
    const context = { ...CONTEXT, recipe, options };
    const plan: Plan = { ...PLAN, locked: {}, formats: formatsWhere(sites, (site) => site.node === 'h.1.mlp.c_fc', recipe) };
    const results = Object.fromEntries(sites.map((site): [string, SiteResult] => [site.id, measured(2)]));
    const text = exportAllocation(plan, { ...FACTS, sites: results }, context);
    expect((JSON.parse(text) as AllocationFile).recipe).toEqual(row);
    const imported = importAllocation(text, CONTEXT);
    expect(imported).toMatchObject({ plan, recipe, planHash: planHash(plan.formats, sites, context) });
    expect(exportAllocation(imported.plan, { ...FACTS, sites: results }, { ...CONTEXT, recipe, options: imported.options })).toBe(text);
  });

  it('of op groups holds their sites, angles and the cache they keep', () => {
    const context = { ...CONTEXT, recipe: 'fp8-out' } as const;
    const plan: Plan = { ...PLAN, locked: {}, formats: formatsWhere(OUTS, (site) => site.inFixedPolicy, 'fp8-out') };
    const facts = { ...FACTS, sites: Object.fromEntries(OUTS.map((site): [string, SiteResult] => [site.id, measured(1)])) };
    const file = JSON.parse(exportAllocation(plan, facts, context)) as AllocationFile;
    expect(Object.keys(file.sites)).toEqual(OUTS.map((site) => site.id));
    expect(file.sites['h.0.attn.c_proj:out']).toMatchObject({ format: 'fp8-out', angleDeg: { 'fp8-out': 1 } });
    // 32 C L + 4 C + 2 V in all, 2 C + 2 V + 2 C (2 L + 1) of the fixed policy (formats.md 5.0).
    const [all, fixed] = [32 * 64 * 2 + 4 * 64 + 2048, 2 * 64 + 2048 + 2 * 64 * 5];
    expect(file.totals).toMatchObject({ hpActivationCache: { share: fixed / all, bytesPerToken: fixed, relativeToFixed: 1 }, effectiveBits: 8 + (8 * fixed) / all });
    expect(file.totals).not.toHaveProperty('hpGemmWork');
    expect(FILE.totals).not.toHaveProperty('hpActivationCache');
  });

  it('is what earlier builds exported, byte for byte', () => {
    expect(hashOf(TEXT)).toBe('sha256:041b7400f4d3e0669ce7d4f2fb1dc475d62c480b2efd8029b5ac13da283c8858');
  });

  it('does not depend on the order in which results arrived', () => {
    const reversed = { ...FACTS, sites: Object.fromEntries(Object.entries(FACTS.sites).reverse()) };
    const plan = { ...PLAN, formats: Object.fromEntries(Object.entries(PLAN.formats).reverse()) };
    expect(exportAllocation(plan, reversed, CONTEXT)).toBe(TEXT);
    expect(Object.keys(FILE.sites)).toEqual(SITES.map((site) => site.id));
  });

  it('holds every figure of every site, and a failure with its reason', () => {
    expect(FILE.sites['h.1.mlp.c_proj:fprop']).toEqual({
      format: 'bf16', locked: true, status: 'measured', reason: null, angleDeg: { nvfp4: 21.25 }, cleanDeg: { nvfp4: 21.25 * 0.9 }, standardErrorDeg: 0.1,
      belowNoise: false, relativeShift: 0.1, lengthRatio: 1.01, rotationShare: 0.99, lossChange: -0.001, localError: 0.005,
    });
    expect(FILE.sites['h.0.attn.c_attn:fprop']).toMatchObject({ format: 'nvfp4', status: 'failed', reason: 'E-RUN-01: Loss became NaN', angleDeg: {}, standardErrorDeg: null });
    const unknown = exportAllocation(PLAN, { sites: { 'h.0.mlp.c_fc:fprop': measured(NaN) }, floor: null, provenance: null, joint: {} }, CONTEXT);
    expect(JSON.parse(unknown)).toMatchObject({ measuredOn: null, floorDeg: null, sites: { 'h.0.mlp.c_fc:fprop': { status: 'failed' }, 'h.0.mlp.c_fc:dgrad': { status: 'unmeasured' } } });
    expect(importAllocation(unknown, CONTEXT).plan).toEqual(PLAN);
  });

  it('holds the totals, the joint angle of this very plan only, hashes, device and seed', () => {
    const totals = planTotals(SITES, PLAN.formats, FACTS, {});
    expect(FILE.totals).toEqual({ hpGemmWork: totals.hpShare, effectiveBits: totals.effectiveBits, predictedDeg: null, measuredDeg: null });
    const hash = FILE.plan.hash!;
    const verified = { ...FACTS, sites: RESULTS, joint: { [hash]: { planHash: hash, lowSites: 21, result: measured(9.5) } } };
    const { predictedDeg, measuredDeg } = (JSON.parse(exportAllocation(PLAN, verified, CONTEXT)) as AllocationFile).totals;
    expect([predictedDeg, measuredDeg]).toEqual([planTotals(SITES, PLAN.formats, verified, {}).predictedDeg, 9.5]);
    const other = exportAllocation({ ...PLAN, formats: {} }, verified, CONTEXT);
    expect((JSON.parse(other) as AllocationFile).totals).toMatchObject({ predictedDeg: 0, measuredDeg: null });
    expect(FILE.model).toEqual({ name: 'gpt2-nano', sha256: CONTEXT.modelSha256, layers: 2, tiedHead: true });
    expect(FILE.measuredOn).toMatchObject({ device: 'a device', data: { name: 'moby-dick', sha256: PROVENANCE.tokensSha256, seed: 7 } });
    const later = { ...FACTS, provenance: { ...PROVENANCE, startedAt: '2026-01-02T00:00:00Z' } };
    expect((JSON.parse(exportAllocation(PLAN, later, CONTEXT)) as AllocationFile).manifest).toBe(FILE.manifest);
    const elsewhere = { ...FACTS, provenance: { ...PROVENANCE, device: 'another' } };
    expect((JSON.parse(exportAllocation(PLAN, elsewhere, CONTEXT)) as AllocationFile).manifest).not.toBe(FILE.manifest);
  });
});

describe('public/allocation.schema.json', () => {
  // npx vitest run src/allocate/allocation-file -u writes the file.
  it('is the schema that import holds files to', async () => {
    await expect(allocationJsonSchema()).toMatchFileSnapshot('../../public/allocation.schema.json');
  });

  it('accepts an exported file and refuses a wrong one', () => {
    const schema = z.fromJSONSchema(JSON.parse(allocationJsonSchema()) as Parameters<typeof z.fromJSONSchema>[0]);
    expect(schema.safeParse(FILE).success).toBe(true);
    for (const recipe of RECIPE_NAMES) {
      const context = { ...CONTEXT, recipe, options: { rht: true, sr: true, seed: 1, floor: true, out: 'block' } } as const;
      expect(schema.safeParse(JSON.parse(exportAllocation({ ...PLAN, formats: {}, locked: {} }, { ...FACTS, sites: {} }, context))).success).toBe(true);
    }
    expect(schema.safeParse(JSON.parse(withValue(['sites', 'h.0.mlp.c_fc:fprop', 'format'], 'int3'))).success).toBe(false);
    expect(schema.safeParse(JSON.parse(withValue(['model', 'sha256'], 'sha256:xyz'))).success).toBe(false);
  });
});

describe('allocation.json that is refused', () => {
  const site = 'h.0.mlp.c_fc:fprop';
  it.each([
    ['a newer version', withValue(['schema'], 'bendscope-allocation/2'), 'E-VER-01', /bendscope-allocation\/2.*bendscope-allocation\/1/],
    ['another kind of file', withValue(['schema'], 'bendscope-probe/1'), 'E-VER-01', /expected schema bendscope-allocation\/1, got "bendscope-probe\/1"/],
    ['no schema', withValue(['schema'], undefined), 'E-VER-01', /got nothing/],
    ['another model by name', withValue(['model'], { name: 'gpt2-mini', sha256: hashOf('other'), layers: 6, tiedHead: true }), 'E-PLAN-01', /made for "gpt2-mini"; the open model is "gpt2-nano"/],
    ['another model by weights', withValue(['model', 'sha256'], hashOf('other')), 'E-PLAN-01', /with weights/],
    ['an unknown site', withValue(['sites', 'h.7.mlp.c_fc:fprop'], FILE.sites[site]), 'E-PLAN-02', /"h\.7\.mlp\.c_fc:fprop"/],
    ['a site the recipe cannot lower', withValue(['sites', 'lm_head:fprop'], FILE.sites[site]), 'E-PLAN-02', /"lm_head:fprop"/],
    ['a missing site', withValue(['sites', site], undefined), 'E-PLAN-02', /expected all 24 sites of gpt2-nano, got 23: h\.0\.mlp\.c_fc:fprop is missing/],
    ['an unknown format', withValue(['sites', site, 'format'], 'int3'), 'E-PLAN-02', /h\.0\.mlp\.c_fc:fprop: expected the format bf16 or "nvfp4" or .*"fp8", got "int3"/],
    ['another recipe\'s sites', withValue(['recipe', 'id'], 'fp8-out'), 'E-PLAN-02', /a site of gpt2-nano that the recipe can lower, got "h\.0\.attn\.c_attn:fprop"/],
    ['op groups among passes', withValue(['sites', site, 'format'], 'fp8-out'), 'E-PLAN-02', /expected the format bf16 or "nvfp4" or .*got "fp8-out"/],
    ['another recipe than the one the hash names', withValue(['recipe', 'id'], 'mxfp8'), 'E-FILE-07', /plan\.hash/],
    ['an unknown recipe', withValue(['recipe', 'id'], 'int4'), 'E-PLAN-03', /"int4"/],
    ['a switch of another recipe', withValue(['recipe', 'floor'], true), 'E-PLAN-03', /expected switches of nvfp4, got floor/],
    ['a scaling of another recipe', withValue(['recipe', 'out'], 'mx'), 'E-PLAN-03', /expected switches of nvfp4, got out/],
    ['an unknown switch', withValue(['recipe', 'fast'], true), 'E-FILE-07', /recipe: .*fast/],
    ['a seed beyond 32 bits', withValue(['recipe', 'seed'], 2 ** 32), 'E-FILE-07', /recipe\.seed/],
    ['switches that the hash does not name', withValue(['recipe', 'rht'], true), 'E-FILE-07', /plan\.hash/],
    ['formats that the hash does not name', withValue(['sites', site, 'format'], 'bf16'), 'E-FILE-07', /plan\.hash/],
    ['an unknown key', withValue(['extra'], 1), 'E-FILE-07', /extra/],
    ['a wrong type', withValue(['sites', site, 'locked'], 'yes'), 'E-FILE-07', /sites\.h\.0\.mlp\.c_fc:fprop\.locked/],
    ['an angle that is none', withValue(['sites', site, 'angleDeg'], { nvfp4: 1e9 }), 'E-FILE-07', /angleDeg/],
    ['no sites', withValue(['sites'], undefined), 'E-FILE-07', /sites/],
    ['no model', withValue(['model'], null), 'E-FILE-07', /model/],
    ['a cut file', TEXT.slice(0, 1000), 'E-FILE-07', /not JSON at byte \d+/],
    ['an empty file', '', 'E-FILE-07', /not JSON at byte 0/],
    ['a list', '[]', 'E-FILE-07', /expected an object/],
    ['garbage', '\u0000\u0001', 'E-FILE-07', /not JSON/],
  ])('%s', (_what, text, name, message) => {
    const error = errorOf(text);
    expect(error?.name).toBe(name);
    expect(error?.message).toMatch(message);
  });

  it('says the byte, not the character, where a file breaks', () => {
    expect(errorOf('{"é": 1 2}')?.message).toMatch(/not JSON at byte 9\./);
    expect(errorOf('{"é": 1')?.message).toMatch(/not JSON at byte 8\./);
  });

  it('takes a file edited by hand once its hash is removed', () => {
    const edited = JSON.parse(withValue(['sites', site, 'format'], 'bf16')) as AllocationFile;
    delete edited.plan.hash;
    expect(importAllocation(JSON.stringify(edited), CONTEXT).plan.formats[site]).toBe('bf16');
  });

  it('never ends in an unnamed error, wherever it is cut or changed', () => {
    fc.assert(fc.property(fc.nat(TEXT.length), fc.nat(40), fc.string({ maxLength: 4 }), (at, removed, inserted) => {
      errorOf(TEXT.slice(0, at) + inserted + TEXT.slice(at + removed));
    }), { numRuns: 300 });
    fc.assert(fc.property(fc.json(), (text) => void errorOf(text)));
  });
});
