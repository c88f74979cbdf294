/**
 * Grid arithmetic: focus follows the ARIA grid pattern and never leaves the grid, rectangles hold every site between two
 * corners, and cells say what facts and plan say.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatsWhere, presetPlan, presets, type Plan } from '../../allocate/plan';
import { costedSites } from '../../allocate/cost';
import { paintableSites } from '../../graph/sites';
import { gpt2Graph } from '../../models/gpt2';
import type { SiteResult } from '../../graph/probe-record';
import { fillOf, hashOfPlan, type Shown } from '../../state';
import { measured, shownWith } from '../shown-fixture';
import { allSites, columnSites, gridModel, heatCells, isWide, markOf, positionOf, rectangle, siteAt, withGhosts } from './grid-model';
import { tipPlace } from './cell-tooltip';
import { moveFocus } from './navigation';
import { siteFigures, siteShapes, siteShare } from './site-figures';
import { siteSentence } from './site-sentence';
import { siteName, siteShort } from './site-names';

const GRAPH = gpt2Graph({ model: 'tiny', layers: 3, width: 64, heads: 2, positions: 32, vocabulary: 96, eps: 1e-5 });
const SITES = costedSites(GRAPH, 'nvfp4');
const PLAN: Plan = { name: 'Plan', formats: formatsWhere(SITES, (s) => s.pass === 'wgrad', 'nvfp4'), locked: { 'h.1.mlp.c_fc:dgrad': true }, notes: '' };

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

describe('the tooltip', () => {
  const tip = { width: 304, height: 400 };
  const cell = (left: number, top: number) => ({ left, right: left + 70, top, bottom: top + 26 });

  it('covers neither cells nor handles where there is room beside them', () => {
    expect(tipPlace(cell(600, 300), { left: 280, right: 1063 }, tip, { innerWidth: 1440, innerHeight: 900 })).toEqual({ left: 1073, top: 276 });
    // Over the row labels, left of the first cell.
    expect(tipPlace(cell(414, 700), { left: 265, right: 1008 }, tip, { innerWidth: 1024, innerHeight: 768 })).toEqual({ left: 101, top: 334 });
  });

  it('never covers its own cell and stays on the page', () => {
    for (let left = 150; left < 700; left += 50) for (let top = 60; top < 700; top += 60) {
      const at = tipPlace(cell(left, top), { left: 16, right: 760 }, tip, { innerWidth: 780, innerHeight: 1200 });
      expect(at.left >= left + 70 || at.left + tip.width <= left || at.top >= top + 26 || at.top + tip.height <= top).toBe(true);
      expect(at.left >= 8 && at.left + tip.width <= 772 && at.top >= 8 && at.top + tip.height <= 1200).toBe(true);
    }
  });
});

describe('grid of passes', () => {
  const model = gridModel(GRAPH, 'nvfp4');

  it('holds every paintable site once, the head as one fixed row', () => {
    expect(new Set(allSites(model))).toEqual(new Set(paintableSites(GRAPH, 'nvfp4').map((s) => s.id)));
    expect(allSites(model)).toHaveLength(36);
    expect(model).toMatchObject({ groups: [3, 3, 3, 3, 1], page: 3 });
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
    const fill = fillOf(shownWith({ graph: GRAPH }, { sites }), 'isolated');
    const cells = withGhosts(heatCells(model, { fill, measuring: 'h.2.attn.c_attn:wgrad', isStored: (id) => id !== 'h.1.attn.c_attn:fprop' }, PLAN, [0.01, 5]), PLAN, shown);
    const cell = (id: string) => cells.find((c) => c.id === id);
    expect(cell('h.0.attn.c_attn:fprop')).toMatchObject({ state: 'value', angleDeg: 6.8, mark: '4', ghost: 'B', stored: true, dimmed: true, wide: false });
    expect(cell('h.1.attn.c_attn:fprop')).toMatchObject({ state: 'failed', angleDeg: null, stored: false });
    expect(cell('h.2.attn.c_attn:wgrad')).toMatchObject({ state: 'measuring', angleDeg: null, mark: 'B', ghost: null });
    expect(cell('h.1.mlp.c_fc:dgrad')).toMatchObject({ state: 'missing', locked: true, stored: false });
    const zero = heatCells(model, { fill: new Map([['h.0.attn.c_attn:fprop', { state: 'value', angleDeg: 0, belowNoise: true, reason: null }]]), measuring: null, isStored: () => false }, PLAN, [0.01, 90]);
    expect(zero[0]).toMatchObject({ angleDeg: 0, dimmed: false });
  });
});

describe('grid of op groups', () => {
  const model = gridModel(GRAPH, 'fp8-out');

  it('has ten rows of a layer between three wide cells, in blocks that end with a residual sum', () => {
    expect(model.rows.map((row) => (isWide(row) ? 'wide' : row.groupLabel.short))).toEqual(['wide', 'ln 1', 'qkv', 'attn', 'proj', 'res 1', 'ln 2', 'fc', 'act', 'down', 'res 2', 'wide', 'wide']);
    expect(model).toMatchObject({ kind: 'out', groups: [1, 5, 5, 2], page: 5, fixed: [] });
    expect(allSites(model)).toHaveLength(10 * 3 + 3);
  });

  it('finds a wide cell at every column, and puts it into no layer', () => {
    for (const column of [0, 1, 2]) expect(siteAt(model, { row: 0, column })).toBe('wte:out');
    expect(siteAt(model, { row: 0, column: -1 })).toBeNull();
    expect(siteAt(model, { row: 8, column: 2 })).toBe('h.2.mlp.act:out');
    expect(positionOf(model, 'lm_head:out')).toEqual({ row: 12, column: 0 });
    expect(positionOf(model, 'h.0.mlp.c_fc:fprop')).toBeNull();
    expect(columnSites(model, 1)).toHaveLength(10);
    expect(rectangle(model, { row: 0, column: 2 }, { row: 1, column: 2 })).toEqual(['wte:out', 'h.2.ln_1:out']);
  });

  it('marks a format by its bits', () => {
    expect((['bf16', 'nvfp4', 'mxfp4', 'mxfp8', 'fp8', 'fp8-block', 'fp8-out'] as const).map(markOf)).toEqual(['B', '4', '4', '8', '8', '8', '8']);
  });
});

describe('names and figures', () => {
  const facts = shownWith({ graph: GRAPH }, { sites: { 'h.2.mlp.c_proj:fprop': measured(6.8), 'h.1.mlp.c_proj:fprop': measured(9) }, measuredHere: new Set(['h.2.mlp.c_proj:fprop']) });

  it('names a site as people say it', () => {
    expect(siteName(GRAPH, 'h.2.mlp.c_proj:fprop')).toBe('Layer 2, MLP down projection, forward pass');
    expect(siteName(GRAPH, 'h.0.attn.c_attn:wgrad')).toBe('Layer 0, attention query, key, value, weight gradient');
    expect(siteName(GRAPH, 'h.2.mlp.act:out')).toBe('Layer 2, MLP activation output');
    expect(siteName(GRAPH, 'ln_f:out')).toBe('final norm output');
    expect(siteShort(GRAPH, 'h.2.mlp.c_proj:dgrad')).toBe('L2 down dg');
    expect(siteShort(GRAPH, 'h.2.mlp.act:out')).toBe('L2 act out');
  });

  it('says a cell in one sentence with its rank', () => {
    expect(siteSentence(facts, PLAN, 'h.2.mlp.c_proj:fprop', 'isolated')).toBe('Layer 2, MLP down projection, forward pass, bending 6.80 degrees, rank 2 of 36, precision NVFP4.');
    expect(siteSentence(facts, PLAN, 'h.1.mlp.c_fc:dgrad', 'isolated')).toBe('Layer 1, MLP up projection, input gradient, not measured, precision NVFP4, locked.');
    expect(siteSentence(facts, PLAN, 'h.2.mlp.c_proj:fprop', 'persistent')).toBe('Layer 2, MLP down projection, forward pass, what persists not measured, precision NVFP4.');
    expect(siteFigures(facts, PLAN, 'h.2.mlp.c_proj:fprop').slice(0, 3).map((f) => f.key)).toEqual(['clean', 'raw', 'se']);
  });

  it('says why a figure is missing, and of a negative one what it means', () => {
    const [id, failed] = ['h.0.mlp.c_fc:wgrad', 'h.1.mlp.c_fc:wgrad'];
    const persistent = { overBatches: { reason: 'needs at least 8 batches; this run has 4' }, overDraws: { reason: 'off' } };
    const hash = hashOfPlan(shownWith({ graph: GRAPH }), presetPlan(presets('nvfp4')[0]!, SITES, 'nvfp4'))!;
    const allLow = (result: SiteResult) => shownWith({ graph: GRAPH }, {
      sites: { [id]: { ...measured(1), localError: null, persistent }, [failed]: { status: 'failed', errorName: 'E-RUN-01', reason: 'NaN' } }, leaveOneOut: { [id]: measured(6.1) }, joint: { [hash]: { planHash: hash, lowSites: 36, result } },
    });
    const shown = allLow(measured(6));
    const figure = (of: Shown, key: string) => siteFigures(of, PLAN, id).find((f) => f.key === key)?.value;
    expect(siteSentence(shown, PLAN, id, 'local-error')).toContain('local error not known: its own output is zero or overflows,');
    expect(siteSentence(shown, PLAN, id, 'persistent')).toContain('what persists not known: needs at least 8 batches; this run has 4,');
    expect(siteSentence(shown, PLAN, failed, 'isolated')).toContain('failed, E-RUN-01: NaN,');
    expect(siteSentence(shown, PLAN, id, 'leave-one-out')).toContain('left out takes away −1.11 degrees, bends more without it,');
    expect(figure(shown, 'local')).toBe('not known: its own output is zero or overflows');
    expect(figure(shown, 'left-out')).toBe('6.10 deg, takes away −1.11 deg: bends more without it');
    expect(figure(allLow({ status: 'failed', errorName: 'E-RUN-02', reason: 'zero gradient' }), 'left-out')).toBe('6.10 deg, what that takes away is not known: All low failed: E-RUN-02: zero gradient');
  });

  it('does not call the error of a single batch zero', () => {
    const batch = { angleDeg: 1, relativeShift: 0.1, lengthRatio: 1, rotationShare: 1, lossChange: 0, localError: 0.01 };
    const error = (count: number): string | undefined => {
      const one = shownWith({ graph: GRAPH }, { sites: { 'h.0.mlp.c_fc:wgrad': { ...measured(1), perBatch: new Array<typeof batch>(count).fill(batch) } } });
      return siteFigures(one, PLAN, 'h.0.mlp.c_fc:wgrad').find((f) => f.key === 'se')?.value;
    };
    expect(error(1)).toBe('unknown (1 batch)');
    expect(error(4)).toBe('± 0.0100 deg (4 batches)');
  });

  it('says what persists with its error, or why it is not known, and of what a random angle is', () => {
    const id = 'h.0.mlp.c_fc:wgrad';
    const persistent = { overBatches: { reason: 'needs at least 8 batches; this run has 4' }, overDraws: { draws: 8, relative: 0.0123, standardError: 0.002, share: 0.25 } };
    const of = (options: { sr?: boolean }) => Object.fromEntries(siteFigures(shownWith({ graph: GRAPH }, { sites: { [id]: { ...measured(1), persistent } } }, 'nvfp4', options), PLAN, id).map((f) => [f.label, f.value]));
    expect(of({ sr: true })).toMatchObject({
      'Bending if NVFP4, clean, one draw': '1.00 deg', 'Persists over batches': 'not known: needs at least 8 batches; this run has 4',
      'Persists over 8 draws': '1.23 ± 0.20 %, 25 % of the squared shift', 'All low but this one': 'not measured',
    });
    expect(of({})).toHaveProperty(['Bending if NVFP4, clean'], '1.00 deg');
  });

  it('shares out the whole cost of each kind, and says what an output keeps', () => {
    for (const recipe of ['nvfp4', 'fp8-out'] as const) {
      expect(costedSites(GRAPH, recipe).reduce((sum, site) => sum + siteShare(GRAPH, recipe, site.id), 0)).toBeCloseTo(1, 12);
    }
    expect(siteShapes(GRAPH, 'h.0.mlp.c_fc:out', 2, 32)).toBe('y and its arriving gradient, [64 × 256]; 32.0 KiB kept in BF16');
    expect(siteShapes(GRAPH, 'h.0.mlp.c_proj:out', 2, 32)).toBe('y and its arriving gradient, [64 × 64]; not kept for the backward pass');
    const shown = shownWith({ graph: GRAPH }, {}, 'fp8-out');
    expect(siteFigures(shown, PLAN, 'h.0.mlp.c_proj:out').find((f) => f.key === 'cost')?.value).toBe('nothing: not kept');
  });
});
