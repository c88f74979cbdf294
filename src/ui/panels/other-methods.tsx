/**
 * What other methods say of a cell (ux.md 3.6): where each ranks it by its own score, and the format that its plan gives it
 * at what the current plan costs; block protection, which looks at no figure, only the latter.
 */
import type { Plan } from '../../allocate/plan';
import { formatOf } from '../../allocate/cost';
import type { SiteId } from '../../graph/policy';
import { baselinesAt, costChoiceOf, formatName, type BaselineRow, type Shown } from '../../state';
import { methodRanks, type MethodRank } from '../grid/method-ranks';
import { useView } from '../workbench';

/** Baselines that look at single sites, and the name that their ranks go by; null: they have no score of a site. */
const METHODS: Readonly<Record<string, string | null>> = { 'local-error': 'local error', loss: 'loss change', 'first-order': 'first order', snip: 'SNIP', block: null, 'block-16': null };

function rankText(of: string | null, ranks: readonly MethodRank[]): string {
  if (of === null) return 'by place alone';
  const found = ranks.find(({ method }) => method === of);
  if (found === undefined) return 'no scores: run the probe';
  return found.rank === null ? 'does not see it' : `${found.rank} of ${found.of}`;
}

function givesText({ plan, reason }: BaselineRow, id: SiteId): string {
  return plan === null ? (reason ?? 'no plan') : formatName(formatOf(plan.formats, id));
}

export function OtherMethods({ facts, plan, id }: { readonly facts: Shown; readonly plan: Plan; readonly id: SiteId }) {
  const choice = useView(costChoiceOf);
  const rows = baselinesAt(facts, choice, plan).flatMap((row) => {
    const name = METHODS[row.id];
    return name === undefined ? [] : [{ row, name }];
  });
  if (rows.length === 0) return null;
  const ranks = methodRanks(facts, id);
  return (
    <section aria-label="What other methods say">
      <h3>What other methods say</h3>
      <table className="table other-methods">
        <thead><tr><th scope="col">method</th><th scope="col" className="number" title="1: it would protect this cell first">rank</th><th scope="col" title="The format that its plan gives this cell, at what the current plan costs">gives it</th></tr></thead>
        <tbody>
          {rows.map(({ row, name }) => (
            <tr key={row.id} title={row.sentence}>
              <th scope="row">{row.name}</th>
              <td className="number">{rankText(name, ranks)}</td>
              <td>{givesText(row, id)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
