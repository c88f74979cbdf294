/** Plans of three formats, unstable cells and A on the grid: what is drawn, what a screen reader says, what a drag draws anew. */
import { describe, expect, it } from 'vitest';
import { costedSites } from '../../allocate/cost';
import { bendAtMost } from '../../allocate/frontier';
import { formatsWhere, planAt, type Plan } from '../../allocate/plan';
import type { SiteId } from '../../graph/policy';
import { gpt2Graph } from '../../models/gpt2';
import { fillOf, frontierOf, OWN_COST, shownOf, createFactsStore, resultsKey, type PinnedPlan, type Results, type Shown } from '../../state';
import { changeResults } from '../../state/facts';
import { isSameCell, type HeatCell } from '../charts/heatmap';
import { measured, shownWith } from '../shown-fixture';
import { brushFormat, brushLabel, formatMarked, offeredFormats, steppedFormat } from './brushes';
import { differenceFault, differenceWords } from './difference';
import { gridModel, heatCells, type CellFacts, withGhosts } from './grid-model';
import { methodRanks } from './method-ranks';
import { siteFigures } from './site-figures';
import { siteSentence } from './site-sentence';
import { isInRange, scrolledBlocks, visibleColumns } from './visible-columns';

const GRAPH = gpt2Graph({ model: 'tiny', layers: 3, width: 64, heads: 2, positions: 32, vocabulary: 96, eps: 1e-5 });
const SITES = costedSites(GRAPH, 'nvfp4');
const MODEL = gridModel(GRAPH, 'nvfp4');
const [X, Y, Z] = ['h.0.attn.c_attn:fprop', 'h.1.mlp.c_fc:dgrad', 'h.2.mlp.c_proj:wgrad'] as const;
const LOW: Plan = { name: 'Plan', formats: formatsWhere(SITES, () => false, 'nvfp4'), locked: {}, notes: '' };
const having = (plan: Plan, formats: Plan['formats']): Plan => ({ ...plan, formats: { ...plan.formats, ...formats } });
const angles: Results['sites'] = Object.fromEntries(SITES.map(({ id }, i) => [id, measured(0.5 + ((7 * i) % 11))]));

/** The page with NVFP4 measured everywhere, and MXFP8 where `other` says. */
function shownWithSecond(other: Results['sites'] = {}, sites: Results['sites'] = angles): Shown {
  const facts = createFactsStore();
  facts.setState({ graph: GRAPH, modelSha256: 'sha256:m' });
  const { data } = facts.getState();
  changeResults(facts, resultsKey(data, 'nvfp4', {}), () => ({ sites, floor: { forwardDeg: 0, backwardDeg: 0, perRun: [] } }));
  changeResults(facts, resultsKey(data, 'mxfp8', {}), () => ({ sites: other }));
  return shownOf(facts.getState(), { recipe: 'nvfp4', options: {}, second: 'mxfp8' });
}
const cellFacts = (shown: Shown, more: Partial<CellFacts> = {}): CellFacts => ({ fill: fillOf(shown, 'isolated'), measuring: null, isStored: () => false, ...more });
const byId = (cells: readonly HeatCell[], id: SiteId): HeatCell => cells.find((cell) => cell.id === id)!;

