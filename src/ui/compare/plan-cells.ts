/** The cells of a small grid: a plan's (letter, and what the cell bends in its format) and a fill's of a recipe (ux.md 3.10). */
import { formatOf, resultIn } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import type { SiteId } from '../../graph/policy';
import { evidenceOf, fillOf, sitesOf, type Compared, type Shown } from '../../state';
import type { Mark } from '../charts/heatmap';
import { markOf } from '../grid/grid-model';

export interface SmallCell {
  readonly state: 'value' | 'failed' | 'missing' | 'high';
  /** Of a value: degrees; negative values have no colour. */
  readonly angleDeg: number | null;
  /** Whether the plan keeps it in BF16. */
  readonly isHigh: boolean;
  /** The letter of its format; null where the grid carries none. */
  readonly mark: Mark | null;
}

/** A plan: BF16 has no colour, for it does not bend; a low cell the colour of what it bends in its own format. */
export function planCells(shown: Shown, plan: Plan): ReadonlyMap<SiteId, SmallCell> {
  const evidence = evidenceOf(shown);
  const sites = shown.graph === null ? [] : sitesOf(shown.graph, shown.recipe);
  return new Map(sites.map(({ id }): [SiteId, SmallCell] => {
    const format = formatOf(plan.formats, id);
    const mark = markOf(format);
    if (format === 'bf16') return [id, { state: 'high', angleDeg: null, isHigh: true, mark }];
    const result = resultIn(evidence, id, format);
    if (result?.status === 'measured') return [id, { state: 'value', angleDeg: result.cleanAngleDeg, isHigh: false, mark }];
    return [id, { state: result === undefined ? 'missing' : 'failed', angleDeg: null, isHigh: false, mark }];
  }));
}

/** Results of a recipe through a fill, with a square where its plan keeps BF16. */
export function comparedCells(compared: Compared): ReadonlyMap<SiteId, SmallCell> {
  return new Map([...fillOf(compared, compared.fill)].map(([id, { state, angleDeg }]): [SiteId, SmallCell] => [
    id, { state, angleDeg, isHigh: compared.plan !== null && formatOf(compared.plan.formats, id) === 'bf16', mark: null },
  ]));
}
