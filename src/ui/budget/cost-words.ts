/** What the budget bar and its chips call a kind of cost, and the axis that costs of a model are read on. */
import type { CostKind, CostTable } from '../../allocate/costs';
import type { Plan } from '../../allocate/plan';
import type { SiteFormat } from '../../graph/policy';
import { costFigureOf, costOf, lowFormatsOf, sitesOf, type CostChoice, type Shown } from '../../state';
import { costChangeText, type CostAxis } from '../charts/cost-axis';

export interface CostWords {
  /** In the chooser. */
  readonly choice: string;
  /** Of the slider: "Spend at most: ...". */
  readonly spend: string;
  /** Of the number field, with its unit: "Spend at most, ...". */
  readonly field: string;
  /** In "+2.8 % HP work", "−0.31 effective bits". */
  readonly short: string;
}

export const COST_WORDS: Readonly<Record<CostKind, CostWords>> = {
  gemm: { choice: 'GEMM work', spend: 'share of GEMM work in BF16', field: 'percent of GEMM work', short: 'HP work' },
  cache: { choice: 'Activation cache', spend: 'share of the activation cache in BF16', field: 'percent of the activation cache', short: 'HP cache' },
  bits: { choice: 'Effective bits', spend: 'effective bits', field: 'effective bits', short: 'effective bits' },
  time: { choice: 'GEMM time', spend: 'GEMM time relative to BF16', field: 'percent of the GEMM time in BF16', short: 'GEMM time' },
};

/** What figures of a kind of cost are read in. */
export function costUnit(kind: CostKind): CostAxis['unit'] {
  return kind === 'bits' ? 'bits' : '%';
}

/** From everything in its cheapest format to everything in its dearest, among those that the solver may take. */
export function costAxis(shown: Shown, table: CostTable): CostAxis {
  const formats: readonly SiteFormat[] = ['bf16', ...lowFormatsOf(shown)];
  let [least, most] = [0, 0];
  for (const { id } of shown.graph === null ? [] : sitesOf(shown.graph, shown.recipe)) {
    const costs = formats.map((format) => table.of(id, format));
    least += Math.min(...costs);
    most += Math.max(...costs);
  }
  return { name: table.name, unit: costUnit(table.kind), domain: [table.figureOf(least), table.figureOf(most)] };
}

/** What taking the place of a plan costs: "+2.8 % HP work"; null where either has no cost. */
export function costChange(shown: Shown, choice: CostChoice, before: Plan, after: Plan): string | null {
  const table = costOf(shown, choice);
  const [a, b] = [costFigureOf(shown, before, choice), costFigureOf(shown, after, choice)];
  if (table === null || a === null || b === null) return null;
  return costChangeWords(table.kind, b - a);
}

/** "+2.8 % HP work", "−0.31 effective bits". */
export function costChangeWords(kind: CostKind, change: number): string {
  return `${costChangeText(costUnit(kind), change)} ${COST_WORDS[kind].short}`;
}

/** Why a plan has no cost: a cell whose format the imported times do not name. */
export const NO_COST = 'A cell has a format that the imported times do not name.';

export function cellsText(count: number): string {
  return count === 1 ? '1 cell' : `${count} cells`;
}
