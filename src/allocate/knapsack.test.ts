/**
 * The solver against brute force over every set (ties, zeros, locks, floors, unmeasured sites), against an independent
 * dense dynamic programme and the fractional bound on large instances, and its speed at the size a drag meets.
 */
import { describe, expect, it } from 'vitest';
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { bendAtMost, solveFrontier, spendAtMost } from './knapsack';
import type { KnapsackItem } from './knapsack';
import { random } from './solver-fixture';

interface Plan {
  readonly cost: number;
  readonly tan2: number;
  readonly high: readonly boolean[];
}

/** Every allowed plan, in the order "earlier sites HP first". Dyadic tan^2, so float sums are exact here too. */
function everyPlan(items: readonly KnapsackItem[]): Plan[] {
  const plans: Plan[] = [];
  for (let mask = 2 ** items.length - 1; mask >= 0; mask--) {
    const high = items.map((_, i) => ((mask >> (items.length - 1 - i)) & 1) === 1);
    const allowed = items.every((item, i) => (item.lock === null ? item.tan2 !== null || high[i] : high[i] === (item.lock === 'high')));
    if (!allowed) continue;
    let cost = 0;
    let sum = 0;
    let floor = 0;
    items.forEach((item, i) => {
      if (high[i]) cost += item.cost;
      else {
        sum += item.tan2 ?? 0;
        floor = Math.max(floor, item.floorTan2);
      }
    });
    plans.push({ cost, tan2: sum + floor, high });
  }
  return plans;
}

/** The first plan of the list that no other beats by `better`. */
function best(plans: readonly Plan[], better: (a: Plan, b: Plan) => boolean): Plan | undefined {
  return plans.reduce<Plan | undefined>((winner, plan) => (winner === undefined || better(plan, winner) ? plan : winner), undefined);
}

function randomItems(next: () => number): KnapsackItem[] {
  const count = 1 + Math.floor(next() * 10);
  const kinds = [1, 3, 4][Math.floor(next() * 3)]!;
  const floors = [next() < 0.5 ? 0 : 6 / 1024, next() < 0.5 ? 0 : 2 / 1024, 0];
  return Array.from({ length: count }, (_, i) => ({
    id: `s${i}`,
    cost: next() < 0.2 ? 0 : 6 * (1 + Math.floor(next() * kinds)),
    tan2: next() < 0.1 ? null : Math.floor(next() * (next() < 0.5 ? 4 : 200)) / 1024,
    floorTan2: floors[Math.floor(next() * 3)]!,
    lock: next() < 0.15 ? 'high' : next() < 0.15 ? 'low' : null,
  }));
}

describe('the knapsack against brute force', () => {
  it('finds every efficient plan of 400 random instances, with the earlier sites HP on a tie', () => {
    const next = random(1);
    for (let round = 0; round < 400; round++) {
      const items = randomItems(next);
      const plans = everyPlan(items);
      const frontier = solveFrontier(items);
      const expected: { cost: number; tan2: number; high: string[] }[] = [];
      for (const cost of [...new Set(plans.map((plan) => plan.cost))].sort((a, b) => a - b)) {
        const plan = best(plans.filter((p) => p.cost === cost), (a, b) => a.tan2 < b.tan2)!;
        const last = expected.at(-1);
        if (last === undefined || plan.tan2 < last.tan2) expected.push({ cost, tan2: plan.tan2, high: items.filter((_, i) => plan.high[i]).map((item) => item.id) });
      }
      const found = frontier.points.map((point, i) => ({ cost: point.cost, tan2: point.tan2, high: frontier.highAt(i) }));
      expect(found, JSON.stringify(items)).toEqual(expected);
    }
  });

  it('spends at most a budget and bends at most a target, and says when locks forbid it', () => {
    const next = random(2);
    for (let round = 0; round < 300; round++) {
      const items = randomItems(next);
      const plans = everyPlan(items);
      const frontier = solveFrontier(items);
      const budget = Math.floor(next() * 80);
      const affordable = plans.filter((plan) => plan.cost <= budget);
      const spend = best(affordable, (a, b) => a.tan2 < b.tan2 || (a.tan2 === b.tan2 && a.cost < b.cost));
      const spent = spendAtMost(frontier, budget);
      expect(spent.feasible).toBe(spend !== undefined);
      expect(spent.point.cost).toBe(spend?.cost ?? Math.min(...plans.map((plan) => plan.cost)));
      if (spend !== undefined) expect(spent.point.tan2).toBe(spend.tan2);

      const targetDeg = next() < 0.5 ? angleOfTanSquared(plans[Math.floor(next() * plans.length)]!.tan2) : next() * 30;
      const gentle = plans.filter((plan) => plan.tan2 <= tanSquared(targetDeg) * (1 + 1e-12));
      const bend = best(gentle, (a, b) => a.cost < b.cost || (a.cost === b.cost && a.tan2 < b.tan2));
      const bent = bendAtMost(frontier, targetDeg);
      expect(bent.feasible).toBe(bend !== undefined);
      if (bend === undefined) expect(bent.point.tan2).toBe(Math.min(...plans.map((plan) => plan.tan2)));
      else expect([bent.point.cost, bent.point.tan2]).toEqual([bend.cost, bend.tan2]);
    }
  });
});

