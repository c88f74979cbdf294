/**
 * The solver's questions about a plan: on angles that PyTorch measured on the built-in models, and against brute force where
 * sites have several formats, locks (to formats nobody measured too), groups and parts.
 */
import { describe, expect, it } from 'vitest';
import { angleOfTanSquared, tanSquared } from '../base/angle';
import type { RecipeName, SiteFormat, SiteId } from '../graph/policy';
import type { Measured, SiteResult } from '../graph/probe-record';
import { PASSES } from '../graph/types';
import { gpt2Graph } from '../models/gpt2';
import { cleanTan2, costedSites, formatOf, marginal, planTotals, predict, type CostedSite, type Evidence, type Formats } from './cost';
import { costTable, planCost } from './costs';
import { bendAtMost, spendAtMost } from './frontier';
import { goldenEvidence, ownQuestion } from './golden-evidence';
import { differences, paint, planAt, planFrontier, planHash, planWithin, presetPlan, presets, withFormats, type Plan, type PlanQuestion } from './plan';
import { random } from './solver-fixture';

/** Needs no measurement. */
const highCost = (sites: readonly CostedSite[], formats: Formats): number => planTotals(sites, formats, { sites: {}, floor: null }, {}).hpCost;

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const SITES = costedSites(MINI, 'nvfp4');
const OUTS = costedSites(MINI, 'fp8-out');
const EVIDENCE = goldenEvidence('mini', MINI, 'nvfp4');
const OUT_EVIDENCE = goldenEvidence('mini', MINI, 'fp8-out');
const ASKED = ownQuestion(MINI, 'nvfp4', EVIDENCE);
const OUT_ASKED = ownQuestion(MINI, 'fp8-out', OUT_EVIDENCE);
const preset = (id: string): Plan => presetPlan(presets('nvfp4').find((p) => p.id === id)!, SITES, 'nvfp4');
const outPreset = (id: string): Plan => presetPlan(presets('fp8-out').find((p) => p.id === id)!, OUTS, 'fp8-out');

describe('one low format', () => {
  it('predicts the very angle and cost of the plan it returns, at every point', () => {
    const plan: Plan = { ...preset('all-low'), locked: { 'h.0.attn.c_attn:fprop': true, 'h.5.mlp.c_fc:wgrad': true } };
    const frontier = planFrontier(ASKED, plan);
    expect(frontier.points.length).toBeGreaterThan(100);
    frontier.points.forEach((point, i) => {
      const { formats } = planAt(plan, frontier, i);
      expect(planCost(ASKED.costs, SITES, formats)).toBe(point.cost);
      expect(predict(SITES, formats, EVIDENCE).predictedDeg).toBeCloseTo(point.angleDeg, 9);
      expect(formats['h.0.attn.c_attn:fprop']).toBe('nvfp4');
    });
  });

  it('is at least as good as the forward-passes preset at its cost, and as cheap at its angle', () => {
    const fprop = planTotals(SITES, preset('fprop-high').formats, EVIDENCE, {});
    const frontier = planFrontier(ASKED, preset('all-low'));
    const spent = spendAtMost(frontier, planCost(ASKED.costs, SITES, preset('fprop-high').formats));
    expect(spent.point.angleDeg).toBeLessThanOrEqual(fprop.predictedDeg!);
    const bent = bendAtMost(frontier, fprop.predictedDeg!);
    expect(bent.point.cost / frontier.totalCost).toBeLessThanOrEqual(1 / 3);
  });

  it('buys inside a row only, when asked for a row', () => {
    const row = new Set(SITES.filter((site) => site.pass === 'fprop' && site.id.includes('mlp.c_proj')).map((site) => site.id));
    const plan = preset('all-low');
    const before = marginal(SITES, plan.formats, EVIDENCE, row);
    const frontier = planFrontier(ASKED, plan, row);
    expect(frontier.points[0]!.angleDeg).toBeCloseTo(before.angleDeg, 10);
    const choice = bendAtMost(frontier, before.angleDeg / 2);
    const after = planAt(plan, frontier, choice.index, row);
    expect(marginal(SITES, after.formats, EVIDENCE, row).angleDeg).toBeLessThanOrEqual(before.angleDeg / 2);
    const flipped = differences(SITES, plan.formats, after.formats);
    expect(flipped.length).toBeGreaterThan(0);
    expect(flipped.every((id) => row.has(id))).toBe(true);
    expect(planWithin(ASKED, plan, { angleDeg: before.angleDeg / 2 }, row)).toMatchObject({ point: choice.point, formats: frontier.formatsAt(choice.index), gap: 0 });
  });

  it('takes what costs nothing, and then buys the cache best', () => {
    const plan = outPreset('all-low');
    const frontier = planFrontier(OUT_ASKED, plan);
    const free = OUTS.filter((site) => site.cost === 0).map((site) => site.id);
    const unit = highCost(OUTS, outPreset('all-high').formats) / frontier.totalCost;
    expect(frontier.points[0]).toMatchObject({ cost: 0 });
    expect(OUTS.map(({ id }) => id).filter((id) => frontier.formatsAt(0)[id] === 'bf16')).toEqual(free);
    frontier.points.forEach((point, i) => {
      const { formats } = planAt(plan, frontier, i);
      expect(free.every((id) => formats[id] === 'bf16')).toBe(true);
      expect(highCost(OUTS, formats)).toBe(point.cost * unit);
      expect(predict(OUTS, formats, OUT_EVIDENCE).predictedDeg).toBeCloseTo(point.angleDeg, 9);
    });
    const fixed = planTotals(OUTS, outPreset('fixed').formats, OUT_EVIDENCE, {});
    expect(spendAtMost(frontier, fixed.hpCost / unit).point.angleDeg).toBeLessThan(fixed.predictedDeg!);
    expect(bendAtMost(frontier, fixed.predictedDeg!).point.cost * unit).toBeLessThan(fixed.hpCost);
  });
});

