/**
 * What plans pay by (method.md 6): the kind of cost that was chosen, with edited ratios or imported times, as a table of the
 * sites' costs in every format that a plan may hold. A choice that does not go with what is shown (GEMM work of op groups,
 * times without a row for a product) never throws here: `costFaultOf` says why, and there is no table.
 */
import { toPlainError, type PlainError } from '../base/errors';
import { formatOf } from '../allocate/cost';
import { costTable, type CostKind, type CostRequest, type CostTable, type TimeRatios } from '../allocate/costs';
import type { GemmTimes } from '../allocate/gemm-times';
import type { Plan } from '../allocate/plan';
import { PASS_SCHEMES, type PassScheme, type PolicyOptions, type RecipeName, type SiteFormat, type SiteId } from '../graph/policy';
import { RECIPES, type Recipe } from '../graph/recipes';
import type { Graph } from '../graph/types';
import { memo } from './memo';
import type { Shown } from './shown';
import { sitesOf } from './sites';
import type { ViewState } from './view';

export interface CostChoice {
  /** Null: the recipe's own. */
  readonly kind: CostKind | null;
  readonly ratios: TimeRatios;
  readonly times: GemmTimes | null;
}

const choiceMemo = memo((kind: CostKind | null, ratios: TimeRatios, times: GemmTimes | null): CostChoice => ({ kind, ratios, times }), 16);
export function costChoiceOf({ cost, ratios, times }: Pick<ViewState, 'cost' | 'ratios' | 'times'>): CostChoice {
  return choiceMemo(cost, ratios, times);
}
/** The recipe's own cost. */
export const OWN_COST: CostChoice = choiceMemo(null, {}, null);

const KINDS: Readonly<Record<Recipe['kind'], readonly [CostKind, ...CostKind[]]>> = { pass: ['gemm', 'bits', 'time'], out: ['cache', 'bits'] };

/** The kinds of cost that a recipe's plans can pay by, its own first. */
export function costKindsOf(recipe: RecipeName): readonly [CostKind, ...CostKind[]] {
  return KINDS[RECIPES[recipe].kind];
}

/** The kind that counts: the chosen one where the recipe has it, else the recipe's own. */
export function costKindOf(recipe: RecipeName, kind: CostKind | null): CostKind {
  const kinds = costKindsOf(recipe);
  return kinds.find((known) => known === kind) ?? kinds[0];
}

type Priced = Pick<Shown, 'graph' | 'recipe' | 'options' | 'second' | 'data'>;
type Made = { readonly table: CostTable } | { readonly fault: PlainError };

const madeMemo = memo((graph: Graph, recipe: RecipeName, options: PolicyOptions, second: PassScheme | null, kind: CostKind, ratios: TimeRatios | null, times: GemmTimes | null, sequences: number, tokens: number): Made => {
  const sites = sitesOf(graph, recipe);
  const all: readonly SiteFormat[] = RECIPES[recipe].kind === 'out' ? [recipe] : PASS_SCHEMES;
  const asked: readonly SiteFormat[] = second === null ? [recipe] : [recipe, second];
  const shape = { sequences, tokens };
  try {
    if (kind !== 'time') return { table: costTable(graph, sites, all, options, { kind }) };
    if (times === null) return { table: costTable(graph, sites, all, options, { kind, ratios: ratios ?? {} }) };
    const request: CostRequest = { kind, times, shape };
    // Formats that only a hand-painted cell can have need no row.
    const timed = all.filter((format) => asked.includes(format) || covers(graph, recipe, format, options, request));
    return { table: costTable(graph, sites, timed, options, request) };
  } catch (thrown) {
    return { fault: toPlainError(thrown) };
  }
}, 16);

function covers(graph: Graph, recipe: RecipeName, format: SiteFormat, options: PolicyOptions, request: CostRequest): boolean {
  try {
    costTable(graph, sitesOf(graph, recipe), [format], options, request);
    return true;
  } catch {
    return false;
  }
}

function madeOf({ graph, recipe, options, second, data }: Priced, { kind, ratios, times }: CostChoice): Made | null {
  if (graph === null) return null;
  const counts = costKindOf(recipe, kind);
  const isTime = counts === 'time';
  // What a kind does not read is no part of its key.
  const [edited, timed] = [isTime && times === null ? ratios : null, isTime ? times : null];
  const [sequences, tokens] = timed === null ? [1, 1] : [data.sequences, data.tokens];
  return madeMemo(graph, recipe, options, timed === null ? null : second, counts, edited, timed, sequences, tokens);
}

/** The costs of every site in every format; null without a model, or where `costFaultOf` has a reason. */
export function costOf(shown: Priced, choice: CostChoice): CostTable | null {
  const made = madeOf(shown, choice);
  return made !== null && 'table' in made ? made.table : null;
}

/** Why there are no costs: E-PLAN-09 with the product that the times lack, or the ratio out of range; null where there are. */
export function costFaultOf(shown: Priced, choice: CostChoice): PlainError | null {
  const made = madeOf(shown, choice);
  return made !== null && 'fault' in made ? made.fault : null;
}

/** What a plan costs, or its cells in a part of it, in the table's unit; null where a cell's format has no cost. */
export function costSumOf(shown: Priced, plan: Plan, choice: CostChoice, part?: ReadonlySet<SiteId>): number | null {
  const table = costOf(shown, choice);
  return table === null || shown.graph === null ? null : sumMemo(table, shown.graph, shown.recipe, plan.formats, part);
}

const sumMemo = memo((table: CostTable, graph: Graph, recipe: RecipeName, formats: Plan['formats'], part: ReadonlySet<SiteId> | undefined): number | null => {
  let sum = 0;
  for (const { id } of sitesOf(graph, recipe)) {
    if (part !== undefined && !part.has(id)) continue;
    const format = formatOf(formats, id);
    // A format of another plan that the imported times do not name.
    if (!table.formats.includes(format)) return null;
    sum += table.of(id, format);
  }
  return sum;
}, 64);

/** What a plan costs as it is read: a share 0..1 of everything in BF16, or mean bits. */
export function costFigureOf(shown: Priced, plan: Plan, choice: CostChoice): number | null {
  const sum = costSumOf(shown, plan, choice);
  return sum === null ? null : (costOf(shown, choice)?.figureOf(sum) ?? null);
}
