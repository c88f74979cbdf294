/**
 * The whole frontier of two formats at the size of GPT-2 large: against a dense dynamic programme and the fractional bound,
 * and what sites that cost nothing or were not measured do to it.
 */
import { describe, expect, it } from 'vitest';
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { poseQuestion, type SiteChoice } from './choices';
import { bendAtMost, solveChoices, spendAtMost, type ChoiceFrontier } from './frontier';
import { random, twoFormats } from './solver-fixture';

const solve = (sites: readonly SiteChoice[]): ChoiceFrontier => solveChoices(poseQuestion(sites));
const highAt = (frontier: ChoiceFrontier, index: number): string[] => Object.entries(frontier.formatsAt(index)).flatMap(([id, format]) => (format === 'bf16' ? [id] : []));
const highOf = ({ offers }: SiteChoice): number => offers[0]!.cost;
const lowOf = ({ offers }: SiteChoice): number => offers[1]!.tan2!;

describe('sites that cost nothing', () => {
  it('are HP in every efficient plan, those that bend nothing too, unless a lock keeps them low', () => {
    const frontier = solve(twoFormats([
      { id: 'a', cost: 4, tan2: 0.5 }, { id: 'free', cost: 0, tan2: 0.25 }, { id: 'b', cost: 2, tan2: 0.125 }, { id: 'nothing', cost: 0, tan2: 0 },
      { id: 'held', cost: 0, tan2: 0.0625, lock: 'nvfp4' }, { id: 'unmeasured', cost: 0, tan2: null },
    ]));
    expect(frontier.points.map(({ cost, tan2 }) => [cost, tan2])).toEqual([[0, 0.6875], [2, 0.5625], [4, 0.1875], [6, 0.0625]]);
    expect(highAt(frontier, 0)).toEqual(['free', 'nothing', 'unmeasured']);
    expect(highAt(frontier, 3)).toEqual(['a', 'free', 'b', 'nothing', 'unmeasured']);
    expect(frontier.totalCost).toBe(6);
  });

  it('alone make one plan, and lift the floor when they are all that carries it', () => {
    expect(solve(twoFormats([{ cost: 0, tan2: 0.5 }, { cost: 0, tan2: 0 }])).points).toEqual([{ cost: 0, tan2: 0, angleDeg: 0 }]);
    const frontier = solve(twoFormats([{ cost: 0, tan2: 0, floorTan2: 0.25 }, { cost: 3, tan2: 0.5 }]));
    expect(frontier.points.map(({ cost, tan2 }) => [cost, tan2])).toEqual([[0, 0.5], [3, 0]]);
    expect(spendAtMost(frontier, 0)).toMatchObject({ index: 0, feasible: true });
  });
});

describe('the frontier at full size', () => {
  /** GPT-2 large: 36 layers x 4 linears x 3 passes, costs in units of C^2. */
  function large(seed: number, layers = 36, isFloored = true): SiteChoice[] {
    const next = random(seed);
    return twoFormats(Array.from({ length: layers }, (_, layer) => [3, 1, 4, 4].flatMap((size, linear) => [0.15, 0.03, 0].map((floorDeg, pass) => (
      { id: `h.${layer}.${linear}:${pass}`, cost: size * 2 * 1280 * 1280, tan2: tanSquared(0.05 + 7 * next() ** 3), floorTan2: isFloored ? tanSquared(floorDeg) : 0 }
    )))).flat());
  }

  it('agrees with a dense dynamic programme at every integer cost', () => {
    const sites = large(3, 12, false);
    const unit = 2 * 1280 * 1280;
    const total = sites.reduce((sum, site) => sum + highOf(site), 0) / unit;
    const removed = new Float64Array(total + 1);
    for (const site of sites) {
      const cost = highOf(site) / unit;
      for (let c = total; c >= cost; c--) removed[c] = Math.max(removed[c]!, removed[c - cost]! + lowOf(site));
    }
    const all = sites.reduce((sum, site) => sum + lowOf(site), 0);
    const frontier = solve(sites);
    for (let budget = 0; budget <= total; budget++) {
      expect(spendAtMost(frontier, budget * unit).point.tan2).toBeCloseTo(all - removed[budget]!, 12);
    }
  });

  it('stays within one site of the fractional bound', () => {
    const sites = large(4, 36, false);
    const frontier = solve(sites);
    const dense = sites.toSorted((a, b) => lowOf(b) / highOf(b) - lowOf(a) / highOf(a));
    const all = sites.reduce((sum, site) => sum + lowOf(site), 0);
    for (const share of [0.01, 0.1, 0.33, 0.5, 0.9]) {
      const budget = share * frontier.totalCost;
      let left = budget;
      let bound = 0;
      let lastValue = 0;
      for (const site of dense) {
        lastValue = lowOf(site);
        const part = Math.min(1, left / highOf(site));
        bound += part * lastValue;
        left -= part * highOf(site);
        if (left <= 0) break;
      }
      const removed = all - spendAtMost(frontier, budget).point.tan2;
      expect(removed).toBeLessThanOrEqual(bound + 1e-12);
      expect(removed).toBeGreaterThanOrEqual(bound - lastValue - 1e-12);
    }
  });

  it('rebuilds plans whose cost and angle are those of their point', () => {
    const sites = large(5);
    const frontier = solve(sites);
    for (let i = 0; i < frontier.points.length; i += 97) {
      const high = new Set(highAt(frontier, i));
      const low = sites.filter((site) => !high.has(site.id));
      const tan2 = low.reduce((sum, site) => sum + lowOf(site), Math.max(0, ...low.map(({ offers }) => offers[1]!.floorTan2)));
      const cost = sites.filter((site) => high.has(site.id)).reduce((sum, site) => sum + highOf(site), 0);
      expect(frontier.points[i]!.cost).toBe(cost);
      expect(Math.abs(frontier.points[i]!.tan2 - tan2)).toBeLessThanOrEqual(1e-12);
      expect(bendAtMost(frontier, angleOfTanSquared(tan2)).index).toBe(i);
    }
  });

  it('takes costs of no common size', () => {
    const next = random(6);
    const frontier = solve(twoFormats(Array.from({ length: 60 }, () => ({ cost: 1 + Math.floor(next() * 1e6), tan2: next() ** 4 }))));
    expect(frontier.points.at(-1)!.cost).toBe(frontier.totalCost);
    expect(frontier.points.at(-1)!.tan2).toBe(0);
    const choice = spendAtMost(frontier, frontier.totalCost / 3);
    expect(highAt(frontier, choice.index).length).toBeGreaterThan(0);
  });
});

describe('sites without a measurement', () => {
  it('stay HP and are named; a lock to low is obeyed and named', () => {
    const frontier = solve(twoFormats([{ id: 'a', cost: 2, tan2: 0.5 }, { id: 'b', cost: 2, tan2: null }, { id: 'c', cost: 2, tan2: Infinity, lock: 'nvfp4' }]));
    expect(frontier.unpredicted).toEqual([{ id: 'b', formats: ['nvfp4'], kept: null }, { id: 'c', formats: ['nvfp4'], kept: 'nvfp4' }]);
    expect(highAt(frontier, 0)).toEqual(['b']);
    expect(highAt(frontier, 1)).toEqual(['a', 'b']);
  });
});
