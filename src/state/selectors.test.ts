/** What is asked of two plans at every move of a hand, held to the list of their differences. */
import { describe, expect, it } from 'vitest';
import { differences, withFormats } from '../allocate/plan';
import { allLowPlan, countDifferences, isReferencePlan, sitesOf } from '.';
import { ALL_SITES, GRAPH } from './page-fixture';

const shown = { graph: GRAPH, recipe: 'nvfp4' } as const;
const low = allLowPlan(shown)!;

describe('two plans', () => {
  it('differ in as many sites as are listed, a site that one does not name being BF16', () => {
    const other = withFormats(low, { [ALL_SITES[0]!]: 'bf16', [ALL_SITES[5]!]: 'mxfp8' });
    for (const [a, b] of [[low, other], [other, low], [low, { formats: {} }], [low, low]] as const) {
      expect(countDifferences(shown, a, b)).toBe(differences(sitesOf(GRAPH, 'nvfp4'), a.formats, b.formats).length);
    }
    expect(countDifferences({ ...shown, graph: null }, low, other)).toBe(0);
  });

  it('are the reference where nothing is low', () => {
    expect(isReferencePlan(low)).toBe(false);
    expect(isReferencePlan(withFormats(low, Object.fromEntries(ALL_SITES.map((id) => [id, 'bf16']))))).toBe(true);
  });
});
