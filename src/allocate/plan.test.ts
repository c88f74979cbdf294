/**
 * Costs and predictions against hand-computed figures of method.md 6 and against joint angles that PyTorch measured
 * (e2e/golden/mini/angles.json); plans, their hash and the solver's questions on the built-in models.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { angleOfTanSquared, tanSquared } from '../base/angle';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { SiteResult } from '../graph/probe-record';
import { sites as graphSites } from '../graph/sites';
import { gpt2Graph } from '../models/gpt2';
import { effectiveBits, floorTan2, highFlops, marginal, operandBits, passSites, planTotals, predict, totalFlops } from './cost';
import type { Evidence } from './cost';
import { bendAtMost, spendAtMost } from './knapsack';
import { PRESETS, differences, formatsWhere, paint, planAt, planFrontier, planHash, planPolicy, presetPlan } from './plan';
import type { Plan } from './plan';

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const NANO = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
const SITES = passSites(MINI);
const CONTEXT = { modelSha256: 'sha256:ab', recipe: 'nvfp4', options: {} } as const;

interface Golden {
  readonly sites: { readonly nvfp4: Readonly<Record<SiteId, readonly (readonly { readonly angle_deg: number }[])[]>> };
  readonly joint: Readonly<Record<string, readonly (readonly { readonly angle_deg: number }[])[]>>;
  readonly floor_forward_deg: readonly (readonly number[])[];
  readonly floor_backward_deg: readonly (readonly number[])[];
}
const golden = JSON.parse(readFileSync(new URL('../../e2e/golden/mini/angles.json', import.meta.url), 'utf8')) as Golden;

/** atan(sqrt(mean tan^2)), the way several batches become one angle. */
function pooled(angles: readonly number[]): number {
  return angleOfTanSquared(angles.reduce((sum, angle) => sum + tanSquared(angle), 0) / angles.length);
}

/** The golden as what a probe would report. */
function goldenEvidence(): Evidence {
  const floor = { forwardDeg: pooled(golden.floor_forward_deg.flat()), backwardDeg: pooled(golden.floor_backward_deg.flat()), perRun: [] };
  const evidence = { floor, sites: {} };
  const sites = SITES.map(({ id, pass }): [SiteId, SiteResult] => {
    const angleDeg = pooled(golden.sites.nvfp4[id]!.map((batch) => batch[0]!.angle_deg));
    const cleanAngleDeg = angleOfTanSquared(Math.max(0, tanSquared(angleDeg) - floorTan2(evidence, pass)));
    return [id, {
      status: 'measured', angleDeg, cleanAngleDeg, angleSeDeg: 0, belowNoise: false, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0,
      localError: null, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 0,
    }];
  });
  return { floor, sites: Object.fromEntries(sites) };
}
const EVIDENCE = goldenEvidence();
const preset = (id: string): Plan => presetPlan(PRESETS.find((p) => p.id === id)!, SITES, 'nvfp4');

describe('cost', () => {
  it('lists the passes of the block linears and their exact work', () => {
    expect(SITES.map((site) => site.id)).toEqual(graphSites(MINI).map((site) => site.id).filter((id) => !id.startsWith('lm_head')));
    expect(SITES).toHaveLength(72);
    // 6 layers x 3 passes x 12 C^2 multiply-adds, C = 128.
    expect(totalFlops(SITES)).toBe(6 * 3 * 12 * 128 * 128 * 2);
    expect(totalFlops(passSites(NANO))).toBe(2 * 3 * 12 * 64 * 64 * 2);
  });

  it('gives the effective bits of method.md 6', () => {
    expect(operandBits('wgrad', 'nvfp4', {})).toBe(4.5);
    expect(operandBits('fprop', 'nvfp4', {})).toBe((4.5 + 4.03125) / 2);
    expect(operandBits('dgrad', 'nvfp4', { weights1d: true })).toBe(4.5);
    expect(operandBits('dgrad', 'bf16', {})).toBe(16);
    expect(effectiveBits(SITES, preset('all-low').formats, {})).toBe(4.34375);
    expect(effectiveBits(SITES, preset('all-low').formats, { weights1d: true })).toBe(4.5);
    expect(effectiveBits(SITES, preset('all-high').formats, {})).toBe(16);
    expect(effectiveBits(SITES, {}, {})).toBe(16);
  });

  it('gives the HP GEMM work of method.md 6', () => {
    const work = (id: string): number => planTotals(SITES, preset(id).formats, EVIDENCE, {}).hpGemmWork;
    expect(work('fprop-high')).toBe(1 / 3);
    expect(work('all-low')).toBe(0);
    expect(work('all-high')).toBe(1);
    expect(highFlops(SITES, { ...preset('all-low').formats, 'h.2.attn.c_attn:dgrad': 'bf16' })).toBe(2 * 128 * 384);
  });
});

