/** Two plans beside each other: which cells differ, what each does to tan^2, what has no counterpart, what each list says. */
import { describe, expect, it } from 'vitest';
import { withFormats, type Plan } from '../../allocate/plan';
import { gpt2Graph } from '../../models/gpt2';
import { allLowPlan, OWN_COST, sitesOf, totalsOf, type PinnedPlan, type Results, type Shown } from '../../state';
import type { RecipeName } from '../../graph/policy';
import { measured, shownWith } from '../shown-fixture';
import { planCells } from './plan-cells';
import { effectDegrees, filtered, partsOf, planDifference } from './plan-difference';
import { measuredShort, measuredText, planFigures, predictedText, priceText, siteCounts } from './plan-figures';

const CONFIG = { model: 'tiny', layers: 2, width: 16, heads: 2, positions: 8, vocabulary: 32, eps: 1e-5 };
const graph = gpt2Graph(CONFIG);
const sites = sitesOf(graph, 'nvfp4');
/** Degrees by the order of sites: 1, 2, 3 and so on. */
const RESULTS: Results['sites'] = Object.fromEntries(sites.map(({ id }, i) => [id, measured(1 + i)]));
const facts = (results: Partial<Results> = { sites: RESULTS }, recipe: RecipeName = 'nvfp4'): Shown => shownWith({ graph, modelName: 'tiny', modelSha256: 'sha256:m' }, results, recipe);
const allLow = (shown: Shown): Plan => allLowPlan(shown)!;
const pin = (plan: Plan, part: Partial<PinnedPlan> = {}): PinnedPlan => ({ name: plan.name, recipe: 'nvfp4', options: {}, second: null, plan, modelSha256: 'sha256:m', ...part });
const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;

describe('the plan in hand against A', () => {
  const shown = facts();
  const [a, b, c] = [sites[3]!.id, sites[17]!.id, sites[8]!.id];
  const plan = withFormats(allLow(shown), { [a]: 'bf16', [b]: 'bf16', [c]: 'mxfp8' });

  it('lists every cell that differs, the largest effect on tan^2 first, what is not known last', () => {
    const { cells, counterparts, onlyHere, onlyInA } = planDifference(shown, plan, pin(allLow(shown)), OWN_COST);
    expect(cells.map(({ id, from, to }) => [id, from, to])).toEqual([[b, 'nvfp4', 'bf16'], [a, 'nvfp4', 'bf16'], [c, 'nvfp4', 'mxfp8']]);
    expect(cells[0]?.tan2).toBeCloseTo(-tan2(18), 12);
    expect(cells[1]?.tan2).toBeCloseTo(-tan2(4), 12);
    expect(cells[2]?.tan2).toBeNull();
    expect(effectDegrees(cells[0]?.tan2 ?? 0)).toBeCloseTo(-18, 9);
    expect({ counterparts, onlyHere, onlyInA }).toEqual({ counterparts: sites.length, onlyHere: 0, onlyInA: 0 });
  });

  it('its effects add up to the difference of the two predictions', () => {
    const two = withFormats(allLow(shown), { [a]: 'bf16', [b]: 'bf16' });
    const { cells } = planDifference(shown, two, pin(allLow(shown)), OWN_COST);
    const predicted = (of: Plan): number => tan2(totalsOf(shown, of)!.predictedDeg!);
    expect(cells.reduce((sum, cell) => sum + cell.tan2!, 0)).toBeCloseTo(predicted(two) - predicted(allLow(shown)), 9);
  });

  it('can be narrowed to a pass and to unstable cells', () => {
    const { cells } = planDifference(shown, plan, pin(allLow(shown)), OWN_COST);
    const part = cells[0]!.part;
    expect(partsOf(cells)).toContain(part);
    expect(filtered(cells, { part, unstable: null }).every((cell) => cell.part === part)).toBe(true);
    expect(filtered(cells, { part: 'all', unstable: new Set([a]) }).map(({ id }) => id)).toEqual([a]);
    expect(filtered(cells, { part: 'all', unstable: new Set() })).toEqual([]);
  });

  it('of another model pairs cells by layer, op and pass, counts the others, and has no figures of A', () => {
    const other = gpt2Graph({ ...CONFIG, model: 'deep', layers: 3 });
    const deep: Plan = { ...allLow(facts()), formats: Object.fromEntries(sitesOf(other, 'nvfp4').map(({ id }) => [id, 'bf16'])) };
    const { cells, counterparts, onlyHere, onlyInA, ofA } = planDifference(shown, allLow(shown), pin(deep, { modelSha256: 'sha256:other' }), OWN_COST);
    expect({ counterparts, onlyHere, onlyInA, ofA }).toEqual({ counterparts: 24, onlyHere: 0, onlyInA: 12, ofA: null });
    expect(cells).toHaveLength(24);
    // BF16 does not bend, whatever the model: the effect is that of the plan in hand.
    expect(cells[0]?.tan2).toBeCloseTo(tan2(24), 12);
  });

  it('of another kind of recipe has no counterpart at all', () => {
    const outs: Plan = { ...allLow(shown), formats: Object.fromEntries(sitesOf(graph, 'fp8-out').map(({ id }) => [id, 'fp8-out'])) };
    expect(planDifference(shown, plan, pin(outs, { recipe: 'fp8-out' }), OWN_COST)).toMatchObject({ cells: [], counterparts: 0, onlyHere: 24, onlyInA: 23 });
  });
});

