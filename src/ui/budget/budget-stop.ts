/**
 * The stop of the frontier that a typed budget means. The field shows rounded numbers, so its own text, typed again, must
 * find the stop it stands for: "9.7" is the stop at 9.722 %, not the one below it (ux.md 3.4).
 */
import { bendAtMost, spendAtMost, type FrontierLine, type FrontierPoint } from '../../allocate/frontier';
import { significant } from '../../base/units';

export type BudgetMode = 'spend' | 'bend';

/** A share 0..1 of the recipe's whole cost as the field shows it, in per cent. */
export function shareText(share: number): string {
  return (100 * share).toFixed(1);
}

/** An angle in degrees as the field shows it. */
export function angleText(angleDeg: number): string {
  return significant(angleDeg);
}

/**
 * Index of the stop for a typed budget (per cent of the recipe's cost, or degrees; a decimal comma counts as a point): the dearest
 * stop shown with that text, otherwise the best one at most at that value. Null where the text is no budget.
 */
export function stopForText(line: FrontierLine, mode: BudgetMode, text: string): number | null {
  const typed = text.trim().replace(',', '.');
  const value = Number(typed);
  if (typed === '' || !Number.isFinite(value) || value < 0) return null;
  const shown = (point: FrontierPoint): string => (mode === 'spend' ? shareText(point.cost / line.totalCost) : angleText(point.angleDeg));
  const same = line.points.findLastIndex((point) => shown(point) === typed);
  if (same >= 0) return same;
  return (mode === 'spend' ? spendAtMost(line, (value / 100) * line.totalCost) : bendAtMost(line, value)).index;
}
