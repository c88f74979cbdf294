/**
 * Baselines: block protection against the table of formats.md 4.1, score methods against brute force over every plan, the
 * random one against its own rule, and what each says where measurements are missing.
 */
import { describe, expect, it } from 'vitest';
import type { RecipeName, SiteFormat, SiteId } from '../graph/policy';
import type { Measured, SiteResult, SiteScores } from '../graph/probe-record';
import { PASSES } from '../graph/types';
import { gpt2Graph } from '../models/gpt2';
import { sixteenPercent, splitBlocks } from './baseline-blocks';
import { BASELINES, baselinesFor, isReason, RANDOM_SEED, type BaselineInputs } from './baselines';
import { costedSites, formatOf, planTotals, type CostedSite, type Formats } from './cost';
import { costTable, planCost, type CostRequest } from './costs';
import { random } from './solver-fixture';

/** Needs no measurement. */
const effectiveBits = (sites: readonly CostedSite[], formats: Formats, options: Parameters<typeof planTotals>[3]): number => planTotals(sites, formats, { sites: {}, floor: null }, options).effectiveBits;

const graphOf = (layers: number) => gpt2Graph({ model: 'gpt2', layers, width: 64, heads: 1, positions: 64, vocabulary: 64, eps: 1e-5 });
const measured = (lossChange: number, localError: number | null): Measured => ({
  status: 'measured', angleDeg: 1, cleanAngleDeg: 1, angleSeDeg: null, belowNoise: false, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange, localError,
  blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 0,
});
const FAILED: SiteResult = { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' };

/** Random results and scores, in multiples of 1/1024 so that sums are exact. */
function inputsOf(layers: number, recipe: RecipeName = 'nvfp4', seed = 1, cost: CostRequest = { kind: recipe === 'fp8-out' ? 'cache' : 'gemm' }): BaselineInputs {
  const graph = graphOf(layers);
  const sites = costedSites(graph, recipe);
  const next = random(seed);
  const draw = (low: number): number => Math.floor(1024 * (low + next())) / 1024;
  const results = (): Record<SiteId, SiteResult> => Object.fromEntries(sites.map(({ id }) => [id, measured(draw(-0.3), draw(0))]));
  const scores = Object.fromEntries(sites.map(({ id, pass }): [SiteId, SiteScores] => [id, { firstOrder: pass === 'dgrad' || pass === 'wgrad' ? null : draw(0), snip: draw(0) }]));
  const formats: readonly RecipeName[] = recipe === 'fp8-out' ? [recipe] : [recipe, 'mxfp8'];
  const own = results();
  return { graph, recipe, sites, evidence: { sites: own, floor: null, byFormat: { mxfp8: results(), [recipe]: own } }, scores, costs: costTable(graph, sites, formats, {}, cost), groups: [] };
}

const methodOf = (id: string) => BASELINES.find((method) => method.id === id)!;
function planOf(id: string, inputs: BaselineInputs, budget = 0): Formats {
  const made = methodOf(id).formats(inputs, budget);
  if (isReason(made)) throw new Error(`${id}: ${made.reason}`);
  return made;
}
const highOf = (formats: Formats): SiteId[] => Object.entries(formats).flatMap(([id, format]) => (format === 'bf16' ? [id] : []));
const layersHigh = (formats: Formats): number[] => [...new Set(highOf(formats).map((id) => Number(/^h\.(\d+)\./.exec(id)![1])))];

describe('the table', () => {
  it('lists the methods of a recipe, each once', () => {
    expect(baselinesFor('nvfp4').map(({ id }) => id)).toEqual(['all-low', 'all-high', 'fprop-high', 'dgrad-high', 'wgrad-high', 'block-16', 'block', 'last-20', 'megatron', 'fp8-paper', 'mixed', 'local-error', 'loss', 'first-order', 'snip', 'random']);
    expect(baselinesFor('mxfp8').map(({ id }) => id)).toEqual(baselinesFor('nvfp4').map(({ id }) => id).filter((id) => id !== 'mixed'));
    expect(baselinesFor('fp8-out').map(({ id }) => id)).toEqual(['all-low', 'all-high', 'fixed', 'local-error', 'loss', 'first-order', 'snip', 'random']);
    expect(new Set(BASELINES.map(({ id }) => id)).size).toBe(BASELINES.length);
    for (const { sentence, name } of BASELINES) expect([sentence.endsWith('.'), sentence === name]).toEqual([true, false]);
  });

  it.each(['nvfp4', 'fp8-out'] as const)('gives every site of %s a format, within the budget where there is one', (recipe) => {
    const inputs = inputsOf(6, recipe);
    const all = planCost(inputs.costs, inputs.sites, planOf('all-high', inputs));
    for (const { id, kind } of baselinesFor(recipe)) {
      for (const share of [0, 0.1, 0.5, 1]) {
        const formats = planOf(id, inputs, share * all);
        expect(Object.keys(formats), id).toEqual(inputs.sites.map((site) => site.id));
        if (kind === 'fixed') expect(formats, id).toEqual(planOf(id, inputs, 0));
        else if (id !== 'mixed') expect(planCost(inputs.costs, inputs.sites, formats), id).toBeLessThanOrEqual(share * all);
      }
    }
  });

  it('holds the fixed plans of method.md 7', () => {
    const inputs = inputsOf(6);
    const work = (id: string): number => planTotals(inputs.sites, planOf(id, inputs), inputs.evidence, {}).hpShare;
    expect(['all-low', 'all-high', 'fprop-high', 'dgrad-high', 'wgrad-high'].map(work)).toEqual([0, 1, 1 / 3, 1 / 3, 1 / 3]);
    for (const pass of PASSES) expect(highOf(planOf(`${pass}-high`, inputs))).toEqual(inputs.sites.filter((site) => site.pass === pass).map((site) => site.id));
    const outs = inputsOf(6, 'fp8-out');
    expect(highOf(planOf('fixed', outs))).toEqual(outs.sites.filter((site) => site.inFixedPolicy).map((site) => site.id));
  });

  it('runs the MLP in NVFP4 and attention in MXFP8', () => {
    const inputs = inputsOf(2);
    const formats = planOf('mixed', inputs);
    expect([...new Set(inputs.sites.map(({ id, node }) => `${node.replace(/^h\.\d\./, '')} ${formats[id]}`))]).toEqual(['attn.c_attn mxfp8', 'attn.c_proj mxfp8', 'mlp.c_fc nvfp4', 'mlp.c_proj nvfp4']);
    // 4 of 12 C^2 in MXFP8 at 8.25 bits, 8 in NVFP4 at 4.34375.
    expect(effectiveBits(inputs.sites, formats, {})).toBeCloseTo((4 * 8.25 + 8 * 4.34375) / 12, 12);
  });
});

describe('block protection', () => {
  it.each([[6, 0, 1], [12, 0, 2], [24, 1, 3], [36, 1, 5], [48, 2, 6], [62, 2, 8], [1, 0, 1]])('of %i layers keeps the first %i and the last %i', (layers, first, last) => {
    expect(sixteenPercent(layers)).toEqual({ first, last });
    const formats = planOf('block-16', inputsOf(layers));
    expect(layersHigh(formats)).toEqual([...Array.from({ length: first }, (_, i) => i), ...Array.from({ length: last }, (_, i) => layers - last + i)]);
    expect(highOf(formats)).toHaveLength(12 * (first + last));
  });

  it('splits any number of layers, halves up', () => {
    expect(Array.from({ length: 14 }, (_, n) => splitBlocks(n).first)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]);
    for (let n = 0; n < 70; n++) expect(splitBlocks(n).first + splitBlocks(n).last).toBe(n);
  });

  it('has the presets of the papers, on few layers too', () => {
    const high = (id: string, layers: number): number[] => layersHigh(planOf(id, inputsOf(layers)));
    expect(['last-20', 'megatron', 'fp8-paper'].map((id) => high(id, 6))).toEqual([[4, 5], [0, 5], [0, 4, 5]]);
    expect(high('last-20', 11)).toEqual([8, 9, 10]);
    expect(high('last-20', 20)).toEqual([16, 17, 18, 19]);
    expect(['last-20', 'megatron', 'fp8-paper'].map((id) => high(id, 2))).toEqual([[1], [0, 1], [0, 1]]);
  });

  it('takes the most layers that the budget pays for', () => {
    const inputs = inputsOf(10, 'nvfp4', 1, { kind: 'bits' });
    const [none, all] = [planCost(inputs.costs, inputs.sites, planOf('all-low', inputs)), planCost(inputs.costs, inputs.sites, planOf('all-high', inputs))];
    for (let n = 0; n <= 10; n++) {
      const cost = none + (n * (all - none)) / 10;
      expect(layersHigh(planOf('block', inputs, cost))).toHaveLength(n);
      if (n > 0) expect(layersHigh(planOf('block', inputs, cost - 1))).toHaveLength(n - 1);
    }
    expect(layersHigh(planOf('block', inputs, none + 0.85 * (all - none)))).toEqual([0, 1, 4, 5, 6, 7, 8, 9]);
    expect(methodOf('block').formats(inputs, none - 1)).toEqual({ reason: 'even everything low costs more than the budget' });
    expect(methodOf('random').formats(inputs, none - 1)).toEqual({ reason: 'even everything low costs more than the budget' });
  });
});