describe('prediction', () => {
  // method.md 5, PyTorch: predicted / measured 24.5 / 24.0, 10.0 / 10.0, 4.38 / 4.39.
  it.each([['fprop', 24.5, 24.0], ['dgrad', 10.0, 10.0], ['wgrad', 4.38, 4.39]] as const)('adds squared tangents: all %s passes low', (pass, predicted, measured) => {
    const formats = formatsWhere(SITES, (site) => site.pass !== pass, 'nvfp4');
    const { predictedDeg, unpredicted } = predict(SITES, formats, EVIDENCE);
    expect(unpredicted).toEqual([]);
    expect(Math.abs(predictedDeg! - predicted)).toBeLessThan(0.05);
    const joint = pooled(golden.joint[`nvfp4:${pass}`]!.map((batch) => batch[0]!.angle_deg));
    expect(Math.abs(joint - measured)).toBeLessThan(0.05);
  });

  it('adds the floor once, the largest that a low site carries', () => {
    const id = 'h.0.mlp.c_fc:fprop';
    const both = { [id]: 'nvfp4', 'h.1.mlp.c_fc:fprop': 'nvfp4', 'h.1.mlp.c_fc:wgrad': 'nvfp4' } as const;
    // The floor was subtracted from one site and added once: a single fprop site predicts its own raw angle.
    const raw = EVIDENCE.sites[id]!;
    expect(predict(SITES, { [id]: 'nvfp4' }, EVIDENCE).predictedDeg).toBeCloseTo(raw.status === 'measured' ? raw.angleDeg : NaN, 10);
    const clean = Object.keys(both).map((site) => EVIDENCE.sites[site]!).map((r) => (r.status === 'measured' ? tanSquared(r.cleanAngleDeg) : NaN));
    expect(predict(SITES, both, EVIDENCE).predictedDeg).toBeCloseTo(angleOfTanSquared(clean[0]! + clean[1]! + clean[2]! + tanSquared(EVIDENCE.floor!.forwardDeg)), 10);
    expect(predict(SITES, {}, EVIDENCE).predictedDeg).toBe(0);
  });

  it('predicts nothing for a plan with an unmeasured low site', () => {
    const evidence: Evidence = { ...EVIDENCE, sites: { ...EVIDENCE.sites, 'h.0.mlp.c_fc:fprop': { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' } } };
    expect(planTotals(SITES, preset('all-low').formats, evidence, {})).toMatchObject({ predictedDeg: null, unpredicted: ['h.0.mlp.c_fc:fprop'] });
    expect(planTotals(SITES, preset('fprop-high').formats, evidence, {}).predictedDeg).not.toBeNull();
    const frontier = planFrontier(SITES, preset('all-low'), evidence);
    expect(frontier.unpredicted).toEqual([{ id: 'h.0.mlp.c_fc:fprop', kept: 'high' }]);
    expect(frontier.highAt(0)).toEqual(['h.0.mlp.c_fc:fprop']);
  });

  it('splits a plan into marginal bars', () => {
    const rows = ['fprop', 'dgrad', 'wgrad'].map((pass) => marginal(SITES, preset('all-low').formats, EVIDENCE, new Set(SITES.filter((s) => s.pass === pass).map((s) => s.id))));
    expect(rows.reduce((sum, row) => sum + row.share, 0)).toBeCloseTo(1, 12);
    expect(rows[2]!.angleDeg).toBeCloseTo(predict(SITES, preset('all-low').formats, EVIDENCE).predictedDeg! > 0 ? 4.38 : NaN, 1);
    expect(marginal(SITES, {}, EVIDENCE, new Set())).toEqual({ angleDeg: 0, share: 0 });
  });
});

describe('plans', () => {
  it('become the policy of their low sites', () => {
    const plan = preset('fprop-high');
    const policy = planPolicy(plan.formats, SITES, { weights1d: true });
    expect(policy).toMatchObject({ reference: 'bf16', options: { weights1d: true } });
    expect(Object.keys(policy.passes)).toEqual(SITES.filter((site) => site.pass !== 'fprop').map((site) => site.id));
    expect(planPolicy(preset('all-high').formats, SITES, {}).passes).toEqual({});
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
});

describe('solver on a plan', () => {
  it('predicts the very angle and cost of the plan it returns, at every point', () => {
    const plan: Plan = { ...preset('all-low'), locked: { 'h.0.attn.c_attn:fprop': true, 'h.5.mlp.c_fc:wgrad': true } };
    const frontier = planFrontier(SITES, plan, EVIDENCE);
    expect(frontier.points.length).toBeGreaterThan(100);
    frontier.points.forEach((point, i) => {
      const { formats } = planAt(plan, SITES, frontier, i, 'nvfp4');
      expect(highFlops(SITES, formats)).toBe(point.cost);
      expect(predict(SITES, formats, EVIDENCE).predictedDeg).toBeCloseTo(point.angleDeg, 9);
      expect(formats['h.0.attn.c_attn:fprop']).toBe('nvfp4');
    });
  });

  it('is at least as good as the forward-passes preset at its cost, and as cheap at its angle', () => {
    const fprop = planTotals(SITES, preset('fprop-high').formats, EVIDENCE, {});
    const frontier = planFrontier(SITES, preset('all-low'), EVIDENCE);
    const spent = spendAtMost(frontier, highFlops(SITES, preset('fprop-high').formats));
    expect(spent.point.angleDeg).toBeLessThanOrEqual(fprop.predictedDeg!);
    const bent = bendAtMost(frontier, fprop.predictedDeg!);
    expect(bent.point.cost / frontier.totalCost).toBeLessThanOrEqual(1 / 3);
  });

  it('buys inside a row only, when asked for a row', () => {
    const row = new Set(SITES.filter((site) => site.pass === 'fprop' && site.id.includes('mlp.c_proj')).map((site) => site.id));
    const plan = preset('all-low');
    const before = marginal(SITES, plan.formats, EVIDENCE, row);
    const frontier = planFrontier(SITES, plan, EVIDENCE, row);
    expect(frontier.points[0]!.angleDeg).toBeCloseTo(before.angleDeg, 10);
    const choice = bendAtMost(frontier, before.angleDeg / 2);
    const after = planAt(plan, SITES, frontier, choice.index, 'nvfp4', row);
    expect(marginal(SITES, after.formats, EVIDENCE, row).angleDeg).toBeLessThanOrEqual(before.angleDeg / 2);
    const flipped = differences(SITES, plan.formats, after.formats);
    expect(flipped.length).toBeGreaterThan(0);
    expect(flipped.every((id) => row.has(id))).toBe(true);
  });
});