describe('sites that cost nothing', () => {
  const item = (id: string, cost: number, tan2: number | null, lock: KnapsackItem['lock'] = null, floorTan2 = 0): KnapsackItem => ({ id, cost, tan2, floorTan2, lock });

  it('are HP in every efficient plan, those that bend nothing too, unless a lock keeps them low', () => {
    const frontier = solveFrontier([item('a', 4, 0.5), item('free', 0, 0.25), item('b', 2, 0.125), item('nothing', 0, 0), item('held', 0, 0.0625, 'low'), item('unmeasured', 0, null)]);
    expect(frontier.points.map(({ cost, tan2 }) => [cost, tan2])).toEqual([[0, 0.6875], [2, 0.5625], [4, 0.1875], [6, 0.0625]]);
    expect(frontier.highAt(0)).toEqual(['free', 'nothing', 'unmeasured']);
    expect(frontier.highAt(3)).toEqual(['a', 'free', 'b', 'nothing', 'unmeasured']);
    expect(frontier.totalCost).toBe(6);
  });

  it('alone make one plan, and lift the floor when they are all that carries it', () => {
    expect(solveFrontier([item('a', 0, 0.5), item('b', 0, 0)]).points).toEqual([{ cost: 0, tan2: 0, angleDeg: 0 }]);
    const frontier = solveFrontier([item('out', 0, 0, null, 0.25), item('a', 3, 0.5)]);
    expect(frontier.points.map(({ cost, tan2 }) => [cost, tan2])).toEqual([[0, 0.5], [3, 0]]);
    expect(spendAtMost(frontier, 0)).toMatchObject({ index: 0, feasible: true });
  });
});

