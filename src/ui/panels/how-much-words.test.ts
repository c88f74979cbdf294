/** The sentences of a search: each is held to figures worked out by hand. */
import { describe, expect, it } from 'vitest';
import type { BatchesRow, Spread } from '../../allocate/batches-needed';
import type { HowMuchState, HowMuchTry } from '../../state';
import { answer, batchesVerdict, costWordsOf, settledWords, spreadText, type CostWords } from './how-much-words';

const step = (part: Partial<Extract<HowMuchTry, { status: 'measured' }>>): HowMuchTry => ({
  status: 'measured', aimedDeg: 10, index: 3, cost: 132, predictedDeg: 9.5, planHash: 'sha256:p', figure: 0.132, angleDeg: 9.804, angleSeDeg: 0.21, meets: true, isKnown: false, ...part,
});
const BEST = { aimedDeg: 10, index: 3, cost: 132, predictedDeg: 9.5, angleDeg: 9.804, angleSeDeg: 0.21, meets: true };
const state = (part: Partial<HowMuchState>): HowMuchState => ({
  key: { text: 't', recipe: 'r' }, targetDeg: 10, status: 'done', steps: [step({ angleDeg: 12, meets: false, index: 1, cost: 0, figure: 0 }), step({ angleDeg: 11, meets: false, index: 2 }), step({})],
  best: BEST, isSettled: true, costRange: [121, 149], figureRange: [0.121, 0.149], plan: null, batches: [], reason: null, costKind: 'gemm', costName: 'HP GEMM work', ...part,
});
const words = (of: HowMuchState): CostWords => costWordsOf(of, 'of GEMM work in BF16', () => NaN);

describe('how much is needed', () => {
  it('says budget, range, angle and what it cost to know', () => {
    expect(answer(state({}), words(state({})))).toBe('10.0 deg needs 13.2 % of GEMM work in BF16 (12.1 to 14.9 % within one standard error): measured 9.80 ± 0.21 deg, 3 joint measurements.');
    const one = state({ figureRange: null, costRange: null, best: { ...BEST, angleSeDeg: null }, steps: [step({ isKnown: true, angleSeDeg: null })] });
    expect(answer(one, words(one))).toBe('10.0 deg needs 13.2 % of GEMM work in BF16 (one batch, so no standard error): measured 9.80 deg, 1 joint measurement, known before.');
    const bits = state({ costKind: 'bits', costName: 'effective bits', steps: [step({ figure: 5.9 })], figureRange: [5.8, 6.1] });
    expect(answer(bits, words(bits))).toBe('10.0 deg needs 5.90 bits (5.80 to 6.10 bits within one standard error): measured 9.80 ± 0.21 deg, 1 joint measurement.');
  });

  it('says what is known where there is no answer', () => {
    const none = state({ best: null, status: 'done', steps: [step({ angleDeg: 12.04, meets: false })] });
    expect(answer(none, words(none))).toBe('None of the plans measured bends at most 10.0 deg: the least was 12.0 deg (1 joint measurement).');
    expect(answer(state({ best: null, status: 'stopped', steps: [] }), words(state({})))).toBe('Stopped before anything was measured.');
    expect(answer(state({ best: null, status: 'failed', reason: 'E-RUN-01: NaN' }), words(state({})))).toBe('The search failed. E-RUN-01: NaN');
    expect(answer(state({ best: null, status: 'running' }), words(state({})))).toBeNull();
    expect(settledWords(state({ best: null }))).toBeNull();
  });

  it('says whether the answer is settled, and why', () => {
    expect(settledWords(state({}))).toBe('Settled: within 5 % of the target.');
    expect(settledWords(state({ best: { ...BEST, angleDeg: 9 } }))).toBe('Settled: the next cheaper plan misses the target.');
    expect(settledWords(state({ best: { ...BEST, angleDeg: 9 }, isSettled: false }))).toMatch(/^Not settled: after 4 measurements it is more than 5 % below/);
    expect(settledWords(state({ best: { ...BEST, angleDeg: 9 }, isSettled: false, status: 'stopped' }))).toMatch(/^Not settled: the search was stopped; it is/);
  });
});

describe('how little data is enough', () => {
  const flat = (x: number): Spread => ({ median: x, least: x, most: x });
  const row = (batches: number, cost: Spread, predictedDeg: Spread, cellsChanged: Spread): BatchesRow => ({ batches, subsets: 4, isComplete: true, cost, predictedDeg, cellsChanged, jointDeg: null });
  const cost = words(state({}));

  it('is the smallest number of batches whose every choice comes near', () => {
    const rows = [
      row(1, { median: 100, least: 80, most: 104 }, flat(10), { median: 5, least: 2, most: 9 }),
      row(2, { median: 100, least: 96, most: 104 }, { median: 10, least: 9.6, most: 10.4 }, { median: 1, least: 0, most: 2 }),
      row(3, flat(100), flat(10), flat(0)),
    ];
    expect(batchesVerdict(rows, cost)).toBe('2 of 3 batches would have been enough: whichever are taken, cost and predicted angle are within 5 % of those of all 3, and at most 2 cells differ.');
    expect(batchesVerdict([rows[0]!, row(2, flat(100), { median: 10, least: 9.4, most: 10 }, flat(1)), rows[2]!], cost)).toMatch(/^All 3 batches count: with 2 the plan costs 10\.0 % to 10\.0 %/);
  });
  it('says so where there is only one batch, or no figures', () => {
    expect(batchesVerdict([row(1, flat(1), flat(1), flat(0))], cost)).toMatch(/^There is one calibration batch/);
    expect(batchesVerdict([], cost)).toBeNull();
  });
  it('reads a spread as its median and range', () => {
    expect([spreadText(flat(2), String), spreadText({ median: 2, least: 1, most: 3 }, String)]).toEqual(['2', '2 (1 to 3)']);
  });
});
