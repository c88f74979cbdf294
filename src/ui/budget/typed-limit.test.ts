/** Typed budgets against a frontier small enough to solve by hand: each stop adds the cell that bends most. */
import { describe, expect, it } from 'vitest';
import { poseQuestion } from '../../allocate/choices';
import { bendAtMost, solveChoices, spendAtMost, type ChoiceFrontier } from '../../allocate/frontier';
import type { Limit } from '../../allocate/within';
import { angleLimit, angleText, costFieldText, costLimit } from './typed-limit';

function lineOf(costs: readonly number[], tan2: readonly number[]): ChoiceFrontier {
  return solveChoices(poseQuestion(costs.map((cost, i) => ({
    id: `s${i}`, lock: null, offers: [{ format: 'bf16' as const, cost, tan2: 0, floorTan2: 0 }, { format: 'nvfp4' as const, cost: 0, tan2: tan2[i]!, floorTan2: 0 }],
  }))));
}
const tableOf = ({ totalCost }: ChoiceFrontier) => ({ figureOf: (cost: number) => cost / totalCost, costOf: (figure: number) => Math.floor(figure * totalCost) });
const stopAt = (line: ChoiceFrontier, limit: Limit | null): number | null => (limit === null ? null : 'cost' in limit ? spendAtMost(line, limit.cost).index : bendAtMost(line, limit.angleDeg).index);

/** 7 of 72 units is 9.722 %; the last cell costs most and bends least. */
const line = lineOf([7, 7, 7, 51], [0.09, 0.04, 0.01, 0.0025]);
const table = tableOf(line);
const spend = (text: string): number | null => stopAt(line, costLimit(line, table, '%', text));

describe('a typed budget', () => {
  it('finds the stop that the field shows with the same text', () => {
    expect(costFieldText('%', table.figureOf(line.points[1]!.cost))).toBe('9.7');
    expect(table.figureOf(line.points[1]!.cost)).toBeGreaterThan(0.097);
    expect(spend('9.7')).toBe(1);
    expect(spend(' 9,7 ')).toBe(1);
  });

  it('shows every stop so that it is found again, the dearest among equal texts', () => {
    line.points.forEach((point, index) => {
      expect(spend(costFieldText('%', table.figureOf(point.cost)))).toBe(index);
      expect(stopAt(line, angleLimit(line, angleText(point.angleDeg)))).toBe(index);
    });
    const near = lineOf([100_000, 1, 1, 1], [0.04, 0.03, 0.02, 0.01]);
    expect(near.points.filter((point) => (100 * point.cost) / near.totalCost < 0.05)).toHaveLength(4);
    expect(stopAt(near, costLimit(near, tableOf(near), '%', '0.0'))).toBe(3);
  });

  it('otherwise stays at or below the number', () => {
    expect(spend('9.6')).toBe(0);
    expect(spend('12')).toBe(1);
    expect(spend('250')).toBe(line.points.length - 1);
    const between = (line.points[1]!.angleDeg + line.points[2]!.angleDeg) / 2;
    expect(stopAt(line, angleLimit(line, String(between)))).toBe(2);
  });

  it('reads bits as bits', () => {
    const bits = { figureOf: (cost: number) => 4 + cost / 6, costOf: (figure: number) => Math.floor((figure - 4) * 6) };
    expect(costFieldText('bits', bits.figureOf(7))).toBe('5.17');
    expect(stopAt(line, costLimit(line, bits, 'bits', '5.17'))).toBe(1);
    expect(costLimit(line, bits, 'bits', '6')).toEqual({ cost: 12 });
  });

  it('takes only numbers from 0', () => {
    for (const text of ['', '  ', 'much', '-1', 'Infinity']) {
      expect(costLimit(line, table, '%', text)).toBeNull();
      expect(angleLimit(line, text)).toBeNull();
    }
  });
});