describe('a plan of three formats', () => {
  const plan = having(LOW, { [X]: 'bf16', [Y]: 'mxfp8' });

  it('is marked B, 8 and 4, and ?? stands where the format was not measured', () => {
    const cells = withGhosts(heatCells(MODEL, cellFacts(shownWithSecond(), { unpredicted: new Set([Y]) }), plan, [0.01, 90]), plan, having(plan, { [X]: 'mxfp8' }));
    expect([X, Y, Z].map((id) => byId(cells, id).mark)).toEqual(['B', '8', '4']);
    expect(byId(cells, X).ghost).toBe('8');
    expect(byId(cells, Y)).toMatchObject({ unpredicted: true, ghost: null });
    expect(byId(cells, Z)).not.toHaveProperty('unpredicted');
  });

  it('shows a change between formats of one letter too', () => {
    const cells = withGhosts(heatCells(MODEL, cellFacts(shownWithSecond()), plan, [0.01, 90]), plan, having(plan, { [Y]: 'fp8' }));
    expect(byId(cells, Y)).toMatchObject({ mark: '8', ghost: '8' });
  });

  it('is said in words, with what is not predicted', () => {
    expect(siteSentence(shownWithSecond(), plan, Y, 'isolated')).toContain('precision MXFP8, not predicted: not measured in MXFP8');
    const known = siteSentence(shownWithSecond({ [Y]: measured(0.61) }), plan, Y, 'isolated');
    expect(known).toContain('precision MXFP8');
    expect(known).not.toContain('not predicted');
    expect(siteSentence(shownWithSecond(), LOW, Y, 'isolated', plan)).toContain('precision NVFP4, MXFP8 in A');
  });

  it('has the angle of every format that was measured, after the raw one', () => {
    const figures = siteFigures(shownWithSecond({ [Y]: measured(0.61) }), plan, Y);
    expect(figures.slice(0, 4).map(({ key }) => key)).toEqual(['clean', 'raw', 'in-mxfp8', 'se']);
    expect(figures[2]).toMatchObject({ label: 'Bending if MXFP8, clean', value: '0.610 deg (raw 0.610 deg)' });
    expect(siteFigures(shownWithSecond(), plan, Y).find(({ key }) => key === 'in-mxfp8')?.value).toBe('not measured, so the plan is not predicted');
    expect(siteFigures(shownWithSecond(), plan, Z).some(({ key }) => key === 'in-mxfp8')).toBe(false);
  });
});

describe('brushes and keys', () => {
  const shown = { recipe: 'nvfp4', second: 'mxfp8', options: {} } as const;

  it('offer BF16 and the low formats, highest precision first, whichever is the recipe', () => {
    expect(offeredFormats(shown)).toEqual(['bf16', 'mxfp8', 'nvfp4']);
    expect(offeredFormats({ recipe: 'mxfp8', second: 'nvfp4', options: {} })).toEqual(['bf16', 'mxfp8', 'nvfp4']);
    expect((['high', 'low', 'second', null] as const).map((brush) => brushFormat(brush, shown))).toEqual(['bf16', 'nvfp4', 'mxfp8', null]);
    expect(brushFormat('second', { recipe: 'nvfp4', second: null })).toBeNull();
  });

  it('find a format by its letter, the recipe’s own first', () => {
    expect([formatMarked(shown, '8'), formatMarked(shown, '4')]).toEqual(['mxfp8', 'nvfp4']);
    expect(formatMarked({ recipe: 'nvfp4', second: null, options: {} }, '8')).toBeNull();
    expect(formatMarked({ recipe: 'fp8', second: 'mxfp8', options: {} }, '8')).toBe('fp8');
    expect(brushLabel({ recipe: 'fp8', second: 'mxfp8', options: {} }, 'mxfp8')).toBe('MXFP8');
    expect(brushLabel(shown, 'mxfp8')).toBe('8');
  });

  it('step through the offered formats and stop at the ends', () => {
    const down = (['bf16', 'mxfp8', 'nvfp4'] as const).map((format) => steppedFormat(shown, format, -1));
    const up = (['bf16', 'mxfp8', 'nvfp4'] as const).map((format) => steppedFormat(shown, format, 1));
    expect(down).toEqual(['mxfp8', 'nvfp4', 'nvfp4']);
    expect(up).toEqual(['bf16', 'bf16', 'mxfp8']);
  });
});

describe('unstable cells', () => {
  const flips = { ...shownWithSecond(), unstable: { ofHash: 'h', flips: new Map([[X, 12], [Y, 4]]) } };

  it('are marked, and said, from five flips on', () => {
    const cells = heatCells(MODEL, cellFacts(flips, { unstable: new Set([X]) }), LOW, [0.01, 90]);
    expect([byId(cells, X).unstable, byId(cells, Y).unstable]).toEqual([true, undefined]);
    expect(siteSentence(flips, LOW, X, 'isolated')).toContain('precision NVFP4, flips in 12 of 100 solves within noise');
    expect(siteSentence(flips, LOW, Y, 'isolated')).not.toContain('flips');
    expect(siteFigures(flips, LOW, X).find(({ key }) => key === 'stability')?.value).toBe('flips in 12 of 100 solves within noise');
    expect(siteFigures(shownWithSecond(), LOW, X).some(({ key }) => key === 'stability')).toBe(false);
  });
});

