/** The axis that a plan's cost is read on: a share of everything in BF16, in per cent, or mean bits. Pure arithmetic and words. */
import { formatPercent } from '../../base/units';

export interface CostAxis {
  /** "HP GEMM work". */
  readonly name: string;
  /** Of a cost 0..1 read in per cent, or of bits. */
  readonly unit: '%' | 'bits';
  /** Of everything in its cheapest format, and of everything in its dearest. */
  readonly domain: readonly [number, number];
}

/** "13.0 %", "5.90 bits". */
export function costText({ unit }: Pick<CostAxis, 'unit'>, cost: number): string {
  return unit === '%' ? formatPercent(cost) : `${cost.toFixed(2)} bits`;
}

/** A change of cost, its unit only where it is a sign: "+13.0 %", "−0.31", "±0.0 %" where that is all that can be read. */
export function costChangeText(unit: CostAxis['unit'], change: number): string {
  const text = unit === '%' ? formatPercent(Math.abs(change)) : Math.abs(change).toFixed(2);
  return `${/[1-9]/.test(text) ? (change < 0 ? '−' : '+') : '±'}${text}`;
}

/** Place of a cost on the axis, 0..1. */
export function costPosition({ domain: [low, high] }: CostAxis, cost: number): number {
  return high <= low ? 0 : Math.min(1, Math.max(0, (cost - low) / (high - low)));
}

/** The inverse of costPosition. */
export function costAt({ domain: [low, high] }: CostAxis, position: number): number {
  return low + (high - low) * Math.min(1, Math.max(0, position));
}

/** Every 20 % or 10 % of a share, whole or half bits: at most about eight. */
export function costTicks({ unit, domain: [low, high] }: CostAxis): number[] {
  const steps = unit === '%' ? [0.1, 0.2, 0.5] : [0.5, 1, 2];
  const step = steps.find((size) => (high - low) / size <= 8) ?? (high - low) / 8;
  const ticks: number[] = [];
  // Through a count, so that three steps of 0.1 are 0.3.
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/** A tick in as few characters as it needs; the unit stands in the axis's title. */
export function costTickText({ unit }: CostAxis, tick: number): string {
  return String(Number((unit === '%' ? 100 * tick : tick).toPrecision(6)));
}
