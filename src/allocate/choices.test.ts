/**
 * The multiple-choice solvers against brute force: the whole frontier and every single budget, with ties, zeros, locks,
 * floors, unmeasured formats and groups; and what locks can make impossible.
 */
import { describe, expect, it } from 'vitest';
import { angleOfTanSquared, tanSquared } from '../base/angle';
import { BendscopeError } from '../base/errors';
import { poseQuestion, type FormatOffer, type SiteChoice } from './choices';
import { bendAtMost, solveChoices, spendAtMost } from './frontier';
import { best, everyPlan, random, randomQuestion, told, type BrutePlan } from './solver-fixture';
import { solveWithin, type Solution } from './within';

/** Every efficient plan: of each cost the least tan^2, where that is less than all cheaper ones. */
function efficientPlans(plans: readonly BrutePlan[]): BrutePlan[] {
  const byCost = new Map<number, BrutePlan>();
  for (const plan of plans) if (plan.tan2 < (byCost.get(plan.cost)?.tan2 ?? Infinity)) byCost.set(plan.cost, plan);
  const kept: BrutePlan[] = [];
  for (const plan of [...byCost.values()].sort((a, b) => a.cost - b.cost)) if (plan.tan2 < (kept.at(-1)?.tan2 ?? Infinity)) kept.push(plan);
  return kept;
}

const lessBend = (a: BrutePlan, b: BrutePlan): boolean => a.tan2 < b.tan2 || (a.tan2 === b.tan2 && a.cost < b.cost);
const lessCost = (a: BrutePlan, b: BrutePlan): boolean => a.cost < b.cost || (a.cost === b.cost && a.tan2 < b.tan2);
const planOf = ({ point: { cost, tan2 }, formats }: Solution) => ({ cost, tan2, formats });

describe.each([[2, 13], [3, 8]] as const)('%i formats against brute force', (formats, free) => {
  it('always finds the optimum of random questions of up to 16 sites, 500 of them with locks and groups: the frontier, budgets, targets, and who wins a tie', () => {
    const next = random(formats);
    let withBoth = 0;
    for (let round = 0; withBoth < 500; round++) {
      // Small ones most often: ties and corners are more frequent there.
      const count = 1 + Math.floor(next() ** 1.5 * 16);
      const given = randomQuestion(next, count, formats, free);
      if (given.groups.length > 0 && given.sites.some(({ lock }) => lock !== null)) withBoth += 1;
      else if (round % 3 > 0) continue;
      const plans = everyPlan(given);
      const question = poseQuestion(given.sites, given.groups);
      const frontier = solveChoices(question);
      const where = (what: string): string => `round ${round}, ${what}: ${JSON.stringify(given)}`;
      expect(frontier.points.map(({ cost, tan2 }, i) => ({ cost, tan2, formats: frontier.formatsAt(i) })), where('frontier')).toEqual(efficientPlans(plans).map((plan) => told(given, plan)));
      expect(frontier.complete).toBe(true);

      const cheapest = best(plans, lessCost)!;
      const gentlest = best(plans, lessBend)!;
      for (const budget of [Math.floor(next() * 80) - 3, cheapest.cost, gentlest.cost]) {
        const spend = best(plans.filter((plan) => plan.cost <= budget), lessBend);
        const solution = solveWithin(question, { cost: budget });
        expect(planOf(solution), where(`cost ${budget}`)).toEqual(told(given, spend ?? cheapest));
        expect([solution.feasible, solution.gap]).toEqual([spend !== undefined, 0]);
        expect(spendAtMost(frontier, budget)).toMatchObject({ point: solution.point, feasible: solution.feasible });
        expect(frontier.leastTan2(budget)).toBe(spend?.tan2 ?? Infinity);
      }
      for (const targetDeg of [angleOfTanSquared(plans[Math.floor(next() * plans.length)]!.tan2), next() * 20, 0]) {
        const bend = best(plans.filter((plan) => plan.tan2 <= tanSquared(targetDeg) * (1 + 1e-12)), lessCost);
        const solution = solveWithin(question, { angleDeg: targetDeg });
        expect(planOf(solution), where(`${targetDeg} deg`)).toEqual(told(given, bend ?? gentlest));
        expect([solution.feasible, solution.gap]).toEqual([bend !== undefined, 0]);
        expect(bendAtMost(frontier, targetDeg)).toMatchObject({ point: solution.point, feasible: solution.feasible });
      }
    }
  });
});

