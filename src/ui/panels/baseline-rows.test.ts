/** The table of baselines: figures or a reason in every row, the lowest measured angle among equals in cost, what is still to be verified. */
import { describe, expect, it } from 'vitest';
import { formatsWhere, withFormats, type Plan } from '../../allocate/plan';
import { gpt2Graph } from '../../models/gpt2';
import { allLowPlan, hashOfPlan, OWN_COST, sitesOf, type Results, type Shown } from '../../state';
import { measured, shownWith } from '../shown-fixture';
import { baselineLines, unverified } from './baseline-rows';

const graph = gpt2Graph({ model: 'tiny', layers: 5, width: 16, heads: 2, positions: 8, vocabulary: 32, eps: 1e-5 });
const sites = sitesOf(graph, 'nvfp4');
const RESULTS: Results['sites'] = Object.fromEntries(sites.map(({ id }, i) => [id, { ...measured(1 + (i % 7)), localError: 0.001 * (1 + (i % 5)) }]));
const facts = (results: Partial<Results> = { sites: RESULTS }): Shown => shownWith({ graph, modelName: 'tiny', modelSha256: 'sha256:m' }, results);
const plan: Plan = { ...allLowPlan(facts())!, name: 'Mine', formats: formatsWhere(sites, ({ pass }) => pass === 'fprop', 'nvfp4') };
const withJoint = (entries: readonly (readonly [Plan, number])[]): Shown => {
  const joint = Object.fromEntries(entries.map(([of, deg]) => {
    const planHash = hashOfPlan(facts(), of)!;
    return [planHash, { planHash, lowSites: Object.values(of.formats).filter((format) => format !== 'bf16').length, result: measured(deg) }];
  }));
  return facts({ sites: RESULTS, joint });
};

describe('the table of baselines', () => {
  it('has a plan or a reason in every row, and the score of both plans where the method has one', () => {
    const { lines } = baselineLines(facts(), plan, OWN_COST);
    expect(lines.length).toBeGreaterThan(10);
    for (const { plan: made, reason, figures } of lines) expect([made === null, figures === null, reason !== null]).toEqual(made === null ? [true, true, true] : [false, false, false]);
    const local = lines.find(({ id }) => id === 'local-error');
    // The sum over the low sites: two of the three passes.
    expect(local?.scoreInHand).toBeCloseTo(sites.reduce((sum, { pass }, i) => sum + (pass === 'fprop' ? 0 : 0.001 * (1 + (i % 5))), 0), 12);
    expect(local?.score).toBeLessThan(local?.scoreInHand ?? 0);
    // Without the probe's scores there is nothing to go by.
    expect(lines.find(({ id }) => id === 'snip')).toMatchObject({ plan: null, reason: expect.stringMatching(/measured|scores/) as string });
  });

  it('marks the lowest measured angle among plans that cost no more than the one in hand', () => {
    const low = allLowPlan(facts())!;
    const dearer = withFormats(low, Object.fromEntries(sites.map(({ id }, i) => [id, i < 40 ? 'bf16' : 'nvfp4'])));
    const table = baselineLines(withJoint([[plan, 8], [low, 20], [dearer, 1]]), plan, OWN_COST);
    expect(table.inHand.isLowest).toBe(true);
    expect(table.lines.filter(({ isLowest }) => isLowest).map(({ id }) => id)).toEqual(['fprop-high']);
    // Equal plans are both the lowest; one alone is the lowest of nothing.
    expect(baselineLines(withJoint([[low, 20]]), { ...plan, formats: low.formats }, OWN_COST).lines.filter(({ isLowest }) => isLowest).map(({ id }) => id)).toContain('all-low');
    expect(baselineLines(facts(), plan, OWN_COST).inHand.isLowest).toBe(false);
  });

  it('leaves to verify what is not measured, each plan once, and never the reference', () => {
    const shown = withJoint([[allLowPlan(facts())!, 20]]);
    const { lines } = baselineLines(shown, plan, OWN_COST);
    const left = unverified(shown, lines);
    expect(left.map(({ id }) => id)).toContain('dgrad-high');
    expect(left.map(({ id }) => id)).not.toContain('all-low');
    expect(left.map(({ id }) => id)).not.toContain('all-high');
    expect(new Set(left.map(({ hash }) => hash)).size).toBe(left.length);
  });
});
