/**
 * Grid arithmetic: focus follows the ARIA grid pattern and never leaves the grid, rectangles hold every site between two
 * corners, and cells say what facts and plan say.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatsWhere, type Plan } from '../../allocate/plan';
import { passSites } from '../../allocate/cost';
import type { Measured } from '../../graph/probe-record';
import { paintableSites } from '../../graph/sites';
import { gpt2Graph } from '../../models/gpt2';
import { createFactsStore, openFacts } from '../../state';
import { allSites, columnSites, gridModel, heatCells, rectangle } from './grid-model';
import { moveFocus } from './navigation';
import { siteFigures, siteSentence, siteWork } from './site-figures';
import { siteName, siteShort } from './site-names';

const GRAPH = gpt2Graph({ model: 'tiny', layers: 3, width: 64, heads: 2, positions: 32, vocabulary: 96, eps: 1e-5 });
const SITES = passSites(GRAPH);
const PLAN: Plan = { name: 'Plan', formats: formatsWhere(SITES, (s) => s.pass === 'wgrad', 'nvfp4'), locked: { 'h.1.mlp.c_fc:dgrad': true }, notes: '' };
const measured = (angleDeg: number): Measured => ({
  status: 'measured', angleDeg, cleanAngleDeg: angleDeg, angleSeDeg: 0.01, belowNoise: false, relativeShift: 0.1, lengthRatio: 1, rotationShare: 1,
  lossChange: 0, localError: 0.01, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 1,
});

describe('focus', () => {
  const shape = { rows: 13, columns: 6, page: 3 };
  const press = (key: string, ctrl = false, shift = false) => ({ key, ctrl, shift });

  it('moves one cell an arrow and stops at the edges', () => {
    expect(moveFocus({ row: 4, column: 2 }, press('ArrowDown'), shape)).toEqual({ row: 5, column: 2 });
    expect(moveFocus({ row: 12, column: 2 }, press('ArrowDown'), shape)).toEqual({ row: 12, column: 2 });
    expect(moveFocus({ row: 0, column: 5 }, press('ArrowRight'), shape)).toEqual({ row: 0, column: 5 });
    expect(moveFocus({ row: 0, column: 0 }, press('ArrowUp'), shape)).toEqual({ row: -1, column: 0 });
    expect(moveFocus({ row: 0, column: 0 }, press('ArrowLeft'), shape)).toEqual({ row: 0, column: -1 });
    expect(moveFocus({ row: 0, column: 0 }, press('ArrowUp', false, true), shape)).toEqual({ row: 0, column: 0 });
  });

  it('goes to row ends, corners and the next op group', () => {
    expect(moveFocus({ row: 4, column: 2 }, press('Home'), shape)).toEqual({ row: 4, column: 0 });
    expect(moveFocus({ row: 4, column: 2 }, press('End'), shape)).toEqual({ row: 4, column: 5 });
    expect(moveFocus({ row: 4, column: 2 }, press('Home', true), shape)).toEqual({ row: 0, column: 0 });
    expect(moveFocus({ row: 4, column: 2 }, press('End', true), shape)).toEqual({ row: 12, column: 5 });
    expect(moveFocus({ row: 4, column: 2 }, press('PageDown'), shape)).toEqual({ row: 7, column: 2 });
    expect(moveFocus({ row: 1, column: 2 }, press('PageUp'), shape)).toEqual({ row: 0, column: 2 });
    expect(moveFocus({ row: 1, column: 2 }, press('x'), shape)).toBeNull();
  });

  it('never leaves the grid, whatever is pressed', () => {
    const keys = fc.constantFrom('ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown');
    fc.assert(fc.property(fc.array(fc.record({ key: keys, ctrl: fc.boolean(), shift: fc.boolean() }), { maxLength: 40 }), (presses) => {
      let at = { row: 0, column: 0 };
      for (const p of presses) at = moveFocus(at, p, shape) ?? at;
      return at.row >= -1 && at.row < 13 && at.column >= -1 && at.column < 6;
    }));
  });
});

describe('grid', () => {
  const model = gridModel(GRAPH);

  it('holds every paintable site once, the head as one fixed row', () => {
    expect(new Set(allSites(model))).toEqual(new Set(paintableSites(GRAPH).map((s) => s.id)));
    expect(allSites(model)).toHaveLength(36);
    expect(model.groups).toEqual([3, 3, 3, 3, 1]);
    expect(model.fixed.map((row) => row.group)).toEqual(['lm_head', 'lm_head', 'lm_head']);
    expect(columnSites(model, 2).every((id) => id.startsWith('h.2.'))).toBe(true);
  });

  it('takes rectangles from either corner', () => {
    const a = { row: 1, column: 2 };
    const b = { row: 3, column: 1 };
    expect(rectangle(model, a, b)).toEqual(rectangle(model, b, a));
    expect(rectangle(model, a, b)).toHaveLength(6);
    expect(rectangle(model, { row: -1, column: -1 }, { row: 12, column: 2 })).toHaveLength(36);
  });

  it('draws what facts and plan say', () => {
    const shown = { ...PLAN, formats: { ...PLAN.formats, 'h.0.attn.c_attn:fprop': 'bf16' as const } };
    const sites = { 'h.0.attn.c_attn:fprop': measured(6.8), 'h.1.attn.c_attn:fprop': { status: 'failed', errorName: 'E-RUN-02', reason: 'zero gradient' } as const };
    const cells = heatCells(model, { sites, measuredHere: new Set(['h.1.attn.c_attn:fprop']), measuring: 'h.2.attn.c_attn:wgrad' }, PLAN, shown, [0.01, 5]);
    const cell = (id: string) => cells.find((c) => c.id === id);
    expect(cell('h.0.attn.c_attn:fprop')).toMatchObject({ state: 'value', angleDeg: 6.8, mark: '4', ghost: 'B', stored: true, dimmed: true });
    expect(cell('h.1.attn.c_attn:fprop')).toMatchObject({ state: 'failed', angleDeg: null, stored: false });
    expect(cell('h.2.attn.c_attn:wgrad')).toMatchObject({ state: 'measuring', angleDeg: null, mark: 'B', ghost: null });
    expect(cell('h.1.mlp.c_fc:dgrad')).toMatchObject({ state: 'missing', locked: true });
  });
});

describe('names and figures', () => {
  it('names a site as people say it', () => {
    expect(siteName(GRAPH, 'h.2.mlp.c_proj:fprop')).toBe('Layer 2, MLP down projection, forward pass');
    expect(siteName(GRAPH, 'h.0.attn.c_attn:wgrad')).toBe('Layer 0, attention query, key, value, weight gradient');
    expect(siteShort(GRAPH, 'h.2.mlp.c_proj:dgrad')).toBe('L2 down dg');
  });

  it('says a cell in one sentence with its rank', () => {
    const store = createFactsStore();
    openFacts(store, GRAPH, 'tiny', 'sha256:x', null);
    store.setState({ sites: { 'h.2.mlp.c_proj:fprop': measured(6.8), 'h.1.mlp.c_proj:fprop': measured(9) }, measuredHere: new Set(['h.2.mlp.c_proj:fprop']) });
    const facts = store.getState();
    expect(siteSentence(facts, PLAN, 'h.2.mlp.c_proj:fprop')).toBe('Layer 2, MLP down projection, forward pass, bending 6.80 degrees, rank 2 of 36, precision NVFP4.');
    expect(siteSentence(facts, PLAN, 'h.1.mlp.c_fc:dgrad')).toBe('Layer 1, MLP up projection, input gradient, not measured, precision NVFP4, locked.');
    expect(siteFigures(facts, PLAN, 'h.2.mlp.c_proj:fprop').slice(0, 3).map((f) => f.key)).toEqual(['clean', 'raw', 'se']);
  });

  it('does not call the error of a single batch zero', () => {
    const store = createFactsStore();
    openFacts(store, GRAPH, 'tiny', 'sha256:x', null);
    const batch = { angleDeg: 1, relativeShift: 0.1, lengthRatio: 1, rotationShare: 1, lossChange: 0, localError: 0.01 };
    const error = (count: number): string | undefined => {
      store.setState({ sites: { 'h.0.mlp.c_fc:wgrad': { ...measured(1), perBatch: new Array<typeof batch>(count).fill(batch) } } });
      return siteFigures(store.getState(), PLAN, 'h.0.mlp.c_fc:wgrad').find((f) => f.key === 'se')?.value;
    };
    expect(error(1)).toBe('unknown (1 batch)');
    expect(error(4)).toBe('± 0.0100 deg (4 batches)');
  });

  it('shares out all GEMM work', () => {
    expect(SITES.reduce((sum, site) => sum + siteWork(GRAPH, site.id), 0)).toBeCloseTo(1, 12);
  });
});