const SCORES = ['local-error', 'loss', 'first-order', 'snip'] as const;

/** A score by its definition in formats.md 7, read here again. */
function scoreOf(id: (typeof SCORES)[number], { evidence, scores }: BaselineInputs, site: SiteId): number {
  const result = evidence.sites[site] as Measured;
  if (id === 'local-error') return result.localError!;
  if (id === 'loss') return result.lossChange;
  return (id === 'snip' ? scores[site]!.snip : scores[site]!.firstOrder) ?? 0;
}

describe('score methods', () => {
  it.each(SCORES)('%s keeps what scores most, exactly, and scores any plan', (id) => {
    for (let seed = 1; seed <= 6; seed++) {
      const plain = inputsOf(1, 'nvfp4', seed);
      const inputs = seed % 2 === 0 ? { ...plain, groups: [['h.0.attn.c_attn:fprop', 'h.0.attn.c_proj:fprop'], ['h.0.mlp.c_fc:dgrad', 'h.0.mlp.c_fc:wgrad']] } : plain;
      const { sites, costs, groups } = inputs;
      const all = sites.reduce((sum, site) => sum + costs.of(site.id, 'bf16'), 0);
      const plans = Array.from({ length: 4096 }, (_, mask): Formats => Object.fromEntries(sites.map((site, i): [SiteId, SiteFormat] => [site.id, (mask >> i) & 1 ? 'bf16' : 'nvfp4'])))
        .filter((formats) => groups.every((group) => new Set(group.map((site) => formats[site])).size === 1));
      const lowSum = (formats: Formats, floor: number): number => sites.reduce((sum, site) => sum + (formats[site.id] === 'bf16' ? 0 : Math.max(floor, scoreOf(id, inputs, site.id))), 0);
      for (const share of [0.1, 0.33, 0.7]) {
        const budget = Math.floor(share * all);
        const formats = planOf(id, inputs, budget);
        const least = Math.min(...plans.filter((plan) => planCost(costs, sites, plan) <= budget).map((plan) => lowSum(plan, 0)));
        expect(lowSum(formats, 0)).toBe(least);
        expect(methodOf(id).score(inputs, formats)).toBe(lowSum(formats, -Infinity));
      }
      expect(methodOf(id).score(inputs, planOf('all-high', inputs))).toBe(0);
    }
  });

  it('first order sees forward passes only: backward ones run low and score nothing', () => {
    const inputs = inputsOf(2);
    const formats = planOf('first-order', inputs, 1e9);
    expect(highOf(formats)).toEqual(inputs.sites.filter(({ pass }) => pass === 'fprop').map(({ id }) => id));
    expect(methodOf('first-order').score(inputs, planOf('fprop-high', inputs))).toBe(0);
  });

  it('need every site measured, and keep those that failed in BF16', () => {
    const inputs = inputsOf(2);
    const [a, b] = ['h.0.mlp.c_fc:fprop', 'h.1.mlp.c_fc:fprop'] as const;
    const without = <T>(record: Readonly<Record<SiteId, T>>, ...ids: readonly SiteId[]): Record<SiteId, T> => Object.fromEntries(Object.entries(record).filter(([id]) => !ids.includes(id)));
    const fewer: BaselineInputs = { ...inputs, evidence: { ...inputs.evidence, sites: without(inputs.evidence.sites, a, b) }, scores: without(inputs.scores, a) };
    expect(SCORES.map((id) => methodOf(id).formats(fewer, 100))).toEqual([{ reason: 'needs 2 sites measured' }, { reason: 'needs 2 sites measured' }, { reason: 'needs 1 site measured' }, { reason: 'needs 1 site measured' }]);
    expect(SCORES.map((id) => methodOf(id).score(fewer, planOf('all-low', fewer)))).toEqual([null, null, null, null]);
    const failed: BaselineInputs = { ...inputs, evidence: { ...inputs.evidence, sites: { ...inputs.evidence.sites, [a]: FAILED } }, scores: { ...inputs.scores, [a]: { firstOrder: null, snip: null } } };
    for (const id of SCORES) {
      expect(planOf(id, failed, 40)[a], id).toBe('bf16');
      expect(methodOf(id).score(failed, planOf('all-low', failed)), id).toBeNull();
      expect(methodOf(id).score(failed, planOf('fprop-high', failed)), id).not.toBeNull();
      expect(methodOf(id).formats(failed, 0), id).toEqual({ reason: 'its cheapest plan costs more than the budget' });
    }
    const unasked: BaselineInputs = { ...inputs, evidence: { sites: { ...inputs.evidence.sites, [a]: measured(0, null) }, floor: null } };
    expect(methodOf('local-error').formats(unasked, 100)).toEqual({ reason: 'needs 1 site measured' });
  });

  it('take a second format where they have a score in it', () => {
    const inputs: BaselineInputs = { ...inputsOf(1, 'nvfp4', 3, { kind: 'time' }), second: 'mxfp8' };
    const { sites, costs, evidence } = inputs;
    const budget = costs.costOf(0.6);
    const names = ['bf16', 'mxfp8', 'nvfp4'] as const;
    const errorOf = (id: SiteId, format: SiteFormat): number => (format === 'bf16' ? 0 : (evidence.byFormat![format]![id] as Measured).localError!);
    // Dense over every cost: the least sum of local errors.
    let least = new Map<number, number>([[0, 0]]);
    for (const { id } of sites) {
      const next = new Map<number, number>();
      for (const [cost, sum] of least) for (const format of names) next.set(cost + costs.of(id, format), Math.min(next.get(cost + costs.of(id, format)) ?? Infinity, sum + errorOf(id, format)));
      least = next;
    }
    const formats = planOf('local-error', inputs, budget);
    expect(new Set(Object.values(formats)).has('mxfp8')).toBe(true);
    expect(methodOf('local-error').score(inputs, formats)).toBe(Math.min(...[...least].filter(([cost]) => cost <= budget).map(([, sum]) => sum)));
    // Scores of the reference run are of the recipe alone.
    expect(new Set(sites.filter(({ pass }) => pass === 'fprop').map(({ id }) => formatOf(planOf('first-order', inputs, budget), id))).has('mxfp8')).toBe(false);
    expect(methodOf('snip').score(inputs, formats)).toBeNull();
  });
});

