/**
 * What plans pay by: each kind against its definition in method.md 6, ratios and times of one's own, and a choice that cannot
 * be: it is refused by name and nothing is lost.
 */
import { describe, expect, it } from 'vitest';
import { baselinesAt, baselinesOf, costChoiceOf, costFaultOf, costFigureOf, costKindOf, costOf, costSumOf, frontierOf, OWN_COST } from '.';
import { allMeasured, ALL_OUTS, ALL_SITES, createPage, FULL } from './page-fixture';

type Page = ReturnType<typeof createPage>;
const choice = ({ view }: Page) => costChoiceOf(view.getState());
const figure = (page: Page): number | null => costFigureOf(page.shown(), page.document.getState().plan!, choice(page));

/** Products of the tiny model on 1 x 8 tokens: width 16. */
const SIZES = { 'attn.c_attn': [16, 48], 'attn.c_proj': [16, 16], 'mlp.c_fc': [16, 64], 'mlp.c_proj': [64, 16] } as const;
function timesOf(formats: readonly string[], time: (format: string, flops: number) => number): string {
  const rows = Object.values(SIZES).flatMap(([inner, outer]) => ([['fprop', 8, inner, outer], ['dgrad', 8, outer, inner], ['wgrad', inner, 8, outer]] as const)
    .flatMap(([pass, m, k, n]) => formats.map((format) => `${m},${k},${n},${pass},${format},${time(format, m * k * n)}`)));
  return `m,k,n,pass,format,time_us\n${[...new Set(rows)].join('\n')}\n`;
}

describe('the costs of a plan', () => {
  it('are the recipe\'s own, or bits, or time', () => {
    const page = createPage({ record: FULL });
    page.actions.setFormats(ALL_SITES.filter((id) => id.endsWith(':fprop')), 'bf16');
    // A third of the work in BF16, the rest in 4 bits: peak ratios 1 and 1/4; stored bits of x, w and dy 4.5, 4.03125 and 4.5.
    expect(figure(page)).toBeCloseTo(1 / 3, 12);
    page.actions.setCost('time');
    expect(figure(page)).toBeCloseTo(1 / 3 + 2 / 3 / 4, 6);
    page.actions.setCost('bits');
    expect(figure(page)).toBeCloseTo((16 + (4.5 + 4.03125) / 2 + 4.5) / 3, 12);
    page.actions.setRecipe('fp8-out');
    page.actions.setFormats(ALL_OUTS, 'bf16');
    expect(figure(page)).toBe(16);
    page.actions.setCost(null);
    expect([figure(page), costOf(page.shown(), choice(page))?.kind]).toEqual([1, 'cache']);
  });

  it('of another kind of place are those of the recipe, until it comes back', () => {
    const page = createPage({ record: FULL });
    page.actions.setCost('time');
    page.actions.setRecipe('fp8-out');
    expect([costKindOf('fp8-out', 'time'), costOf(page.shown(), choice(page))?.kind]).toEqual(['cache', 'cache']);
    page.actions.setRecipe('nvfp4');
    expect(costOf(page.shown(), choice(page))?.kind).toBe('time');
    expect(page.actions.setCost('cache')).toBe(true);
    expect(page.view.getState().cost).toBeNull();
  });

  it('follow edited ratios, and a ratio that is none is refused', () => {
    const page = createPage({ record: FULL });
    page.actions.setCost('time');
    expect(page.actions.setRatio('nvfp4', 0.4)).toBe(true);
    expect(figure(page)).toBeCloseTo(0.4, 6);
    const before = page.view.getState();
    for (const wrong of [0, -1, 5, NaN, Infinity]) {
      expect(page.actions.setRatio('nvfp4', wrong)).toBe(false);
      expect(page.facts.getState().notices.at(-1)).toMatchObject({ kind: 'error', name: 'E-PLAN-09', message: expect.stringContaining('nvfp4') as string });
    }
    expect(page.view.getState()).toBe(before);
    expect(page.actions.setRatio('nvfp4', null)).toBe(true);
    expect([page.view.getState().ratios, figure(page)]).toEqual([{}, 0.25]);
  });
});