describe('a question', () => {
  const high = (cost: number): FormatOffer => ({ format: 'bf16', cost, tan2: 0, floorTan2: 0 });
  const low = (cost: number, tan2: number | null, format: FormatOffer['format'] = 'nvfp4', floorTan2 = 0): FormatOffer => ({ format, cost, tan2, floorTan2 });
  const site = (id: string, offers: readonly FormatOffer[], lock: SiteChoice['lock'] = null): SiteChoice => ({ id, offers, lock });
  const points = (sites: readonly SiteChoice[], groups: readonly (readonly string[])[] = []): number[][] =>
    solveChoices(poseQuestion(sites, groups)).points.map(({ cost, tan2 }) => [cost, tan2]);

  it('gives a group one format, its costs and tan^2 added, its largest floor once', () => {
    const sites = [site('q', [high(2), low(1, 0.25, 'fp8', 0.125), low(0, 0.5)]), site('x', [high(8), low(0, 0.0625)]), site('k', [high(1), low(0, 1, 'nvfp4', 0.5), low(1, 0.25, 'fp8')])];
    // The group: BF16 at 3, FP8 at 2 for 0.5 + 0.125, NVFP4 at 0 for 1.5 + 0.5.
    expect(points(sites, [['k', 'q']])).toEqual([[0, 2.0625], [2, 0.6875], [3, 0.0625], [11, 0]]);
    const { formats } = solveWithin(poseQuestion(sites, [['k', 'q']]), { cost: 2 });
    expect(formats).toEqual({ q: 'fp8', x: 'nvfp4', k: 'fp8' });
  });

  it('never takes a format that was not measured, unless locked to it, and names it', () => {
    const sites = [site('a', [high(4), low(2, null, 'fp8'), low(0, 0.5)]), site('b', [high(4), low(0, null)], 'nvfp4'), site('c', [high(4), low(2, Infinity, 'fp8'), low(0, 0.25)])];
    const question = poseQuestion(sites);
    expect(points(sites)).toEqual([[0, 0.75], [4, 0.25], [8, 0]]);
    expect(question.unpredicted).toEqual([{ id: 'a', formats: ['fp8'], kept: null }, { id: 'b', formats: ['nvfp4'], kept: 'nvfp4' }, { id: 'c', formats: ['fp8'], kept: null }]);
    expect(solveChoices(question).totalCost).toBe(12);
  });

  it('of everything locked, or of nothing, has one plan', () => {
    expect(points([site('a', [high(4), low(0, 0.5)], 'bf16'), site('b', [high(2), low(1, 0.25, 'nvfp4', 0.5)], 'nvfp4')])).toEqual([[5, 0.75]]);
    expect(points([])).toEqual([[0, 0]]);
    expect(solveWithin(poseQuestion([]), { angleDeg: 0 })).toMatchObject({ formats: {}, feasible: true, gap: 0 });
  });

  it('prefers the format offered first where cost and angle are equal', () => {
    const twins = [low(1, 0.25, 'mxfp8'), low(1, 0.25, 'fp8')];
    expect(solveWithin(poseQuestion([site('a', [high(1), ...twins])]), { cost: 9 }).formats).toEqual({ a: 'bf16' });
    expect(solveWithin(poseQuestion([site('a', [high(2), ...twins])]), { cost: 1 }).formats).toEqual({ a: 'mxfp8' });
  });

  it('is the same however often it is asked, and in whatever order', () => {
    const { sites, groups } = randomQuestion(random(9), 40, 3);
    const ask = (budgets: readonly number[]): string[] => {
      const question = poseQuestion(sites, groups);
      return budgets.map((cost) => JSON.stringify([cost, solveWithin(question, { cost }), solveWithin(question, { angleDeg: cost / 50 })])).sort();
    };
    const budgets = Array.from({ length: 20 }, (_, i) => 13 * i);
    expect(ask(budgets)).toEqual(ask(budgets.toReversed()));
  });

  const caught = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (thrown) {
      return thrown instanceof BendscopeError ? [thrown.name, thrown.message] : thrown;
    }
  };
  const two = [high(1), low(0, 0.5)];
  it.each<[string, readonly SiteChoice[], readonly string[][], string, string]>([
    ['locks of a group that disagree', [site('q', two, 'bf16'), site('k', two, 'nvfp4')], [['q', 'k']], 'E-PLAN-08', 'expected q, k to share a format, got locks to bf16 and nvfp4'],
    ['a lock to what is not offered', [site('q', two, 'fp8')], [], 'E-PLAN-08', 'expected q locked to bf16 or nvfp4, got fp8'],
    ['a group without a common format', [site('q', [low(0, 1, 'fp8')]), site('k', [low(0, 1)])], [['q', 'k']], 'E-PLAN-08', 'expected a measured format for q, k, got none'],
    ['no measured format', [site('q', [low(0, null)])], [], 'E-PLAN-08', 'expected a measured format for q, got none'],
    ['a site in two groups', [site('q', two)], [['q'], ['q']], 'E-BUG-02', 'expected q in one group'],
    ['an unknown site in a group', [site('q', two)], [['q', 'v']], 'E-BUG-02', 'expected groups of known sites, got v'],
    ['a cost that is no integer', [site('q', [high(0.5)])], [], 'E-BUG-02', 'solver q: expected an integer cost >= 0, got 0.5'],
    ['a cost below 0', [site('q', [high(-1)])], [], 'E-BUG-02', 'solver q: expected an integer cost >= 0, got -1'],
    ['a tan^2 below 0', [site('q', [low(0, -1)])], [], 'E-BUG-02', 'solver q: expected tan^2 >= 0, got -1'],
    ['a floor that is no number', [site('q', [low(0, 1, 'nvfp4', NaN)])], [], 'E-BUG-02', 'solver q: expected a floor >= 0, got NaN'],
    ['costs beyond exact integers', Array.from({ length: 3 }, (_, i) => site(`s${i}`, [high(2 ** 52 + i), low(0, 1)])), [], 'E-BUG-02', 'expected costs that add up below 2^53'],
  ])('refuses %s', (_, sites, groups, name, message) => {
    expect(caught(() => poseQuestion(sites, groups))).toEqual([name, expect.stringContaining(message)]);
  });

  it('refuses a limit that is no number', () => {
    expect(caught(() => solveWithin(poseQuestion([site('q', two)]), { cost: NaN }))).toEqual(['E-BUG-02', 'solver: expected a budget or a target, got NaN']);
  });
});
