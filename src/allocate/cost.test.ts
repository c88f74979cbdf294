/**
 * Costs against hand-computed figures of method.md 6 and formats.md 5.0, predictions against joint angles that PyTorch
 * measured on the built-in models.
 */
import { describe, expect, it } from 'vitest';
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { PASS_SCHEMES, RECIPE_NAMES, type RecipeName } from '../graph/policy';
import { PASSES } from '../graph/types';
import { gpt2Graph } from '../models/gpt2';
import { costedSites, marginal, planTotals, predict, storedBits, totalCost, type CostedSite, type Evidence, type Formats } from './cost';
import { goldenEvidence, goldenJoint, ownQuestion } from './golden-evidence';
import { formatsWhere, planFrontier, presetPlan, presets } from './plan';
import type { Plan } from './plan';

/** Needs no measurement. */
const effectiveBits = (sites: readonly CostedSite[], formats: Formats, options: Parameters<typeof planTotals>[3]): number => planTotals(sites, formats, { sites: {}, floor: null }, options).effectiveBits;
/** Needs no measurement. */
const highCost = (sites: readonly CostedSite[], formats: Formats): number => planTotals(sites, formats, { sites: {}, floor: null }, {}).hpCost;

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const NANO = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
const SMALL = gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 });
const SITES = costedSites(MINI, 'nvfp4');
const OUTS = costedSites(MINI, 'fp8-out');
const EVIDENCE = goldenEvidence('mini', MINI, 'nvfp4');
const NOTHING: Evidence = { sites: {}, floor: null };
const planOf = (sites: readonly CostedSite[], recipe: RecipeName, id: string): Plan => presetPlan(presets(recipe).find((p) => p.id === id)!, sites, recipe);
const preset = (id: string): Plan => planOf(SITES, 'nvfp4', id);

describe('cost of passes', () => {
  it('is the exact work of the block linears, in every recipe of passes', () => {
    expect(SITES).toHaveLength(72);
    expect(SITES.some((site) => site.inFixedPolicy)).toBe(false);
    // 6 layers x 3 passes x 12 C^2 multiply-adds, C = 128.
    expect(totalCost(SITES)).toBe(6 * 3 * 12 * 128 * 128 * 2);
    expect(totalCost(costedSites(NANO, 'nvfp4'))).toBe(2 * 3 * 12 * 64 * 64 * 2);
    for (const recipe of PASS_SCHEMES) expect(costedSites(MINI, recipe)).toEqual(SITES);
  });

  it('gives the HP GEMM work of method.md 6', () => {
    const totals = (id: string) => planTotals(SITES, preset(id).formats, EVIDENCE, {});
    expect(totals('fprop-high')).toMatchObject({ hpShare: 1 / 3, hpCost: totalCost(SITES) / 3, relativeToFixed: null });
    expect(totals('all-low').hpShare).toBe(0);
    expect(totals('all-high').hpShare).toBe(1);
    expect(totals('fprop-high').siteCount).toEqual({ ...Object.fromEntries(RECIPE_NAMES.map((recipe) => [recipe, 0])), bf16: 24, nvfp4: 48 });
    expect(highCost(SITES, { ...preset('all-low').formats, 'h.2.attn.c_attn:dgrad': 'bf16' })).toBe(2 * 128 * 384);
  });
});

describe('cost of op groups', () => {
  // formats.md 5.0: bytes a token in all and of the fixed policy.
  it.each([['gpt2', SMALL, 398_498, 140_450, 0.352], ['gpt2-mini', MINI, 27_136, 5_632, 0.208]] as const)('of %s is what backward keeps', (_, graph, all, fixed, share) => {
    const sites = costedSites(graph, 'fp8-out');
    expect(totalCost(sites)).toBe(all);
    const totals = planTotals(sites, planOf(sites, 'fp8-out', 'fixed').formats, NOTHING, {});
    expect(totals).toMatchObject({ hpCost: fixed, relativeToFixed: 1 });
    expect(totals.hpShare).toBeCloseTo(share, 3);
    expect(planTotals(sites, planOf(sites, 'fp8-out', 'all-high').formats, NOTHING, {})).toMatchObject({ hpCost: all, hpShare: 1, relativeToFixed: all / fixed });
    expect(planTotals(sites, planOf(sites, 'fp8-out', 'all-low').formats, NOTHING, {})).toMatchObject({ hpCost: 0, hpShare: 0, relativeToFixed: 0 });
  });

  it('is nothing where the output only feeds a sum', () => {
    const free = OUTS.filter((site) => site.cost === 0).map((site) => site.node);
    expect(free).toEqual(Array.from({ length: 6 }, (_, i) => [`h.${i}.attn.c_proj`, `h.${i}.mlp.c_proj`]).flat());
    expect(OUTS.find((site) => site.id === 'lm_head:out')?.cost).toBe(2 * 1024);
    expect(OUTS.find((site) => site.id === 'h.3.mlp.act:out')?.cost).toBe(8 * 128);
  });

  it('has a fixed policy of embedding, head and every norm', () => {
    const norms = Array.from({ length: 6 }, (_, i) => [`h.${i}.ln_1`, `h.${i}.ln_2`]).flat();
    expect(OUTS.filter((site) => site.inFixedPolicy).map((site) => site.node)).toEqual(['wte', ...norms, 'ln_f', 'lm_head']);
  });
});