describe('figures of a plan', () => {
  it('say why they do not exist', () => {
    const shown = facts({ sites: {} });
    const figures = planFigures(shown, { recipe: 'nvfp4', options: {}, second: null, plan: allLow(shown) }, OWN_COST);
    expect(predictedText(figures.totals)).toEqual({ text: 'not predicted', why: '24 low cells are not measured in their format.' });
    expect(measuredText(figures)).toMatchObject({ text: 'not yet' });
    expect(priceText(shown, OWN_COST, figures.cost)).toEqual({ text: '0.0 %' });
    expect(priceText(shown, OWN_COST, null).why).toMatch(/imported times/);
    const high = withFormats(allLow(shown), Object.fromEntries(sites.map(({ id }) => [id, 'bf16'])));
    expect(measuredText(planFigures(shown, { recipe: 'nvfp4', options: {}, second: null, plan: high }, OWN_COST)).text).toBe('reference');
  });

  it('are read in three formats, with their errors', () => {
    const shown = facts();
    const plan = withFormats(allLow(shown), { [sites[0]!.id]: 'bf16', [sites[1]!.id]: 'mxfp8' });
    expect(siteCounts(totalsOf(shown, plan)!, ['mxfp8', 'nvfp4'])).toEqual({ names: 'BF16 / MXFP8 / NVFP4', counts: '1 / 1 / 22' });
    expect(measuredText({ measured: { ...measured(9.804), angleSeDeg: 0.2149 }, isReference: false })).toEqual({ text: '9.80 ± 0.21 deg', bare: '9.80 ± 0.21' });
    expect(measuredShort({ measured: { ...measured(9.804), angleSeDeg: 0.2149 }, isReference: false })).toBe('9.80 deg');
    expect(measuredText({ measured: { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' }, isReference: false })).toEqual({ text: 'failed', why: 'E-RUN-01: NaN' });
  });

  it('a small grid has the letter of each format, and a colour only where a cell bends', () => {
    const shown = facts();
    const [high, low] = [sites[0]!.id, sites[1]!.id];
    const cells = planCells(shown, withFormats(allLow(shown), { [high]: 'bf16', [sites[2]!.id]: 'mxfp8' }));
    expect(cells.get(high)).toEqual({ state: 'high', angleDeg: null, isHigh: true, mark: 'B' });
    expect(cells.get(low)).toEqual({ state: 'value', angleDeg: 2, isHigh: false, mark: '4' });
    expect(cells.get(sites[2]!.id)).toEqual({ state: 'missing', angleDeg: null, isHigh: false, mark: '8' });
  });
});
