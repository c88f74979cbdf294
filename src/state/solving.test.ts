/**
 * What the page asks of the solver, held against every plan there is of a few free cells, and priced and predicted here by
 * hand: the frontier, one budget, a row alone, two formats a cell; and that a drag poses nothing anew.
 */
import { describe, expect, it } from 'vitest';
import { costOf, costSumOf, frontierOf, OWN_COST, questionOf, solveFaultOf, totalsOf, withinOf, type CostChoice } from '.';
import { spendAtMost } from '../allocate/frontier';
import { planAt, type Plan } from '../allocate/plan';
import type { SiteFormat, SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import { allMeasured, ALL_SITES, createPage, FULL, GRAPH } from './page-fixture';

const MX = { ...FULL, recipe: 'mxfp8', sites: allMeasured('mxfp8', 0.12) } as const;
const TIME: CostChoice = { kind: 'time', ratios: {}, times: null };
const FREE = ALL_SITES.filter((_, i) => i % 3 === 0);

/** Everything locked but FREE: BF16 and low in turn. */
function pageWithFreeCells() {
  const page = createPage({ record: FULL });
  page.actions.addStored(MX);
  const others = ALL_SITES.filter((id) => !FREE.includes(id));
  page.actions.setFormats(others.filter((_, i) => i % 2 === 0), 'bf16');
  page.actions.setLocked(others, true);
  return page;
}

const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;
const passOf = (id: SiteId): string => id.slice(id.lastIndexOf(':') + 1);
/** Angle and relative time of a plan from the definitions of method.md 5 and 6; nothing of the allocator. */
function byHand(formats: Plan['formats'], ids: readonly SiteId[], hasFloor: boolean): { readonly tan2: number; readonly time: number; readonly work: number } {
  const work = (id: SiteId): number => ({ 'attn.c_attn': 3, 'attn.c_proj': 1, 'mlp.c_fc': 4, 'mlp.c_proj': 4 })[id.slice(4, id.lastIndexOf(':'))]!;
  let [sum, floor, time, high] = [0, 0, 0, 0];
  for (const id of ids) {
    const format = formats[id] as SiteFormat;
    const result = format === 'bf16' ? null : (format === 'mxfp8' ? MX.sites : FULL.sites)[id];
    time += work(id) * { bf16: 1, mxfp8: 0.5, nvfp4: 0.25 }[format as 'bf16' | 'mxfp8' | 'nvfp4'];
    if (format === 'bf16') high += work(id);
    if (result?.status !== 'measured') continue;
    sum += tan2(result.cleanAngleDeg);
    floor = Math.max(floor, { fprop: 0.1, dgrad: 0.05, wgrad: 0 }[passOf(id)]!);
  }
  return { tan2: sum + (hasFloor ? tan2(floor) : 0), time, work: high };
}

/** Every plan of the free cells in some formats. */
function everyPlan(plan: Plan, formats: readonly SiteFormat[], free: readonly SiteId[]): Plan['formats'][] {
  return Array.from({ length: formats.length ** free.length }, (_, n) => {
    let left = n;
    const chosen = free.map((id): [SiteId, SiteFormat] => {
      const format = formats[left % formats.length]!;
      left = Math.floor(left / formats.length);
      return [id, format];
    });
    return { ...plan.formats, ...Object.fromEntries(chosen) };
  });
}

describe.each([['work, one low format', OWN_COST, null, 'work'], ['time, two low formats', TIME, 'mxfp8', 'time']] as const)('%s', (_, choice, second, price) => {
  const page = pageWithFreeCells();
  if (second) page.actions.setSecond(second);
  const plan = page.document.getState().plan!;
  const all = everyPlan(plan, second ? ['bf16', second, 'nvfp4'] : ['bf16', 'nvfp4'], FREE).map((formats) => byHand(formats, ALL_SITES, true));
  const total = byHand(Object.fromEntries(ALL_SITES.map((id) => [id, 'bf16'])), ALL_SITES, true)[price];

  it('the frontier is what no plan of the free cells beats', () => {
    const line = frontierOf(page.shown(), plan, choice)!;
    const table = costOf(page.shown(), choice)!;
    const efficient = all.filter((a) => !all.some((b) => (b[price] <= a[price] + 1e-9 && b.tan2 < a.tan2 * (1 - 1e-9)) || (b[price] < a[price] - 1e-9 && b.tan2 <= a.tan2 * (1 + 1e-9))));
    const costs = [...new Set(efficient.map((a) => a[price].toFixed(6)))].map(Number).sort((a, b) => a - b);
    expect(line.complete).toBe(true);
    expect(line.points.map((point) => Number((table.figureOf(point.cost) * total).toFixed(6)))).toEqual(costs);
    line.points.forEach((point, index) => {
      const made = byHand(planAt(plan, line, index).formats, ALL_SITES, true);
      expect(point.tan2).toBeCloseTo(made.tan2, 12);
      expect(table.figureOf(point.cost)).toBeCloseTo(made[price] / total, 12);
    });
  });

  it('one budget gives the least bending within it, and a target the cheapest plan', () => {
    const table = costOf(page.shown(), choice)!;
    for (const share of [0.3, 0.35, 0.4, 0.5]) {
      const solution = withinOf(page.shown(), plan, choice, { cost: table.costOf(share) })!;
      const within = all.filter((a) => a[price] <= share * total + 1e-9);
      expect(solution.feasible).toBe(within.length > 0);
      if (within.length > 0) expect(solution.point.tan2).toBeCloseTo(Math.min(...within.map((a) => a.tan2)), 12);
      expect(solution.gap).toBe(0);
    }
    const target = 3.2;
    const solution = withinOf(page.shown(), plan, choice, { angleDeg: target })!;
    expect(table.figureOf(solution.point.cost) * total).toBeCloseTo(Math.min(...all.filter((a) => a.tan2 <= tan2(target)).map((a) => a[price])), 6);
  });

  it('a row is asked about alone, without the floor', () => {
    const row = new Set(ALL_SITES.filter((id) => passOf(id) === 'fprop'));
    const line = frontierOf(page.shown(), plan, choice, row)!;
    line.points.forEach((point, index) => {
      const next = planAt(plan, line, index, row);
      expect(ALL_SITES.filter((id) => !row.has(id)).every((id) => next.formats[id] === plan.formats[id])).toBe(true);
      expect(point.tan2).toBeCloseTo(byHand(next.formats, [...row], false).tan2, 12);
    });
    expect(costSumOf(page.shown(), planAt(plan, line, 0, row), choice, row)).toBe(line.points[0]!.cost);
  });
});

describe('what a drag asks for', () => {
  it('is not solved again while cells flip, and is when locks or evidence change', () => {
    const page = createPage({ record: FULL });
    const plan = page.document.getState().plan!;
    const row = new Set(ALL_SITES.slice(0, 6));
    const asked = questionOf(page.shown(), OWN_COST);
    const [line, part] = [frontierOf(page.shown(), plan, OWN_COST)!, frontierOf(page.shown(), plan, OWN_COST, row)];
    for (const share of [0.1, 0.2, 0.3]) {
      const { index } = spendAtMost(line, share * line.totalCost);
      page.actions.commitPlan(planAt(plan, line, index), 'drag');
      const now = page.document.getState().plan!;
      expect(now.formats).not.toBe(plan.formats);
      expect(questionOf(page.shown(), OWN_COST)).toBe(asked);
      expect(frontierOf(page.shown(), now, OWN_COST)).toBe(line);
      expect(frontierOf(page.shown(), now, OWN_COST, row)).toBe(part);
      page.actions.tell('something else happened');
      expect(frontierOf(page.shown(), now, OWN_COST)).toBe(line);
    }
    page.actions.setLocked([ALL_SITES[0]!], true);
    expect(frontierOf(page.shown(), page.document.getState().plan!, OWN_COST)).not.toBe(line);
    page.actions.setLocked([ALL_SITES[0]!], false);
    expect(frontierOf(page.shown(), page.document.getState().plan!, OWN_COST)).toBe(line);
    page.actions.setSecond('mxfp8');
    expect(frontierOf(page.shown(), page.document.getState().plan!, OWN_COST)).not.toBe(line);
  });

  it('keeps the frontiers of every row and layer at once', () => {
    const page = createPage({ record: FULL });
    const plan = page.document.getState().plan!;
    const parts = Array.from({ length: 160 }, (_, n) => new Set(ALL_SITES.filter((_, i) => (n + i) % 7 < 3)));
    const first = parts.map((part) => frontierOf(page.shown(), plan, OWN_COST, part));
    expect(parts.map((part) => frontierOf(page.shown(), plan, OWN_COST, part)).every((line, i) => line === first[i])).toBe(true);
  });
});

it('a plan of two formats is predicted from the angles of each, and not where one of them was not measured', () => {
  const page = createPage({ record: FULL });
  page.actions.setFormats(ALL_SITES, 'bf16');
  page.actions.setFormats(ALL_SITES.slice(0, 2), 'mxfp8');
  page.actions.setFormats(ALL_SITES.slice(2, 5), 'nvfp4');
  const totals = () => totalsOf(page.shown(), page.document.getState().plan!)!;
  expect(totals()).toMatchObject({ predictedDeg: null, unpredicted: ALL_SITES.slice(0, 2) });
  page.actions.addStored(MX);
  expect(tan2(totals().predictedDeg!)).toBeCloseTo(byHand(page.document.getState().plan!.formats, ALL_SITES, true).tan2, 12);
  // Under switches that MXFP8 reads and was not measured with, it is unmeasured again.
  page.actions.setRecipe('nvfp4', { floor: true });
  expect(RECIPES.mxfp8.switches).toContain('floor');
  expect(totals().predictedDeg).toBeNull();
});

it('locks that contradict each other have a reason instead of an answer', () => {
  const page = createPage({ record: FULL });
  // A block whose two linears read one value, as gate and up do.
  const nodes = GRAPH.nodes.map((node) => (node.id === 'h.0.mlp.c_fc' ? { ...node, inputs: ['h.0.ln_1'] } : node));
  page.facts.setState({ graph: { ...GRAPH, nodes } });
  page.actions.setFormats(['h.0.mlp.c_fc:fprop'], 'bf16');
  const plan = () => page.document.getState().plan!;
  expect(solveFaultOf(page.shown(), plan(), OWN_COST)).toBeNull();
  const line = frontierOf(page.shown(), plan(), OWN_COST)!;
  line.points.forEach((_, i) => expect(line.formatsAt(i)['h.0.mlp.c_fc:fprop']).toBe(line.formatsAt(i)['h.0.attn.c_attn:fprop']));
  page.actions.setLocked(['h.0.mlp.c_fc:fprop', 'h.0.attn.c_attn:fprop'], true);
  expect(solveFaultOf(page.shown(), plan(), OWN_COST)).toMatchObject({ name: 'E-PLAN-08', message: expect.stringMatching(/h\.0\.attn\.c_attn:fprop, h\.0\.mlp\.c_fc:fprop to share a format/) as string });
  expect([frontierOf(page.shown(), plan(), OWN_COST), withinOf(page.shown(), plan(), OWN_COST, { cost: 1 })]).toEqual([null, null]);
});
