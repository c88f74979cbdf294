/**
 * Plans of every recipe: the policy they become, their hash, painting, presets.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { ProbeRecord } from '../graph/probe-record';
import { validatePolicy } from '../graph/validate';
import { gpt2Graph } from '../models/gpt2';
import { costedSites, planTotals } from './cost';
import { goldenEvidence } from './golden-evidence';
import { differences, paint, planHash, planPolicy, policyHash, presetPlan, presets } from './plan';
import type { Plan } from './plan';

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const SITES = costedSites(MINI, 'nvfp4');
const OUTS = costedSites(MINI, 'fp8-out');
const CONTEXT = { modelSha256: 'sha256:ab', recipe: 'nvfp4', options: {} } as const;
const OUT_EVIDENCE = goldenEvidence('mini', MINI, 'fp8-out');
const preset = (id: string): Plan => presetPlan(presets('nvfp4').find((p) => p.id === id)!, SITES, 'nvfp4');
const outPreset = (id: string): Plan => presetPlan(presets('fp8-out').find((p) => p.id === id)!, OUTS, 'fp8-out');

describe('presets', () => {
  it('are all low, all BF16 and each pass, or the fixed policy', () => {
    for (const recipe of ['nvfp4', 'mxfp8'] as const) expect(presets(recipe).map((p) => p.id)).toEqual(['all-low', 'all-high', 'fprop-high', 'dgrad-high', 'wgrad-high']);
    expect(presets('fp8-out').map((p) => p.id)).toEqual(['all-low', 'all-high', 'fixed']);
    expect(new Set(Object.values(presetPlan(presets('mxfp4')[0]!, SITES, 'mxfp4').formats))).toEqual(new Set(['mxfp4']));
    expect(planTotals(OUTS, outPreset('fixed').formats, OUT_EVIDENCE, {})).toMatchObject({ hpCost: 5632, siteCount: { bf16: 15, 'fp8-out': 48 } });
  });
});

describe('plans', () => {
  it('become the policy of their low sites', () => {
    const plan = preset('fprop-high');
    const policy = planPolicy(plan.formats, SITES, { weights1d: true });
    expect(policy).toMatchObject({ reference: 'bf16', options: { weights1d: true } });
    expect(Object.keys(policy.passes)).toEqual(SITES.filter((site) => site.pass !== 'fprop').map((site) => site.id));
    expect(planPolicy(preset('all-high').formats, SITES, {})).toEqual({ reference: 'bf16', passes: {}, options: {} });
  });

  it('of op groups become outs, and mixed schemes stay mixed', () => {
    const policy = planPolicy(outPreset('fixed').formats, OUTS, { out: 'mx' });
    expect(policy).toMatchObject({ reference: 'bf16', passes: {}, options: { out: 'mx' } });
    expect(policy.outs).toEqual(OUTS.filter((site) => !site.inFixedPolicy).map((site) => site.node));
    expect(validatePolicy(MINI, policy)).toEqual(policy);
    const mixed = planPolicy({ 'h.0.mlp.c_fc:fprop': 'mxfp8', 'h.0.mlp.c_fc:dgrad': 'nvfp4' }, SITES, {});
    expect(mixed.passes).toEqual({ 'h.0.mlp.c_fc:fprop': 'mxfp8', 'h.0.mlp.c_fc:dgrad': 'nvfp4' });
    expect(() => planPolicy({ 'h.0.mlp.c_fc:fprop': 'fp8-out' }, SITES, {})).toThrow('h.0.mlp.c_fc:fprop cannot run in fp8-out');
    expect(() => planPolicy({ 'wte:out': 'nvfp4' }, OUTS, {})).toThrow('wte:out cannot run in nvfp4');
  });

  it('of op groups are painted and compared like any other', () => {
    const painted = paint({ ...outPreset('all-low'), locked: { 'wte:out': true } }, ['wte:out', 'ln_f:out'], 'bf16');
    expect(painted).toMatchObject({ changed: ['ln_f:out'], lockedUnchanged: 1 });
    expect(differences(OUTS, outPreset('all-low').formats, painted.plan.formats)).toEqual(['ln_f:out']);
  });

  it('paint all but locked sites', () => {
    const plan: Plan = { ...preset('all-low'), locked: { 'h.0.mlp.c_fc:fprop': true } };
    const painted = paint(plan, ['h.0.mlp.c_fc:fprop', 'h.0.mlp.c_fc:dgrad'], 'bf16');
    expect(painted).toMatchObject({ changed: ['h.0.mlp.c_fc:dgrad'], lockedUnchanged: 1 });
    expect(differences(SITES, plan.formats, painted.plan.formats)).toEqual(['h.0.mlp.c_fc:dgrad']);
    expect(paint(plan, ['h.0.mlp.c_fc:dgrad'], 'nvfp4').plan).toBe(plan);
  });

  it('have a hash of what runs, and of nothing else', () => {
    const plan = preset('fprop-high');
    const hash = planHash(plan.formats, SITES, CONTEXT);
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    const reversed = Object.fromEntries(Object.entries(plan.formats).reverse()) as Record<SiteId, SiteFormat>;
    expect(planHash(reversed, SITES, { ...CONTEXT, options: { weights1d: false } })).toBe(hash);
    const changed = { ...plan.formats, 'h.0.mlp.c_fc:fprop': 'nvfp4' } as const;
    expect(planHash(changed, SITES, CONTEXT)).not.toBe(hash);
    expect(planHash(plan.formats, SITES, { ...CONTEXT, modelSha256: 'sha256:ac' })).not.toBe(hash);
    expect(planHash(plan.formats, SITES, { ...CONTEXT, options: { weights1d: true } })).not.toBe(hash);
  });

  it('keep the hash that stored plans have', () => {
    const stored = JSON.parse(readFileSync(new URL('../../public/stored-probe.json', import.meta.url), 'utf8')) as ProbeRecord;
    const context = { modelSha256: stored.provenance.modelSha256, recipe: stored.recipe, options: stored.options };
    const hashed = ['all-low', 'fprop-high', 'dgrad-high', 'wgrad-high'].map((id) => planHash(preset(id).formats, SITES, context));
    expect(Object.keys(stored.joint)).toEqual(expect.arrayContaining(hashed));
  });

  it('hash switches that a low site reads, and what the worker makes of the policy hashes the same', () => {
    const low = outPreset('all-low').formats;
    const of = (options: object) => planHash(low, OUTS, { modelSha256: 'sha256:ab', recipe: 'fp8-out', options });
    expect(of({ rht: true, weights1d: true, out: 'tensor' })).toBe(of({}));
    expect(new Set([of({}), of({ out: 'mx' }), of({ out: 'block' }), of({ pow2: true })]).size).toBe(4);
    for (const [formats, sites, recipe] of [[low, OUTS, 'fp8-out'], [preset('all-high').formats, SITES, 'nvfp4'], [preset('all-low').formats, SITES, 'nvfp4']] as const) {
      const context = { modelSha256: 'sha256:ab', recipe, options: { weights1d: true, sr: true, seed: 4, pow2: true } };
      expect(policyHash(validatePolicy(MINI, planPolicy(formats, sites, context.options)), context)).toBe(planHash(formats, sites, context));
    }
  });
});
