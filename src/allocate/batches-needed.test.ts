/** How little data is enough: every row against subsets enumerated, pooled and solved by brute force here. */
import { describe, expect, it } from 'vitest';
import type { SiteFormat, SiteId } from '../graph/policy';
import type { Measured, NoiseFloor, SiteResult } from '../graph/probe-record';
import { PASSES } from '../graph/types';
import { gpt2Graph } from '../models/gpt2';
import { batchesNeeded, type BatchesInput } from './batches-needed';
import type { CostedSite, Evidence } from './cost';
import { costTable } from './costs';
import type { Plan } from './plan';
import { random } from './solver-fixture';

const GRAPH = gpt2Graph({ model: 'x', layers: 1, width: 64, heads: 1, positions: 64, vocabulary: 64, eps: 1e-5 });
const SITES = Array.from({ length: 7 }, (_, i): CostedSite => ({ id: `s${i}`, node: `n${i}`, pass: PASSES[i % 3]!, cost: 1 + (i % 4), inFixedPolicy: false }));
const PLAN: Plan = { name: '', notes: '', formats: Object.fromEntries(SITES.map(({ id }) => [id, 'nvfp4'])), locked: { s3: true } };
const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;
const degrees = (t: number): number => (Math.atan(Math.sqrt(t)) * 180) / Math.PI;
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

const measuredOver = (anglesDeg: readonly number[], floorDeg: number): Measured => ({
  status: 'measured', angleDeg: degrees(mean(anglesDeg.map(tan2))), cleanAngleDeg: degrees(Math.max(0, mean(anglesDeg.map(tan2)) - tan2(floorDeg))), angleSeDeg: 0, belowNoise: false,
  relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0, localError: null, blockAngleDeg: {}, layerAngleDeg: {}, elapsedMs: 0,
  perBatch: anglesDeg.map((angleDeg) => ({ angleDeg, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0, localError: null })),
});

interface Raw {
  readonly angles: readonly (readonly number[])[];
  readonly forward: readonly number[];
  readonly joint: readonly number[];
}

/** Angles by site and batch, two forward and one backward run of the floor a batch. */
function raw(batches: number, seed: number): Raw {
  const next = random(seed);
  const draws = (count: number, size: number): number[] => Array.from({ length: count }, () => size * (0.5 + next()));
  return { angles: SITES.map((_, i) => draws(batches, 1 + (i * 5) % 7)), forward: draws(2 * batches, 0.4), joint: draws(batches, 8) };
}

const passFloor = (pass: CostedSite['pass'], forward: number): number => (pass === 'fprop' ? forward : 0);
const floorOf = ({ forward }: Raw, subset: readonly number[]): number => degrees(mean(forward.filter((_, i) => subset.includes(i >> 1)).map(tan2)));

function inputOf(given: Raw, limit: BatchesInput['limit']): BatchesInput {
  const all = given.joint.map((_, batch) => batch);
  const forwardDeg = floorOf(given, all);
  const floor: NoiseFloor = { forwardDeg, backwardDeg: 0, perRun: given.forward.map((angleDeg, i) => ({ batch: i >> 1, node: `${i & 1}`, what: 'y', angleDeg })) };
  const sites = Object.fromEntries(SITES.map(({ id, pass }, i): [SiteId, SiteResult] => [id, measuredOver(given.angles[i]!, passFloor(pass, forwardDeg))]));
  const evidence: Evidence = { floor, sites };
  return { asked: { sites: SITES, low: [{ format: 'nvfp4', evidence }], costs: costTable(GRAPH, SITES, ['nvfp4'], {}, { kind: 'gemm' }), groups: [] }, plan: PLAN, limit, joint: measuredOver(given.joint, 0) };
}

/** Clean tan^2 by site and the floor, of a subset. */
function pooled(given: Raw, subset: readonly number[]): { readonly clean: readonly number[]; readonly floor: number } {
  const floor = floorOf(given, subset);
  return { floor, clean: SITES.map(({ pass }, i) => Math.max(0, mean(subset.map((batch) => tan2(given.angles[i]![batch]!))) - tan2(passFloor(pass, floor)))) };
}

const bendOf = (high: readonly boolean[], { clean, floor }: ReturnType<typeof pooled>): number =>
  SITES.reduce((sum, _, i) => sum + (high[i] ? 0 : clean[i]!), 0) + (SITES.some(({ pass }, i) => !high[i] && pass === 'fprop') ? tan2(floor) : 0);
const costOf = (high: readonly boolean[]): number => SITES.reduce((sum, site, i) => sum + (high[i] ? site.cost : 0), 0);

/** The cheapest plan within the target that a subset predicts, s3 low, by trying all of them. */
function bestPlan(given: Raw, subset: readonly number[], target: number): boolean[] {
  const facts = pooled(given, subset);
  const plans = Array.from({ length: 2 ** SITES.length }, (_, mask) => SITES.map((_, i) => ((mask >> i) & 1) === 1)).filter((high) => !high[3]);
  const within = plans.filter((high) => bendOf(high, facts) <= tan2(target) * (1 + 1e-9));
  return within.toSorted((a, b) => costOf(a) - costOf(b) || bendOf(a, facts) - bendOf(b, facts))[0]!;
}

const subsets = (total: number, k: number): number[][] => Array.from({ length: 2 ** total }, (_, mask) => Array.from({ length: total }, (_, i) => i).filter((i) => (mask >> i) & 1)).filter((subset) => subset.length === k);
const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
};

