/** The sentences of "how much is needed": the answer with its uncertainty, whether it is settled, how little data is enough. */
import type { BatchesRow, Spread } from '../../allocate/batches-needed';
import { MOST_MEASUREMENTS, TOLERANCE, type JointAngle } from '../../allocate/how-much';
import { formatDegrees, significant } from '../../base/units';
import { plural, type HowMuchState } from '../../state';
import { costUnit } from '../budget/cost-words';
import { costFieldText } from '../budget/typed-limit';
import { costText } from '../charts/cost-axis';

/** How the search's costs read. */
export interface CostWords {
  /** Of a cost in the search's integers: "13.2 %", "5.90 bits". */
  of(cost: number): string;
  /** The same of a figure: a share of everything in BF16, or bits. */
  figure(figure: number): string;
  /** And without its unit. */
  bare(figure: number): string;
  /** "of GEMM work in BF16"; empty of bits. */
  readonly what: string;
}

/** Figures are proportional to costs, so any point that was tried says how one becomes the other; `figureOf` where all of them cost nothing. */
export function costWordsOf({ costKind, steps }: Pick<HowMuchState, 'costKind' | 'steps'>, what: string, figureOf: (cost: number) => number): CostWords {
  const unit = costUnit(costKind);
  const figure = (value: number): string => costText({ unit }, value);
  const known = steps.find(({ cost }) => cost > 0);
  return { figure, bare: (value) => costFieldText(unit, value), of: (cost) => figure(known === undefined ? figureOf(cost) : (cost * known.figure) / known.cost), what: unit === 'bits' ? '' : what };
}

/** "9.80 ± 0.21 deg". */
export function measuredStep({ angleDeg, angleSeDeg }: JointAngle): string {
  return angleSeDeg === null ? formatDegrees(angleDeg) : `${significant(angleDeg)} ± ${significant(angleSeDeg, 2)} deg`;
}

/** Joint measurements that the search rests on: "3 joint measurements, 1 of them known before". */
function measurements(steps: HowMuchState['steps']): string {
  const measured = steps.filter((step) => step.status === 'measured');
  const before = measured.filter(({ isKnown }) => isKnown).length;
  return `${plural(measured.length, 'joint measurement')}${before === 0 ? '' : before === measured.length ? ', known before' : `, ${before} of them known before`}`;
}

/** The answer, or why there is none; null while nothing was found yet. */
export function answer({ targetDeg, best, figureRange, steps, status, reason }: HowMuchState, words: CostWords): string | null {
  const target = formatDegrees(targetDeg);
  if (best !== null) {
    const share = [words.of(best.cost), words.what].filter((part) => part !== '').join(' ');
    const range = figureRange === null ? 'one batch, so no standard error' : `${words.bare(figureRange[0])} to ${words.figure(figureRange[1])} within one standard error`;
    return `${target} needs ${share} (${range}): measured ${measuredStep(best)}, ${measurements(steps)}.`;
  }
  if (status === 'failed') return `The search failed. ${reason ?? ''}`;
  if (status === 'running') return null;
  const angles = steps.flatMap((step) => (step.status === 'measured' ? [step.angleDeg] : []));
  return angles.length === 0 ? 'Stopped before anything was measured.' : `None of the plans measured bends at most ${target}: the least was ${formatDegrees(Math.min(...angles))} (${measurements(steps)}).`;
}

/** Whether the answer is as good as can be found, and why; null where there is none. */
export function settledWords({ best, isSettled, status, targetDeg }: HowMuchState): string | null {
  if (best === null || status === 'running') return null;
  if (isSettled) return best.angleDeg >= (1 - TOLERANCE) * targetDeg ? `Settled: within ${100 * TOLERANCE} % of the target.` : 'Settled: the next cheaper plan misses the target.';
  const until = status === 'done' ? `after ${MOST_MEASUREMENTS} measurements` : `the search was ${status === 'failed' ? 'ended by a fault' : 'stopped'};`;
  return `Not settled: ${until} it is more than ${100 * TOLERANCE} % below the target, so a cheaper plan may do.`;
}

/** How close a plan of few batches must come to that of all, in cost and in predicted angle. */
const ENOUGH = 0.05;

const isNear = (spread: Spread, all: number): boolean => spread.least >= (1 - ENOUGH) * all && spread.most <= (1 + ENOUGH) * all;

/** One sentence on the table of batches; null where there is none. */
export function batchesVerdict(rows: readonly BatchesRow[], { of }: CostWords): string | null {
  const all = rows.at(-1);
  if (all === undefined) return null;
  const K = all.batches;
  if (K === 1) return 'There is one calibration batch, so nothing says whether fewer would do.';
  const same = (row: BatchesRow): boolean => isNear(row.cost, all.cost.median) && (row.predictedDeg === null || all.predictedDeg === null || isNear(row.predictedDeg, all.predictedDeg.median));
  const enough = rows.find(same) ?? all;
  if (enough.batches < K) {
    const most = enough.cellsChanged.most;
    return `${enough.batches} of ${K} batches would have been enough: whichever ${enough.batches === 1 ? 'one is' : 'are'} taken, cost and predicted angle are within ${100 * ENOUGH} % of those of all ${K}, and ${most === 0 ? 'no cell differs' : `at most ${plural(most, 'cell')} ${most === 1 ? 'differs' : 'differ'}`}.`;
  }
  const before = rows.at(-2);
  if (before === undefined) return null;
  return `All ${K} batches count: with ${before.batches} the plan costs ${of(before.cost.least)} to ${of(before.cost.most)}, and its cost or its predicted angle is more than ${100 * ENOUGH} % off for some choice of them.`;
}

/** "12.4 (11.0 to 13.9)". */
export function spreadText({ median, least, most }: Spread, text: (value: number) => string): string {
  return least === most ? text(median) : `${text(median)} (${text(least)} to ${text(most)})`;
}
