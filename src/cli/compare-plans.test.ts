/**
 * Which plans are compared, on the angles that PyTorch measured on gpt2-mini: ours against each baseline at each budget by what is
 * predicted, ours at the cost of every plan without a budget, and plans that cannot be, with their reason.
 */
import { describe, expect, it } from 'vitest';
import { baselinesFor } from '../allocate/baselines';
import { costedSites, predict, type Evidence } from '../allocate/cost';
import { costTable, planCost, type CostRequest } from '../allocate/costs';
import { parseGemmTimes } from '../allocate/gemm-times';
import { goldenEvidence } from '../allocate/golden-evidence';
import type { RecipeName, SiteId } from '../graph/policy';
import type { SiteScores } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { askProbes } from './allocate-question';
import { comparedPlans, methodIds, type Compared, type CompareQuestion } from './compare-plans';

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const PROVENANCE = {
  appVersion: '', device: '', isFallbackAdapter: true, browser: '', modelSha256: '', tokensSha256: '', modelName: '', dataName: '', seed: 0, batches: 1, sequences: 1, tokens: 8, startedAt: '',
};
const BUDGETS = [0.05, 0.2, 0.5];

/** Angles as PyTorch has them; what other methods look at is made up, so that each of them has a plan. */
function evidenceOf(recipe: RecipeName): Evidence {
  const golden = goldenEvidence('mini', MINI, recipe);
  return { ...golden, sites: Object.fromEntries(Object.entries(golden.sites).map(([id, result], i) => [id, { ...result, localError: 0.01 + ((i * 37) % 23) / 100, lossChange: ((i * 53) % 29) / 1000 }])) };
}
const scoresOf = ({ sites }: Evidence): Record<SiteId, SiteScores> => Object.fromEntries(Object.keys(sites).map((id, i) => [id, { firstOrder: /grad$/.test(id) ? null : ((i * 41) % 31) / 7, snip: ((i * 43) % 37) / 9 }]));

function question(recipe: RecipeName, evidence: Evidence, cost: CostRequest, priced: readonly RecipeName[], methods: readonly string[] | null = null): CompareQuestion {
  const { asked } = askProbes(MINI, { low: [{ format: recipe, evidence }], options: {}, provenance: PROVENANCE }, cost, {}, priced);
  return { asked, inputs: { graph: MINI, recipe, sites: asked.sites, evidence, scores: scoresOf(evidence), costs: asked.costs, groups: asked.groups, second: null }, budgets: BUDGETS, methods, given: [] };
}
const predictedIn = (asked: CompareQuestion, row: Compared['fixed'][number]): number => predict(asked.asked.sites, row.formats ?? {}, asked.inputs.evidence).predictedDeg ?? Infinity;

describe.each([['nvfp4', 'gemm'], ['fp8-out', 'cache']] as const)('%s', (recipe, kind) => {
  const asked = question(recipe, evidenceOf(recipe), { kind }, recipe === 'nvfp4' ? ['mxfp8'] : []);
  const compared = comparedPlans(asked);
  const { sites, costs } = asked.asked;

  it('ours is predicted to bend less than every plan within the same budget', () => {
    expect(compared.levels.filter(({ isAsked }) => isAsked).map(({ budget }) => budget)).toEqual(BUDGETS);
    for (const { rows, limit, budget } of compared.levels) {
      const [own, ...rivals] = rows;
      const within = [...rivals, ...compared.fixed].filter(({ formats }) => formats !== null && planCost(costs, sites, formats) <= limit);
      expect(planCost(costs, sites, own!.formats!)).toBeLessThanOrEqual(limit);
      for (const rival of within) expect(predictedIn(asked, own!), `${rival.method.id} at ${budget}`).toBeLessThanOrEqual(predictedIn(asked, rival) * (1 + 1e-12));
    }
  });

  it('every method of the recipe is there, with a plan or a reason; ours stands at what fixed plans cost', () => {
    expect(compared.methods.map(({ id }) => id).sort()).toEqual(['ours', ...methodIds(recipe)].sort());
    expect(compared.levels.flatMap(({ rows }) => rows).filter(({ formats }) => formats === null)).toEqual([]);
    for (const { method, formats, reason } of [...compared.fixed, ...compared.levels.flatMap(({ rows }) => rows)]) expect((formats === null) === (reason !== null && reason !== ''), method.id).toBe(true);
    for (const { formats } of compared.fixed) if (formats !== null) expect(compared.levels.some(({ limit }) => limit === planCost(costs, sites, formats))).toBe(true);
    const budgeted = baselinesFor(recipe).filter((method) => method.kind === 'budget').map(({ id }) => id);
    for (const { isAsked, rows } of compared.levels) expect(rows.map(({ method }) => method.id)).toEqual(isAsked ? ['ours', ...budgeted] : ['ours']);
    expect(compared.levels.map(({ limit }) => limit)).toEqual(compared.levels.map(({ limit }) => limit).toSorted((a, b) => a - b));
  });
});

it('only the methods that were asked for', () => {
  const { methods, fixed } = comparedPlans(question('nvfp4', evidenceOf('nvfp4'), { kind: 'gemm' }, [], ['all-low', 'random']));
  expect(methods.map(({ id }) => id)).toEqual(['ours', 'all-low', 'random']);
  expect(fixed).toHaveLength(1);
});

it('a format without a price, and a budget below what is not measured: a reason and no plan', () => {
  const evidence = evidenceOf('nvfp4');
  // Measured times of what was probed alone: the mixed plan's MXFP8 has none.
  const sites = costedSites(MINI, 'nvfp4');
  const sizes = [[8, 128, 384], [8, 384, 128], [128, 8, 384], [8, 128, 128], [128, 8, 128], [8, 128, 512], [8, 512, 128], [128, 8, 512], [512, 8, 128]];
  const rows = sizes.flatMap(([m, k, n]) => ['fprop', 'dgrad', 'wgrad'].flatMap((pass) => ['bf16', 'nvfp4'].map((format) => `${m},${k},${n},${pass},${format},${format === 'bf16' ? 8 : 2}`)));
  const times = parseGemmTimes(['m,k,n,pass,format,time_us', ...rows].join('\n'), 't.csv');
  expect(costTable(MINI, sites, ['nvfp4'], {}, { kind: 'time', times, shape: { sequences: 1, tokens: 8 } }).formats).toEqual(['bf16', 'nvfp4']);
  const timed = comparedPlans(question('nvfp4', evidence, { kind: 'time', times, shape: { sequences: 1, tokens: 8 } }, [], ['mixed', 'all-low']));
  expect(timed.fixed.map(({ method, reason }) => [method.id, reason])).toEqual([['all-low', null], ['mixed', 'no cost of mxfp8 is known']]);

  const half = { ...evidence, sites: Object.fromEntries(Object.entries(evidence.sites).filter((_, i) => i % 2 === 0)) };
  const { levels } = comparedPlans(question('nvfp4', half, { kind: 'gemm' }, [], []));
  expect(levels[0]?.rows[0]).toMatchObject({ formats: null, reason: expect.stringMatching(/of at most 0\.05, got 0\.\d+ at best \(36 of 72 sites are not measured/) });
});