describe('the difference to A', () => {
  const pinned = (plan: Plan, more: Partial<PinnedPlan> = {}): PinnedPlan => ({ name: 'before', recipe: 'nvfp4', options: {}, second: 'mxfp8', plan, modelSha256: 'sha256:m', ...more });
  const b = having(LOW, { [X]: 'bf16', [Y]: 'mxfp8' });

  it('splits the cells that differ, each side with its own angle, and fades the others', () => {
    const shown = shownWithSecond({ [Y]: measured(0.61) });
    const angleIn = (id: SiteId, format: string): number | null => (format === 'mxfp8' ? (id === Y ? 0.61 : null) : 3);
    const cells = heatCells(MODEL, cellFacts(shown, { against: { plan: LOW, angleIn } }), b, [0.01, 90]);
    expect(byId(cells, X)).toMatchObject({ split: [{ mark: '4', angleDeg: 3 }, { mark: 'B', angleDeg: null }], dimmed: false });
    expect(byId(cells, Y)).toMatchObject({ split: [{ mark: '4', angleDeg: 3 }, { mark: '8', angleDeg: 0.61 }] });
    expect(byId(cells, Z)).toMatchObject({ dimmed: true });
    expect(byId(cells, Z)).not.toHaveProperty('split');
    expect(cells.filter((cell) => cell.split)).toHaveLength(2);
    // A cell that A has not is neither.
    const { [Z]: gone, ...without } = LOW.formats;
    expect(gone).toBe('nvfp4');
    const alone = heatCells(MODEL, cellFacts(shown, { against: { plan: { ...LOW, formats: without }, angleIn } }), b, [0.01, 90]);
    expect(byId(alone, Z)).toMatchObject({ dimmed: false });
  });

  it('is said in one line: cells, cost, prediction, measurement', () => {
    const shown = shownWithSecond({ [Y]: measured(0.61) });
    // 2 x 3 x 64 x 64 MACs of qkv's forward pass, of 3 x (3 + 1 + 4 + 4) x 3 such units.
    const share = (100 * 3) / (3 * 12 * 3);
    expect(differenceWords(pinned(LOW), shown, b, OWN_COST)).toMatch(new RegExp(`^2 of 36 differ; B costs \\+${share.toFixed(1)} % HP work; predicted −[\\d.]+ deg, A and B are not verified jointly$`));
    expect(differenceWords(pinned(LOW), shownWithSecond(), b, OWN_COST)).toContain('B is not predicted, A and B are not verified jointly');
    expect(differenceWords(pinned(b), shown, having(b, { [X]: 'nvfp4' }), { kind: 'bits', ratios: {}, times: null })).toMatch(/^1 of 36 differs; B costs −0\.\d\d effective bits; predicted \+/);
    expect(differenceWords(pinned(LOW, { modelSha256: 'sha256:other' }), shown, b, OWN_COST)).toBe('2 of 36 differ; A is a plan of another model, so cost and bending are not compared');
  });

  it('says why there is none', () => {
    const shown = shownWithSecond();
    expect(differenceFault(shown, null)).toMatch(/Nothing is pinned as A/);
    expect(differenceFault(shown, pinned(LOW, { recipe: 'fp8-out' }))).toMatch(/no counterpart/);
    expect(differenceFault(shown, pinned(LOW, { recipe: 'mxfp8' }))).toBeNull();
  });
});