describe('effective bits', () => {
  it.each<[RecipeName, object, number]>([
    // method.md 6: all low 4.34375 with 16x16 weight tiles.
    ['nvfp4', {}, 4.34375], ['nvfp4', { weights1d: true }, 4.5], ['nvfp4', { rht: true, sr: true }, 4.34375],
    ['mxfp4', {}, 4.25], ['mxfp8', { floor: true }, 8.25], ['fp8', {}, 8],
    // x 8.0625, w 8 + 8 / 128^2, dy 8.0625: fprop and dgrad hold w, wgrad does not.
    ['fp8-block', {}, 8.0625 - (2 / 3) * (1 / 2) * (8 / 128 - 8 / 128 ** 2)],
    ['fp8-out', {}, 8], ['fp8-out', { out: 'block' }, 8.0625], ['fp8-out', { out: 'mx' }, 8.25],
  ])('of %s under %j, all low, are %f; in BF16 16', (recipe, options, bits) => {
    const sites = costedSites(MINI, recipe);
    expect(effectiveBits(sites, planOf(sites, recipe, 'all-low').formats, options)).toBeCloseTo(bits, 12);
    expect(effectiveBits(sites, planOf(sites, recipe, 'all-high').formats, options)).toBe(16);
    expect(effectiveBits(sites, {}, options)).toBe(16);
  });

  it('average the two operands of a pass, and weigh outputs by the bytes kept', () => {
    expect(storedBits('wgrad', 'nvfp4', {})).toBe(4.5);
    expect(storedBits('fprop', 'nvfp4', {})).toBe((4.5 + 4.03125) / 2);
    expect(storedBits('dgrad', 'nvfp4', { weights1d: true })).toBe(4.5);
    expect(storedBits('dgrad', 'bf16', {})).toBe(16);
    expect(storedBits('out', 'fp8-out', {})).toBe(8);
    expect(effectiveBits(OUTS, planOf(OUTS, 'fp8-out', 'fixed').formats, {})).toBeCloseTo(8 + (8 * 5_632) / 27_136, 12);
    // An output that costs nothing has no weight.
    expect(effectiveBits(OUTS, { ...planOf(OUTS, 'fp8-out', 'all-low').formats, 'h.0.mlp.c_proj:out': 'bf16' }, {})).toBe(8);
  });
});

describe('prediction', () => {
  // method.md 5, PyTorch: predicted / measured 24.5 / 24.0, 10.0 / 10.0, 4.38 / 4.39.
  it.each([['fprop', 24.5, 24.0], ['dgrad', 10.0, 10.0], ['wgrad', 4.38, 4.39]] as const)('adds squared tangents: all %s passes low', (pass, predicted, measured) => {
    const formats = formatsWhere(SITES, (site) => site.pass !== pass, 'nvfp4');
    const { predictedDeg, unpredicted } = predict(SITES, formats, EVIDENCE);
    expect(unpredicted).toEqual([]);
    expect(Math.abs(predictedDeg! - predicted)).toBeLessThan(0.05);
    expect(Math.abs(goldenJoint('mini', `nvfp4:${pass}`) - measured)).toBeLessThan(0.05);
  });

  it('adds squared tangents: all 63 op groups low', () => {
    // method.md 5, PyTorch: predicted / measured 15.6 / 15.8.
    const { predictedDeg, unpredicted } = predict(OUTS, planOf(OUTS, 'fp8-out', 'all-low').formats, goldenEvidence('mini', MINI, 'fp8-out'));
    expect(unpredicted).toEqual([]);
    expect(Math.abs(predictedDeg! - 15.6)).toBeLessThan(0.05);
    expect(Math.abs(goldenJoint('mini', 'fp8-out:all') - 15.8)).toBeLessThan(0.05);
  });

  // Weight gradients do not change what follows, so their shifts are of different tensors: the sum is all but exact.
  it.each(['nvfp4', 'mxfp4', 'mxfp8', 'fp8-block', 'fp8'] as const)('adds squared tangents: all weight gradients of gpt2-nano in %s', (recipe) => {
    const sites = costedSites(NANO, recipe);
    const { predictedDeg } = predict(sites, formatsWhere(sites, (site) => site.pass !== 'wgrad', recipe), goldenEvidence('nano', NANO, recipe));
    expect(Math.abs(predictedDeg! / goldenJoint('nano', `${recipe}:wgrad`) - 1)).toBeLessThan(0.01);
  });

  it('carries the forward floor once a single output is low', () => {
    const evidence = goldenEvidence('mini', MINI, 'fp8-out');
    const raw = evidence.sites['lm_head:out']!;
    expect(predict(OUTS, { 'lm_head:out': 'fp8-out' }, evidence).predictedDeg).toBeCloseTo(raw.status === 'measured' ? raw.angleDeg : NaN, 10);
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
    const frontier = planFrontier(ownQuestion(MINI, 'nvfp4', evidence), preset('all-low'));
    expect(frontier.unpredicted).toEqual([{ id: 'h.0.mlp.c_fc:fprop', formats: ['nvfp4'], kept: null }]);
    expect(Object.entries(frontier.formatsAt(0)).filter(([, format]) => format === 'bf16')).toEqual([['h.0.mlp.c_fc:fprop', 'bf16']]);
  });

  it('splits a plan into marginal bars', () => {
    const rows = PASSES.map((pass) => marginal(SITES, preset('all-low').formats, EVIDENCE, new Set(SITES.filter((s) => s.pass === pass).map((s) => s.id))));
    expect(rows.reduce((sum, row) => sum + row.share, 0)).toBeCloseTo(1, 12);
    expect(rows[2]!.angleDeg).toBeCloseTo(predict(SITES, preset('all-low').formats, EVIDENCE).predictedDeg! > 0 ? 4.38 : NaN, 1);
    expect(marginal(SITES, {}, EVIDENCE, new Set())).toEqual({ angleDeg: 0, share: 0 });
  });
});