const measured = (cleanAngleDeg: number): Measured => ({
  status: 'measured', angleDeg: cleanAngleDeg, cleanAngleDeg, angleSeDeg: null, belowNoise: false, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0,
  localError: null, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 0,
});

const LOW = ['fp8', 'nvfp4'] as const;
const FLOORS = { fprop: 2, dgrad: 1, wgrad: 0, out: 2 } as const;

interface Instance {
  readonly asked: PlanQuestion;
  readonly evidence: Evidence;
  readonly plan: Plan;
  readonly part: ReadonlySet<SiteId> | undefined;
}

/** 8 sites of BF16, FP8 and NVFP4: locks (MXFP8 too, which is measured for some only), groups, unmeasured formats, sometimes a part. */
function instance(next: () => number): Instance {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const sites = Array.from({ length: 8 }, (_, i): CostedSite => ({ id: `s${i}`, node: `n${i}`, pass: pick(PASSES), cost: 1 + Math.floor(5 * next()), inFixedPolicy: false }));
  const results = (scale: number): Record<SiteId, SiteResult> =>
    Object.fromEntries(sites.flatMap(({ id }): [SiteId, SiteResult][] => (next() < 0.15 ? [] : [[id, next() < 0.1 ? { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' } : measured(scale * (0.2 + next()))]])));
  const byFormat = { fp8: results(1), mxfp8: next() < 0.5 ? results(2) : {}, nvfp4: results(10) };
  const evidence: Evidence = { sites: byFormat.nvfp4, byFormat, floor: { forwardDeg: FLOORS.fprop, backwardDeg: FLOORS.dgrad, perRun: [] } };
  const costs = costTable(MINI, sites, ['fp8', 'mxfp8', 'nvfp4'], {}, { kind: 'time', ratios: { fp8: 0.5, mxfp8: 0.6, nvfp4: 0.25 } });
  const groups = [['s1', 's4', 's5'], ['s6', 's2']].slice(0, Math.floor(3 * next()));
  const formats: Record<SiteId, SiteFormat> = Object.fromEntries(sites.map(({ id }) => [id, pick(['bf16', ...LOW, 'mxfp8'] as const)]));
  const locked: Record<SiteId, true> = {};
  for (const { id } of sites) {
    if (next() >= 0.3) continue;
    locked[id] = true;
    // So that locks of a group agree.
    const leader = groups.find((group) => group.includes(id))?.find((fellow) => fellow !== id && locked[fellow]);
    if (leader !== undefined) formats[id] = formats[leader]!;
  }
  const part = next() < 0.4 ? new Set(sites.map(({ id }) => id).filter(() => next() < 0.6)) : undefined;
  return { asked: { sites, low: LOW.map((format) => ({ format, evidence })), costs, groups }, evidence, plan: { name: '', notes: '', formats, locked }, part };
}

interface Allowed {
  readonly formats: Formats;
  readonly cost: number;
  readonly tan2: number;
}

/** Every plan that may be chosen, by the words of the contract; sites outside the part are not named. */
function allowedPlans({ asked: { sites, costs, groups }, evidence, plan, part }: Instance): Allowed[] {
  const inside = sites.filter(({ id }) => part?.has(id) ?? true);
  const tan2Of = (id: SiteId, format: SiteFormat): number | null => {
    if (format === 'bf16') return 0;
    const result = evidence.byFormat?.[format]?.[id];
    return result?.status === 'measured' ? tanSquared(result.cleanAngleDeg) : null;
  };
  const found: Allowed[] = [];
  const visit = (i: number, formats: Record<SiteId, SiteFormat>): void => {
    const site = inside[i];
    if (site === undefined) {
      const low = inside.filter(({ id }) => formats[id] !== 'bf16');
      const floor = part === undefined ? Math.max(0, ...low.map(({ pass }) => tanSquared(FLOORS[pass]))) : 0;
      found.push({ formats: { ...formats }, cost: inside.reduce((sum, { id }) => sum + costs.of(id, formats[id]!), 0), tan2: floor + low.reduce((sum, { id }) => sum + (tan2Of(id, formats[id]!) ?? 0), 0) });
      return;
    }
    const fellows = (groups.find((group) => group.includes(site.id)) ?? [site.id]).filter((id) => part?.has(id) ?? true);
    const holder = fellows.find((id) => plan.locked[id]);
    const chosen = fellows.map((id) => formats[id]).find((format) => format !== undefined);
    for (const format of ['bf16', ...LOW, 'mxfp8'] as const) {
      if (holder === undefined && (format === 'mxfp8' || fellows.some((id) => tan2Of(id, format) === null))) continue;
      if (holder !== undefined && format !== plan.formats[holder]) continue;
      if (chosen !== undefined && format !== chosen) continue;
      visit(i + 1, { ...formats, [site.id]: format });
    }
  };
  visit(0, {});
  return found;
}

describe('several formats, locks, groups and parts', () => {
  it('give the optimum of 300 random questions, and every efficient plan', () => {
    const next = random(21);
    for (let round = 0; round < 300; round++) {
      const given = instance(next);
      const { asked, plan, part, evidence } = given;
      const plans = allowedPlans(given);
      const where = `round ${round}: ${JSON.stringify({ plan, part: part && [...part], groups: asked.groups })}`;
      const budget = plans[Math.floor(next() * plans.length)]!.cost;
      const least = Math.min(...plans.filter(({ cost }) => cost <= budget).map(({ tan2 }) => tan2));
      const spent = planWithin(asked, plan, { cost: budget }, part);
      expect([spent.feasible, spent.gap, spent.point.cost <= budget], where).toEqual([true, 0, true]);
      expect(spent.point.tan2, where).toBeCloseTo(least, 12);
      const target = plans[Math.floor(next() * plans.length)]!.tan2;
      const bent = planWithin(asked, plan, { angleDeg: angleOfTanSquared(target) }, part);
      expect(bent.point.cost, where).toBe(Math.min(...plans.filter(({ tan2 }) => tan2 <= target * (1 + 1e-11)).map(({ cost }) => cost)));

      const frontier = planFrontier(asked, plan, part);
      expect(spendAtMost(frontier, budget).point).toEqual(spent.point);
      frontier.points.forEach((point, i) => {
        const after = planAt(plan, frontier, i, part);
        const same = plans.find(({ formats }) => Object.entries(formats).every(([id, format]) => after.formats[id] === format))!;
        expect([same.cost, differences(asked.sites, plan.formats, after.formats).filter((id) => plan.locked[id] || (part && !part.has(id)))], where).toEqual([point.cost, []]);
        expect(same.tan2, where).toBeCloseTo(point.tan2, 12);
        if (part !== undefined) return;
        const { predictedDeg, unpredicted } = predict(asked.sites, after.formats, evidence);
        expect(unpredicted.every((id) => plan.locked[id] || asked.groups.some((group) => group.includes(id))), where).toBe(true);
        if (predictedDeg !== null) expect(predictedDeg, where).toBeCloseTo(point.angleDeg, 9);
      });
    }
  });

  it('name a lock to a format that costs do not cover, and leave what is not named alone', () => {
    const plan: Plan = { ...preset('all-low'), locked: { 'h.0.mlp.c_fc:fprop': true }, formats: { 'h.0.mlp.c_fc:fprop': 'fp8' } };
    expect(() => planFrontier(ASKED, plan)).toThrow('expected h.0.mlp.c_fc:fprop locked to bf16 or nvfp4, got fp8');
    expect(withFormats(plan, { 'h.0.mlp.c_fc:fprop': 'bf16', 'h.1.mlp.c_fc:fprop': 'nvfp4', 'h.2.mlp.c_fc:fprop': 'nvfp4' }, new Set(['h.0.mlp.c_fc:fprop', 'h.1.mlp.c_fc:fprop'])).formats)
      .toEqual({ 'h.0.mlp.c_fc:fprop': 'fp8', 'h.1.mlp.c_fc:fprop': 'nvfp4' });
  });

  it('give the same plan hash at every run, after undo and redo, and whatever the order of keys', () => {
    const context = { modelSha256: 'sha256:ab', recipe: 'nvfp4', options: { rht: true, floor: true } } as const;
    const evidence = (): Evidence => ({ ...structuredClone(EVIDENCE), byFormat: { nvfp4: structuredClone(EVIDENCE.sites), mxfp8: Object.fromEntries(SITES.map(({ id }) => [id, measured(0.3 * angleOfTanSquared(cleanTan2(EVIDENCE, id)!))])) } });
    const solved = (): Formats => {
      const own = evidence();
      const low = (['mxfp8', 'nvfp4'] as const).map((format: RecipeName) => ({ format, evidence: own }));
      const asked: PlanQuestion = { sites: costedSites(MINI, 'nvfp4'), low, costs: costTable(MINI, SITES, ['mxfp8', 'nvfp4'], {}, { kind: 'bits' }), groups: [['h.0.attn.c_attn:fprop', 'h.0.attn.c_proj:fprop']] };
      return withFormats(preset('all-low'), planWithin(asked, preset('all-low'), { cost: 0.5 * planCost(asked.costs, SITES, preset('all-high').formats) }).formats).formats;
    };
    const formats = solved();
    expect(new Set(SITES.map(({ id }) => formatOf(formats, id)))).toEqual(new Set(['bf16', 'mxfp8', 'nvfp4']));
    const hash = planHash(formats, SITES, context);
    expect(planHash(solved(), SITES, context)).toBe(hash);
    expect(planHash(Object.fromEntries(Object.entries(formats).reverse()), SITES.toReversed(), context)).toBe(hash);
    // What undo and redo do: values that were there before come back.
    const edited = paint({ ...preset('all-low'), formats }, ['h.0.mlp.c_fc:fprop'], formats['h.0.mlp.c_fc:fprop'] === 'bf16' ? 'mxfp8' : 'bf16').plan.formats;
    const history = [preset('all-low').formats, formats, edited].map((entry) => planHash(structuredClone(entry), SITES, context));
    expect([new Set(history).size, history[1]]).toEqual([3, hash]);
    expect(planHash(formats, SITES, { ...context, options: { rht: true, floor: true, pow2: true } })).toBe(hash);
    expect(planHash(formats, SITES, { ...context, options: { rht: true } })).not.toBe(hash);
  });
});