describe('the knapsack at full size', () => {
  /** GPT-2 large: 36 layers x 4 linears x 3 passes, costs in units of C^2. */
  function large(seed: number, layers = 36): KnapsackItem[] {
    const next = random(seed);
    const items: KnapsackItem[] = [];
    for (let layer = 0; layer < layers; layer++) {
      [3, 1, 4, 4].forEach((size, linear) => {
        [0.15, 0.03, 0].forEach((floorDeg, pass) => {
          items.push({ id: `h.${layer}.${linear}:${pass}`, cost: size * 2 * 1280 * 1280, tan2: tanSquared(0.05 + 7 * next() ** 3), floorTan2: tanSquared(floorDeg), lock: null });
        });
      });
    }
    return items;
  }

  it('agrees with a dense dynamic programme at every integer cost', () => {
    const items = large(3, 12).map((item) => ({ ...item, floorTan2: 0 }));
    const unit = 2 * 1280 * 1280;
    const total = items.reduce((sum, item) => sum + item.cost, 0) / unit;
    const removed = new Float64Array(total + 1);
    for (const item of items) {
      const cost = item.cost / unit;
      for (let c = total; c >= cost; c--) removed[c] = Math.max(removed[c]!, removed[c - cost]! + item.tan2!);
    }
    const all = items.reduce((sum, item) => sum + item.tan2!, 0);
    const frontier = solveFrontier(items);
    for (let budget = 0; budget <= total; budget++) {
      expect(spendAtMost(frontier, budget * unit).point.tan2).toBeCloseTo(all - removed[budget]!, 12);
    }
  });

  it('stays within one site of the fractional bound', () => {
    const items = large(4).map((item) => ({ ...item, floorTan2: 0 }));
    const frontier = solveFrontier(items);
    const dense = [...items].sort((a, b) => b.tan2! / b.cost - a.tan2! / a.cost);
    const all = items.reduce((sum, item) => sum + item.tan2!, 0);
    for (const share of [0.01, 0.1, 0.33, 0.5, 0.9]) {
      const budget = share * frontier.totalCost;
      let left = budget;
      let bound = 0;
      let lastValue = 0;
      for (const item of dense) {
        lastValue = item.tan2!;
        const part = Math.min(1, left / item.cost);
        bound += part * item.tan2!;
        left -= part * item.cost;
        if (left <= 0) break;
      }
      const removed = all - spendAtMost(frontier, budget).point.tan2;
      expect(removed).toBeLessThanOrEqual(bound + 1e-12);
      expect(removed).toBeGreaterThanOrEqual(bound - lastValue - 1e-12);
    }
  });

  it('rebuilds sets whose cost and angle are those of their point', () => {
    const items = large(5);
    const frontier = solveFrontier(items);
    for (let i = 0; i < frontier.points.length; i += 97) {
      const high = new Set(frontier.highAt(i));
      const low = items.filter((item) => !high.has(item.id));
      const tan2 = low.reduce((sum, item) => sum + item.tan2!, Math.max(0, ...low.map((item) => item.floorTan2)));
      const cost = items.filter((item) => high.has(item.id)).reduce((sum, item) => sum + item.cost, 0);
      expect(frontier.points[i]!.cost).toBe(cost);
      expect(Math.abs(frontier.points[i]!.tan2 - tan2)).toBeLessThanOrEqual(1e-12);
      expect(bendAtMost(frontier, angleOfTanSquared(tan2)).index).toBe(i);
    }
  });

  it('solves 432 sites within 20 ms, the frontier and one set included', () => {
    const times: number[] = [];
    for (let round = 0; round < 12; round++) {
      const items = large(10 + round);
      const start = performance.now();
      const frontier = solveFrontier(items);
      frontier.highAt(bendAtMost(frontier, 6).index);
      times.push(performance.now() - start);
    }
    // The quickest of several runs: the others measure what else the machine is doing.
    expect(Math.min(...times)).toBeLessThan(20);
  });

  it('takes costs of no common size', () => {
    const next = random(6);
    const items = Array.from({ length: 60 }, (_, i) => ({ id: `s${i}`, cost: 1 + Math.floor(next() * 1e6), tan2: next() ** 4, floorTan2: 0, lock: null }));
    const frontier = solveFrontier(items);
    expect(frontier.points.at(-1)!.cost).toBe(frontier.totalCost);
    expect(frontier.points.at(-1)!.tan2).toBe(0);
    const choice = spendAtMost(frontier, frontier.totalCost / 3);
    expect(new Set(frontier.highAt(choice.index)).size).toBeGreaterThan(0);
  });
});

describe('what the solver refuses', () => {
  it('names an impossible cost or tan^2', () => {
    const item: KnapsackItem = { id: 'a', cost: 1, tan2: 1, floorTan2: 0, lock: null };
    expect(() => solveFrontier([{ ...item, cost: 0.5 }])).toThrow('solver a: expected an integer cost >= 0');
    expect(() => solveFrontier([{ ...item, cost: -1 }])).toThrow('solver a: expected an integer cost >= 0');
    expect(() => solveFrontier([{ ...item, tan2: -1 }])).toThrow('solver a: expected tan^2 >= 0');
    expect(() => solveFrontier([{ ...item, floorTan2: NaN }])).toThrow('solver a: expected a floor');
  });

  it('keeps a site with no measurement HP and names it; a lock to low is obeyed and named', () => {
    const items: KnapsackItem[] = [
      { id: 'a', cost: 2, tan2: 0.5, floorTan2: 0, lock: null },
      { id: 'b', cost: 2, tan2: null, floorTan2: 0, lock: null },
      { id: 'c', cost: 2, tan2: Infinity, floorTan2: 0, lock: 'low' },
    ];
    const frontier = solveFrontier(items);
    expect(frontier.unpredicted).toEqual([{ id: 'b', kept: 'high' }, { id: 'c', kept: 'low' }]);
    expect(frontier.highAt(0)).toEqual(['b']);
    expect(frontier.highAt(1)).toEqual(['a', 'b']);
    expect(solveFrontier([]).points).toEqual([{ cost: 0, tan2: 0, angleDeg: 0 }]);
  });
});