describe('rows by number of batches', () => {
  it('are those of all subsets of five batches', () => {
    const given = raw(5, 3);
    const all = [0, 1, 2, 3, 4];
    const target = 6;
    const rows = batchesNeeded(inputOf(given, { angleDeg: target }));
    const reference = bestPlan(given, all, target);
    expect(rows.map(({ batches, subsets: count, isComplete }) => [batches, count, isComplete])).toEqual([[1, 5, true], [2, 10, true], [3, 10, true], [4, 5, true], [5, 1, true]]);
    for (const row of rows) {
      const chosen = subsets(5, row.batches);
      const plans = chosen.map((subset) => bestPlan(given, subset, target));
      const expected = {
        predictedDeg: plans.map((high) => degrees(bendOf(high, pooled(given, all)))),
        cost: plans.map(costOf),
        cellsChanged: plans.map((high) => high.filter((is, i) => is !== reference[i]).length),
        jointDeg: chosen.map((subset) => degrees(mean(subset.map((batch) => tan2(given.joint[batch]!))))),
      };
      for (const [name, values] of Object.entries(expected)) {
        const spread = row[name as keyof typeof expected]!;
        expect(spread.median, `${name} of ${row.batches}`).toBeCloseTo(median(values), 9);
        expect(spread.least, `${name} of ${row.batches}`).toBeCloseTo(Math.min(...values), 9);
        expect(spread.most, `${name} of ${row.batches}`).toBeCloseTo(Math.max(...values), 9);
      }
    }
    expect(rows[0]!.cellsChanged.most).toBeGreaterThan(0);
    expect(rows[4]!.cellsChanged).toEqual({ median: 0, least: 0, most: 0 });
  });

  it('are those of 20 drawn subsets where there are more, the same at every call', () => {
    const input = inputOf(raw(7, 4), { cost: 6 });
    const rows = batchesNeeded(input);
    expect(rows.map(({ subsets: count, isComplete }) => [count, isComplete])).toEqual([[7, true], [20, false], [20, false], [20, false], [20, false], [7, true], [1, true]]);
    expect(batchesNeeded(input)).toEqual(rows);
    for (const row of rows) {
      expect(row.cost.most).toBeLessThanOrEqual(6);
      const angles = subsets(7, row.batches).map((subset) => degrees(mean(subset.map((batch) => tan2(raw(7, 4).joint[batch]!)))));
      expect(row.jointDeg!.least).toBeGreaterThanOrEqual(Math.min(...angles) - 1e-9);
      expect(row.jointDeg!.most).toBeLessThanOrEqual(Math.max(...angles) + 1e-9);
      // 20 different ones of up to 35 do not all lie on one side.
      expect(row.jointDeg!.least).toBeLessThanOrEqual(row.jointDeg!.median);
    }
  });

  it('are none without single batches, and say what they cannot', () => {
    const input = inputOf(raw(3, 5), { angleDeg: 5 });
    const { evidence } = input.asked.low[0]!;
    const withSite = (id: SiteId, result: SiteResult): BatchesInput => ({ ...input, asked: { ...input.asked, low: [{ format: 'nvfp4', evidence: { ...evidence, sites: { ...evidence.sites, [id]: result } } }] } });
    const first = evidence.sites['s0']! as Measured;
    expect(batchesNeeded(withSite('s0', { ...first, perBatch: [] }))).toEqual([]);
    expect(batchesNeeded({ ...input, asked: { ...input.asked, low: [{ format: 'nvfp4', evidence: { sites: {}, floor: null } }] } })).toEqual([]);
    const failed = batchesNeeded(withSite('s0', { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' }));
    expect(failed.map(({ predictedDeg }) => predictedDeg !== null)).toEqual([true, true, true]);
    // s3 is locked low: without a result of it nothing is predicted.
    expect(batchesNeeded(withSite('s3', { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' })).map(({ predictedDeg }) => predictedDeg)).toEqual([null, null, null]);
    expect(batchesNeeded({ ...input, joint: null }).map(({ jointDeg }) => jointDeg)).toEqual([null, null, null]);
  });

  it('take a second format from its own batches', () => {
    const input = inputOf(raw(3, 6), { cost: 20 });
    const { evidence } = input.asked.low[0]!;
    const gentle = Object.fromEntries(SITES.map(({ id }, i): [SiteId, SiteResult] => [id, measuredOver(raw(3, 6).angles[i]!.map((deg) => deg / 20), 0)]));
    const both: Evidence = { ...evidence, byFormat: { nvfp4: evidence.sites, mxfp8: gentle } };
    const costs = costTable(GRAPH, SITES, ['mxfp8', 'nvfp4'], {}, { kind: 'time', ratios: { mxfp8: 0.5, nvfp4: 0.25 } });
    const asked = { sites: SITES, low: [{ format: 'mxfp8', evidence: both } as const, { format: 'nvfp4', evidence: both } as const], costs, groups: [] };
    const budget = costs.costOf(0.5);
    const rows = batchesNeeded({ ...input, asked, limit: { cost: budget } });
    const low: Record<SiteId, SiteFormat> = Object.fromEntries(SITES.map(({ id }) => [id, id === 's3' ? 'nvfp4' : 'mxfp8']));
    // Everything in MXFP8 but the locked site costs less than half, and nothing bends less for it.
    expect(rows.every(({ cost }) => cost.most <= budget && cost.least >= 0.9 * budget)).toBe(true);
    const sum = SITES.reduce((total, { id }) => total + tan2((low[id] === 'nvfp4' ? (both.sites[id] as Measured) : (gentle[id] as Measured)).cleanAngleDeg), tan2(evidence.floor!.forwardDeg));
    expect(rows.at(-1)!.predictedDeg!.most).toBeLessThanOrEqual(degrees(sum) + 1e-9);
  });
});
