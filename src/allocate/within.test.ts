/**
 * Large questions: the solver of one budget against exact lists and an independent dense dynamic programme, the relaxed
 * frontier against what it claims, and what both say when they stop short of a proof.
 */
import { describe, expect, it } from 'vitest';
import { angleOfTanSquared } from '../base/angle';
import { poseQuestion, type SiteChoice } from './choices';
import { solveChoices, spendAtMost } from './frontier';
import { best, everyPlan, largeQuestion, random, randomQuestion } from './solver-fixture';
import { solveWithin } from './within';

/** Costs and tan^2 of a plan from its formats, added here again. */
function addUp(sites: readonly SiteChoice[], formats: Readonly<Record<string, string>>): { readonly cost: number; readonly tan2: number } {
  const taken = sites.map(({ id, offers }) => offers.find((offer) => offer.format === formats[id])!);
  return { cost: taken.reduce((sum, offer) => sum + offer.cost, 0), tan2: taken.reduce((sum, offer) => sum + (offer.tan2 ?? 0), 0) + Math.max(...taken.map((offer) => offer.floorTan2)) };
}

/** Costs without a common size: no two sites alike. */
function unevenQuestion(layers: number, seed: number): SiteChoice[] {
  const next = random(seed);
  return largeQuestion(layers, 3, seed).map((site) => ({ ...site, offers: site.offers.map((offer) => ({ ...offer, cost: Math.round(offer.cost * (9e5 + 2e5 * next())) })) }));
}

describe('one budget', () => {
  it.each([[2, 12], [3, 5]] as const)('of %i formats gives the plan that the exact lists give, ties included', (formats, layers) => {
    const question = poseQuestion(largeQuestion(layers, formats, 3));
    const frontier = solveChoices(question);
    expect(frontier.complete).toBe(true);
    for (let index = 0; index < frontier.points.length; index += 41) {
      const point = frontier.points[index]!;
      const expected = { formats: frontier.formatsAt(index), point, feasible: true, gap: 0 };
      expect(solveWithin(question, { cost: point.cost })).toEqual(expected);
      expect(solveWithin(question, { angleDeg: point.angleDeg })).toEqual(expected);
    }
  });

  it('agrees with a dense dynamic programme over three formats', () => {
    const sites = largeQuestion(5, 3, 4).map((site) => ({ ...site, offers: site.offers.map((offer) => ({ ...offer, floorTan2: 0 })) }));
    const total = sites.reduce((sum, site) => sum + site.offers[0]!.cost, 0);
    let least = new Float64Array(total + 1);
    for (const { offers } of sites) {
      const next = new Float64Array(total + 1).fill(Infinity);
      for (const { cost, tan2 } of offers) for (let c = cost; c <= total; c++) next[c] = Math.min(next[c]!, least[c - cost]! + tan2!);
      least = next;
    }
    const question = poseQuestion(sites);
    for (let budget = Math.ceil(total / 4); budget <= total; budget += 97) expect(solveWithin(question, { cost: budget }).point.tan2).toBeCloseTo(least[budget]!, 12);
  });

  it.each([['of a Llama of 126 layers', largeQuestion(126, 3)], ['whose costs share no size', unevenQuestion(126, 5)]] as const)('of 2,646 sites %s is proven, and adds up', (_, sites) => {
    const question = poseQuestion(sites);
    const frontier = solveChoices(question, 0);
    for (const share of [0.26, 0.3, 0.4, 0.6, 0.9]) {
      const budget = Math.floor(share * question.totalCost);
      const { formats, point, gap, feasible } = solveWithin(question, { cost: budget });
      const sum = addUp(sites, formats);
      expect([gap, feasible, sum.cost]).toEqual([0, true, point.cost]);
      expect(point.cost).toBeLessThanOrEqual(budget);
      expect(Math.abs(sum.tan2 / point.tan2 - 1)).toBeLessThan(1e-9);
      expect(point.tan2).toBeGreaterThanOrEqual(frontier.leastTan2(budget) * (1 - 1e-12));
      expect(point.tan2).toBeLessThanOrEqual(spendAtMost(frontier, budget).point.tan2);
      // The same plan is the cheapest for its own angle.
      expect(solveWithin(question, { angleDeg: point.angleDeg })).toMatchObject({ point, gap: 0 });
    }
  });

  it('that runs out of states says by how much it can be beaten at most', () => {
    const next = random(6);
    let unproven = 0;
    for (let round = 0; round < 200; round++) {
      const { sites, groups } = randomQuestion(next, 10, 3, 6);
      const plans = everyPlan({ sites, groups });
      const question = poseQuestion(sites, groups);
      const budget = Math.floor(next() * 60);
      const affordable = plans.filter((plan) => plan.cost <= budget);
      const optimum = best(affordable, (a, b) => a.tan2 < b.tan2);
      const solution = solveWithin(question, { cost: budget }, 1);
      if (optimum !== undefined) {
        expect(solution.point.tan2).toBeGreaterThanOrEqual(optimum.tan2);
        expect(solution.point.tan2 - solution.gap).toBeLessThanOrEqual(optimum.tan2);
        if (solution.gap > 0) unproven += 1;
      }
      const target = plans[Math.floor(next() * plans.length)]!.tan2;
      const cheapest = best(plans.filter((plan) => plan.tan2 <= target), (a, b) => a.cost < b.cost)!;
      const bent = solveWithin(question, { angleDeg: angleOfTanSquared(target) }, 1);
      expect(bent.point.cost).toBeGreaterThanOrEqual(cheapest.cost);
      expect(bent.point.cost - bent.gap).toBeLessThanOrEqual(cheapest.cost);
    }
    expect(unproven).toBeGreaterThan(5);
  });
});

