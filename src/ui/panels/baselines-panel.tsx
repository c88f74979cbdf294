/** Dock: the current plan and the presets in one table, the three angles of each side by side. */
import { formatBytes, formatPercent } from '../../base/units';
import { baselinesAt, costChoiceOf, costWords, jointOf, totalsOf } from '../../state';
import { RECIPES } from '../../graph/recipes';
import { useActions, useFacts, usePlans, useView } from '../workbench';
import { trioOf } from './figures-trio';

export function BaselinesPanel() {
  const facts = useFacts((f) => f);
  const { plan, shown } = usePlans();
  const choice = useView(costChoiceOf);
  const actions = useActions();
  if (!plan || !shown) return <p className="empty">Open a model to see its baselines.</p>;
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const isOut = RECIPES[facts.recipe].kind === 'out';
  const rows = [{ id: 'current', plan: shown, name: `${plan.name} (current)` }, ...baselinesAt(facts, choice, plan).flatMap((b) => (b.plan ? [{ ...b, plan: b.plan }] : []))];
  return (
    <table className="table baselines">
      <caption className="visually-hidden">Plans to compare with: cost, predicted and measured bending</caption>
      <thead>
        <tr><th scope="col">plan</th><th scope="col" className="number">{costWords(facts.recipe).name}</th>{isOut ? <><th scope="col" className="number">a token</th><th scope="col" className="number">of fixed policy</th></> : null}<th scope="col" className="number">effective bits</th><th scope="col" className="number">predicted</th><th scope="col" className="number">measured</th><th scope="col" className="number">gap</th><th scope="col">actions</th></tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const totals = totalsOf(facts, row.plan);
          const trio = trioOf(totals?.predictedDeg ?? null, jointOf(facts, row.plan));
          return (
            <tr key={row.id}>
              <th scope="row">{row.id === 'current' ? <strong>{row.name}</strong> : row.name}</th>
              <td className="number">{totals ? formatPercent(totals.hpShare) : ''}</td>
              {isOut ? <><td className="number">{totals ? formatBytes(totals.hpCost) : ''}</td><td className="number">{totals?.relativeToFixed == null ? '' : `${totals.relativeToFixed.toFixed(2)} ×`}</td></> : null}
              <td className="number">{totals?.effectiveBits.toFixed(2)}</td>
              <td className="number">{trio.predicted}</td>
              <td className="number">{trio.measured}</td>
              <td className="number">{trio.gap}</td>
              <td className="row">
                <button type="button" className="button small" disabled={!ready || row.id === 'all-high'} aria-label={`Verify ${row.name} jointly`} onClick={() => void actions.verifyJointly(row.id === 'current' ? plan : row.plan)}>Verify</button>
                {row.id === 'current' ? null : <button type="button" className="button small" aria-label={`Apply ${row.name}`} onClick={() => actions.applyBaseline(row.id)}>Apply</button>}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
