/**
 * A plan's figures as every list of plans shows them: what it costs under the chosen cost, predicted and measured angle,
 * each under the plan's own recipe and switches. A figure that does not exist says why.
 */
import { formatOf, type PlanTotals } from '../../allocate/cost';
import { degreesFigure, formatDegrees, significant } from '../../base/units';
import type { SiteFormat, SiteId } from '../../graph/policy';
import type { SiteResult } from '../../graph/probe-record';
import { costFaultOf, costFigureOf, costKindOf, costOf, formatName, isReferencePlan, jointOf, shownUnder, totalsOf, type CostChoice, type PlanInContext, type Shown } from '../../state';
import { costUnit, NO_COST } from '../budget/cost-words';
import { costText } from '../charts/cost-axis';

/** A figure in words; `why` where it does not exist. */
export interface FigureText {
  readonly text: string;
  readonly why?: string;
  /** The text without its unit, for a column that names it; absent where there is no figure. */
  readonly bare?: string;
}

export interface PlanFigures {
  /** What is shown, under the plan's recipe and switches. */
  readonly shown: Shown;
  readonly totals: PlanTotals | null;
  /** The joint measurement of exactly this plan; null where there is none. */
  readonly measured: SiteResult | null;
  /** Nothing is low: the plan is what others are measured against. */
  readonly isReference: boolean;
  /** Share of everything in BF16, or bits: the chosen cost where the recipe has it, else its own; null where a format has no cost. */
  readonly cost: number | null;
}

/** Figures of a plan under its own recipe and switches, with the results of what is shown. */
export function planFigures(shown: Shown, { plan, ...context }: PlanInContext, choice: CostChoice): PlanFigures {
  const own = shownUnder(shown, context);
  return { shown: own, totals: totalsOf(own, plan), measured: jointOf(own, plan)?.result ?? null, isReference: isReferencePlan(plan), cost: costFigureOf(own, plan, choice) };
}

/** What plans pay by, as the page calls it: "HP GEMM work", "Effective bits". */
export function costTitle(shown: Shown, choice: CostChoice): string {
  const name = costOf(shown, choice)?.name ?? 'cost';
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** "13.0 %", "5.90 bits", or "not known" and why. */
export function priceText(shown: Shown, choice: CostChoice, cost: number | null): FigureText {
  if (cost === null) return { text: 'not known', why: costFaultOf(shown, choice)?.message ?? NO_COST };
  return { text: costText({ unit: costUnit(costKindOf(shown.recipe, choice.kind)) }, cost) };
}

/** "9.51 deg", or "not predicted" and why. */
export function predictedText(totals: PlanTotals | null): FigureText {
  if (totals === null) return { text: 'no model' };
  if (totals.predictedDeg !== null) return { text: formatDegrees(totals.predictedDeg), bare: degreesFigure(totals.predictedDeg) };
  const n = totals.unpredicted.length;
  return { text: 'not predicted', why: `${n} low ${n === 1 ? 'cell is' : 'cells are'} not measured in ${n === 1 ? 'its' : 'their'} format.` };
}

/** "9.80 ± 0.21 deg", "failed", "not yet"; of all in BF16 that it is the reference. */
export function measuredText({ measured: result, isReference }: Pick<PlanFigures, 'measured' | 'isReference'>): FigureText {
  if (isReference) return { text: 'reference', why: 'Nothing is low, so it is what others are measured against: 0 degrees.' };
  if (result === null) return { text: 'not yet', why: 'This plan was not measured jointly: verify it.' };
  if (result.status === 'failed') return { text: 'failed', why: `${result.errorName}: ${result.reason}` };
  const bare = degreesFigure(result.angleDeg);
  if (result.angleSeDeg === null) return { text: formatDegrees(result.angleDeg), bare, why: 'One batch: its standard error is unknown.' };
  const withError = `${bare} ± ${significant(result.angleSeDeg, 2)}`;
  return { text: `${withError} deg`, bare: withError };
}

/** The same where there is no room for the error: "9.80 deg". */
export function measuredShort(figures: Pick<PlanFigures, 'measured' | 'isReference'>): string {
  const { measured, isReference } = figures;
  return !isReference && measured?.status === 'measured' ? formatDegrees(measured.angleDeg) : measuredText(figures).text;
}

/** The formats of the plan that hold cells, BF16 first, then highest precision first, and how many each has: "BF16 / FP8 / NVFP4", "15 / 2 / 127". */
export function siteCounts(totals: PlanTotals, low: readonly SiteFormat[]): { readonly names: string; readonly counts: string } {
  const formats: readonly SiteFormat[] = ['bf16', ...low];
  return { names: formats.map(formatName).join(' / '), counts: formats.map((format) => totals.siteCount[format]).join(' / ') };
}

/** Cells of a grid that two plans hold in different formats, in the order of `ids`; cells that either has not are left out. */
export function differingCells(ids: readonly SiteId[], a: PlanInContext['plan'], b: PlanInContext['plan']): SiteId[] {
  return ids.filter((id) => Object.hasOwn(a.formats, id) && Object.hasOwn(b.formats, id) && formatOf(a.formats, id) !== formatOf(b.formats, id));
}
