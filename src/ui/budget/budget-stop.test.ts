/** Typed budgets against a frontier small enough to solve by hand: equal costs, so each stop adds the cell that bends most. */
import { describe, expect, it } from 'vitest';
import { solveFrontier } from '../../allocate/knapsack';
import { angleText, shareText, stopForText } from './budget-stop';

/** 7 of 72 units is 9.722 %; the last cell costs most and bends least. */
const COSTS = [7, 7, 7, 51];
const line = solveFrontier(COSTS.map((cost, i) => ({ id: `s${i}`, cost, tan2: [0.09, 0.04, 0.01, 0.0025][i]!, floorTan2: 0, lock: null })));

describe('a typed budget', () => {
  it('finds the stop that the field shows with the same text', () => {
    expect(shareText(line.points[1]!.cost / line.totalCost)).toBe('9.7');
    expect(line.points[1]!.cost / line.totalCost).toBeGreaterThan(0.097);
    expect(stopForText(line, 'spend', '9.7')).toBe(1);
    expect(stopForText(line, 'spend', ' 9,7 ')).toBe(1);
  });

  it('shows every stop so that it is found again, the dearest among equal texts', () => {
    line.points.forEach((point, index) => {
      expect(stopForText(line, 'spend', shareText(point.cost / line.totalCost))).toBe(index);
      expect(stopForText(line, 'bend', angleText(point.angleDeg))).toBe(index);
    });
    const near = solveFrontier([100_000, 1, 1, 1].map((cost, i) => ({ id: `n${i}`, cost, tan2: 0.04 - 0.01 * i, floorTan2: 0, lock: null })));
    const zeros = near.points.filter((point) => (100 * point.cost) / near.totalCost < 0.05).length;
    expect(zeros).toBe(4);
    expect(stopForText(near, 'spend', '0.0')).toBe(3);
  });

  it('otherwise stays at or below the number', () => {
    expect(stopForText(line, 'spend', '9.6')).toBe(0);
    expect(stopForText(line, 'spend', '12')).toBe(1);
    expect(stopForText(line, 'spend', '250')).toBe(line.points.length - 1);
    const between = (line.points[1]!.angleDeg + line.points[2]!.angleDeg) / 2;
    expect(stopForText(line, 'bend', String(between))).toBe(2);
  });

  it('takes only numbers from 0', () => {
    for (const text of ['', '  ', 'much', '-1', 'Infinity']) expect(stopForText(line, 'spend', text)).toBeNull();
  });
});
