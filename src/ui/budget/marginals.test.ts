/** Bars of all rows and layers in one pass, against the allocator's own figure of each part. */
import { describe, expect, it } from 'vitest';
import { costedSites, marginal, type Evidence, type Formats } from '../../allocate/cost';
import { philox4x32 } from '../../base/random';
import type { SiteFormat } from '../../graph/policy';
import { gpt2Graph } from '../../models/gpt2';
import { columnSites, gridModel, isWide } from '../grid/grid-model';
import { measured } from '../shown-fixture';
import { marginals } from './marginals';

const GRAPH = gpt2Graph({ model: 'tiny', layers: 4, width: 64, heads: 2, positions: 32, vocabulary: 96, eps: 1e-5 });
const draw = (n: number): number => (philox4x32([n, 0, 0, 0], [5, 0])[0] ?? 0) / 2 ** 32;

describe('marginal bars', () => {
  it.each(['nvfp4', 'fp8-out'] as const)('say of every row and layer of %s what the allocator says', (recipe) => {
    const sites = costedSites(GRAPH, recipe);
    const model = gridModel(GRAPH, recipe);
    const results = (seed: number) => Object.fromEntries(sites.flatMap(({ id }, i) => (draw(seed + i) < 0.1 ? [] : [[id, measured(10 * draw(seed + 1000 + i))]])));
    const evidence: Evidence = { sites: results(1), floor: null, ...(recipe === 'nvfp4' ? { byFormat: { mxfp8: results(7000), nvfp4: results(1) } } : {}) };
    const choices: readonly SiteFormat[] = recipe === 'nvfp4' ? ['bf16', 'mxfp8', 'nvfp4'] : ['bf16', 'fp8-out'];
    const formats: Formats = Object.fromEntries(sites.map(({ id }, i) => [id, choices[Math.floor(choices.length * draw(3000 + i))]!]));
    const places = new Map(model.rows.flatMap((row, r) => row.sites.map((site, c) => [site.id, { row: r, column: isWide(row) ? null : c }] as const)));
    const found = marginals(sites, formats, evidence, places, model.rows.length, model.columns);
    const near = ({ angleDeg, share }: { angleDeg: number; share: number }, ids: readonly string[]): void => {
      const expected = marginal(sites, formats, evidence, new Set(ids));
      expect(angleDeg).toBeCloseTo(expected.angleDeg, 9);
      expect(share).toBeCloseTo(expected.share, 12);
    };
    model.rows.forEach((row, r) => near(found.rows[r]!, row.sites.map((site) => site.id)));
    for (let c = 0; c < model.columns; c++) near(found.columns[c]!, columnSites(model, c));
    expect(found.columns.some(({ angleDeg }) => angleDeg > 0)).toBe(true);
  });
});