describe('a frontier too long to list', () => {
  it('holds real plans in order, bounds every budget, and is proven where its bound is its own value', () => {
    const next = random(7);
    let proven = 0;
    for (let round = 0; round < 200; round++) {
      const { sites, groups } = randomQuestion(next, 9, 3, 6);
      const plans = everyPlan({ sites, groups });
      const frontier = solveChoices(poseQuestion(sites, groups), 0);
      if (frontier.complete) continue;
      frontier.points.forEach((point, i) => {
        const sum = addUp(sites, frontier.formatsAt(i));
        expect([sum.cost, sum.tan2 <= point.tan2]).toEqual([point.cost, true]);
        const before = frontier.points[i - 1];
        if (before) expect([before.cost < point.cost, before.tan2 > point.tan2]).toEqual([true, true]);
        const optimum = best(plans.filter((plan) => plan.cost <= point.cost), (a, b) => a.tan2 < b.tan2)!;
        const bound = frontier.leastTan2(point.cost);
        expect(bound).toBeLessThanOrEqual(optimum.tan2);
        if (bound === point.tan2) {
          expect(optimum.tan2).toBe(point.tan2);
          proven += 1;
        }
      });
      expect(frontier.points[0]!.cost).toBe(Math.min(...plans.map((plan) => plan.cost)));
      expect(frontier.points.at(-1)!.tan2).toBe(Math.min(...plans.map((plan) => plan.tan2)));
    }
    expect(proven).toBeGreaterThan(200);
  });

  it('of 2,646 sites lies within 1 % of the optimum angle, a step apart', () => {
    const frontier = solveChoices(poseQuestion(largeQuestion(126, 3)));
    expect(frontier.complete).toBe(false);
    expect(frontier.points.length).toBeGreaterThan(5000);
    for (let share = 0.3; share < 0.95; share += 0.05) {
      const budget = share * frontier.totalCost;
      const { point } = spendAtMost(frontier, budget);
      expect(angleOfTanSquared(frontier.leastTan2(budget)) / point.angleDeg).toBeGreaterThan(0.99);
    }
  });
});
