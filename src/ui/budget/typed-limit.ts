/**
 * What a typed budget means. A field shows rounded numbers, so its own text, typed again, must find the stop it stands for:
 * "9.7" is the stop at 9.722 %, not the one below it (ux.md 3.4).
 */
import type { CostTable } from '../../allocate/costs';
import type { FrontierLine, FrontierPoint } from '../../allocate/frontier';
import type { Limit } from '../../allocate/within';
import { significant } from '../../base/units';
import type { CostAxis } from '../charts/cost-axis';

/** A cost as the field shows it: per cent of everything in BF16, or bits. */
export function costFieldText(unit: CostAxis['unit'], figure: number): string {
  return unit === '%' ? (100 * figure).toFixed(1) : figure.toFixed(2);
}

/** An angle in degrees as the field shows it. */
export function angleText(angleDeg: number): string {
  return significant(angleDeg);
}

/**
 * The limit that a text stands for (a decimal comma counts as a point): that of the dearest stop shown with this text,
 * otherwise the number itself. Null where the text is no number from 0 on.
 */
function limitOf(line: FrontierLine, text: string, shown: (point: FrontierPoint) => string, ofStop: (point: FrontierPoint) => Limit, ofNumber: (value: number) => Limit): Limit | null {
  const typed = text.trim().replace(',', '.');
  const value = Number(typed);
  if (typed === '' || !Number.isFinite(value) || value < 0) return null;
  const stop = line.points.findLast((point) => shown(point) === typed);
  return stop === undefined ? ofNumber(value) : ofStop(stop);
}

/** "Spend at most". */
export function costLimit(line: FrontierLine, table: Pick<CostTable, 'figureOf' | 'costOf'>, unit: CostAxis['unit'], text: string): Limit | null {
  return limitOf(
    line, text, ({ cost }) => costFieldText(unit, table.figureOf(cost)), ({ cost }) => ({ cost }),
    (value) => ({ cost: table.costOf(unit === '%' ? value / 100 : value) }),
  );
}

/** "Bend at most". */
export function angleLimit(line: FrontierLine, text: string): Limit | null {
  return limitOf(line, text, ({ angleDeg }) => angleText(angleDeg), ({ cost }) => ({ cost }), (angleDeg) => ({ angleDeg }));
}