describe('random plans', () => {
  it('fill the budget in one order that the seed gives', () => {
    const inputs = { ...inputsOf(4), groups: [['h.0.attn.c_attn:fprop', 'h.3.mlp.c_fc:wgrad']] };
    const { sites, costs } = inputs;
    expect(methodOf('random').name).toContain(`seed ${RANDOM_SEED}`);
    const all = planCost(costs, sites, planOf('all-high', inputs));
    for (const share of [0.05, 0.2, 0.5, 0.8]) {
      const formats = planOf('random', inputs, share * all);
      expect(planOf('random', inputs, share * all)).toEqual(formats);
      expect(formats['h.0.attn.c_attn:fprop']).toBe(formats['h.3.mlp.c_fc:wgrad']);
      const left = share * all - planCost(costs, sites, formats);
      const cheapest = Math.min(...sites.filter(({ id }) => formats[id] !== 'bf16' && !inputs.groups[0]!.includes(id)).map(({ id }) => costs.of(id, 'bf16')));
      expect([left >= 0, left < cheapest]).toEqual([true, true]);
    }
    // Not the first sites, and not the same share of every pass.
    const half = highOf(planOf('random', inputs, 0.5 * all));
    expect(half).not.toEqual(sites.slice(0, half.length).map(({ id }) => id));
    expect(half.length).toBeGreaterThan(12);
  });
});