describe('imported times', () => {
  const oneBatch = (page: Page): void => page.facts.setState(({ data }) => ({ data: { ...data, sequences: 1, tokens: 8 } }));
  const pageOfOneBatch = (): Page => {
    const page = createPage({ record: FULL });
    oneBatch(page);
    return page;
  };

  it('count instead of ratios, to the nanosecond', () => {
    const page = pageOfOneBatch();
    expect(page.actions.importTimes(timesOf(['bf16', 'nvfp4'], (format, flops) => (format === 'bf16' ? 10 + flops / 1000 : 9)), 'mine.csv')).toBe(true);
    expect(page.view.getState()).toMatchObject({ cost: 'time', times: { file: 'mine.csv' } });
    const all = ALL_SITES.reduce((sum, id) => {
      const [inner, outer] = SIZES[id.slice(4, id.lastIndexOf(':')) as keyof typeof SIZES];
      return sum + 10 + (8 * inner * outer) / 1000;
    }, 0);
    expect(figure(page)).toBeCloseTo((9 * ALL_SITES.length) / all, 9);
    page.actions.clearTimes();
    expect(figure(page)).toBe(0.25);
  });

  it('that cover no product, or are no times, are refused by name and change nothing', () => {
    const page = pageOfOneBatch();
    page.actions.setRatio('nvfp4', 0.3);
    const before = page.view.getState();
    for (const [text, name, message] of [
      [timesOf(['bf16'], () => 5), 'E-PLAN-09', /mine\.csv: expected a row m=8, k=16, n=48, fprop, nvfp4 for h\.0\.attn\.c_attn:fprop, got none/],
      ['m,k,n\n1,2,3\n', 'E-FILE-08', /mine\.csv: expected a first line/],
      [`${timesOf(['bf16'], () => 5)}8,16,48,fprop,nvfp4,fast\n`, 'E-FILE-07', /time_us/],
    ] as const) {
      expect(page.actions.importTimes(text, 'mine.csv')).toBe(false);
      expect(page.facts.getState().notices.at(-1)).toMatchObject({ kind: 'error', name, message: expect.stringMatching(message) as string });
    }
    expect(page.view.getState()).toBe(before);
  });

  it('that another choice does not go with say so, and nothing is computed from them', () => {
    const page = pageOfOneBatch();
    page.actions.importTimes(timesOf(['bf16', 'nvfp4'], () => 5), 'mine.csv');
    page.actions.setSecond('mxfp8');
    const plan = page.document.getState().plan!;
    expect(costFaultOf(page.shown(), choice(page))).toMatchObject({ name: 'E-PLAN-09', message: expect.stringContaining('mxfp8') as string });
    expect([costOf(page.shown(), choice(page)), figure(page), costSumOf(page.shown(), plan, choice(page)), frontierOf(page.shown(), plan, choice(page))]).toEqual([null, null, null, null]);
    expect(baselinesAt(page.shown(), choice(page), plan)).toEqual([]);
    page.actions.setSecond(null);
    expect(figure(page)).toBe(1);
    page.facts.setState(({ data }) => ({ data: { ...data, tokens: 4 } }));
    expect(costFaultOf(page.shown(), choice(page))?.message).toContain('m=4');
  });

  it('leave a plan in a format that they do not name without a cost', () => {
    const page = pageOfOneBatch();
    page.actions.importTimes(timesOf(['bf16', 'nvfp4'], () => 5), 'mine.csv');
    const plan = page.document.getState().plan!;
    const other = { ...plan, formats: { ...plan.formats, [ALL_SITES[0]!]: 'fp8' as const } };
    expect([costFaultOf(page.shown(), choice(page)), costFigureOf(page.shown(), other, choice(page))]).toEqual([null, null]);
  });
});

describe('baselines', () => {
  it('are made at the budget asked for, by their own rule, whatever is locked', () => {
    const page = createPage({ record: { ...FULL, sites: allMeasured('nvfp4') } });
    page.actions.setLocked(ALL_SITES, true);
    const table = costOf(page.shown(), OWN_COST)!;
    for (const share of [0, 0.2, 0.5]) {
      const rows = baselinesOf(page.shown(), OWN_COST, table.costOf(share));
      expect(rows.map(({ id }) => id)).toContain('all-low');
      for (const row of rows) {
        expect(row.plan === null).toBe(row.reason !== null);
        if (row.kind === 'budget' && row.plan) expect(costFigureOf(page.shown(), row.plan, OWN_COST)).toBeLessThanOrEqual(share + 1e-12);
      }
    }
    expect(baselinesOf(page.shown(), OWN_COST, 5)).toBe(baselinesOf(page.shown(), OWN_COST, 5));
  });
});