describe('what a drag draws anew', () => {
  it('is the cells that flip and no other', () => {
    const shown = shownWithSecond();
    const facts = cellFacts(shown);
    const line = frontierOf(shown, LOW, OWN_COST)!;
    const draw = (plan: Plan) => withGhosts(heatCells(MODEL, facts, LOW, [0.01, 90]), LOW, plan);
    let [before, last] = [draw(LOW), LOW];
    for (const share of [0.9, 0.7, 0.5]) {
      const next = planAt(LOW, line, bendAtMost(line, share * line.points[0]!.angleDeg).index);
      const now = draw(next);
      const flipped = SITES.map(({ id }) => id).filter((id) => next.formats[id] !== last.formats[id]);
      expect(flipped.length).toBeGreaterThan(0);
      expect(now.filter((cell, i) => !isSameCell(cell, before[i]!)).map(({ id }) => id).sort()).toEqual([...flipped].sort());
      [before, last] = [now, next];
    }
  });

  it('notices every change of a cell', () => {
    const [cell] = heatCells(MODEL, cellFacts(shownWithSecond()), LOW, [0.01, 90]);
    const changes: Partial<HeatCell>[] = [
      { angleDeg: 9.87 }, { state: 'failed' }, { mark: 'B' }, { ghost: '8' }, { locked: true }, { belowNoise: true }, { stored: true }, { dimmed: true }, { unstable: true }, { unpredicted: true }, { row: 5 }, { column: 5 }, { wide: true },
      { split: [{ mark: '4', angleDeg: 1 }, { mark: 'B', angleDeg: null }] },
    ];
    expect(isSameCell(cell!, { ...cell! })).toBe(true);
    for (const change of changes) {
      expect(isSameCell(cell!, { ...cell!, ...change })).toBe(false);
      expect(isSameCell({ ...cell!, ...change }, structuredClone({ ...cell!, ...change }))).toBe(true);
    }
    // Every field that a cell can have is among them, besides its name.
    expect(new Set(changes.flatMap(Object.keys))).toEqual(new Set([...Object.keys(cell!), 'unstable', 'unpredicted', 'split'].filter((key) => key !== 'id')));
  });

  it('is of a deep model only what is in sight', () => {
    const [cellWidth, width] = [16, 600];
    for (let scrollLeft = 0; scrollLeft < 220 * cellWidth - width; scrollLeft += 37) {
      const range = visibleColumns(scrolledBlocks(scrollLeft, cellWidth), width, cellWidth, 220);
      for (let c = 0; c < 220; c++) {
        const isSeen = (c + 1) * cellWidth > scrollLeft && c * cellWidth < scrollLeft + width;
        if (isSeen) expect(isInRange(range, c)).toBe(true);
      }
      expect(range[1] - range[0]).toBeLessThan(72);
    }
    const cells = heatCells(gridModel(GRAPH, 'fp8-out'), { fill: new Map(), measuring: null, isStored: () => false, columns: [1, 1] }, LOW, [0.01, 90]);
    expect(new Set(cells.filter((cell) => !cell.wide).map(({ column }) => column))).toEqual(new Set([1]));
    expect(cells.filter((cell) => cell.wide)).toHaveLength(3);
  });
});

describe('what other methods say', () => {
  it('ranks a site by each method’s own score, and leaves out passes that it cannot see', () => {
    const sites = { [X]: { ...measured(1), localError: 0.1, lossChange: 0.02 }, 'h.1.attn.c_attn:fprop': { ...measured(2), localError: 0.2, lossChange: 0.01 }, [Y]: { ...measured(3), localError: 0.3, lossChange: 0 } };
    const scores = { [X]: { firstOrder: 1, snip: 0.5 }, 'h.1.attn.c_attn:fprop': { firstOrder: 2, snip: 0.1 }, [Y]: { firstOrder: null, snip: 0.9 } };
    const shown = { ...shownWith({ graph: GRAPH }, { sites }), scores };
    const ranks = (id: SiteId) => Object.fromEntries(methodRanks(shown, id).map(({ method, rank, of }) => [method, rank === null ? null : `${rank}/${of}`]));
    expect(ranks(X)).toEqual({ 'local error': '3/3', 'loss change': '1/2', 'first order': '2/2', SNIP: '2/3' });
    expect(ranks(Y)).toEqual({ 'local error': '1/3', 'loss change': null, 'first order': null, SNIP: '1/3' });
    const figures = siteFigures(shown, LOW, Y);
    expect(figures.find(({ key }) => key === 'methods')?.value).toBe('local error 1 of 3, loss change –, first order –, SNIP 1 of 3');
    expect(figures.find(({ key }) => key === 'first-order')?.value).toBe('none: it cannot see this pass');
    expect(methodRanks(shownWith({ graph: GRAPH }), X)).toEqual([]);
  });
});
