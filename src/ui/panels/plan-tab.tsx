/** Inspector, tab Plan: how it differs from each baseline, which cells it keeps in BF16, notes. */
import { useState } from 'react';
import { formatOf } from '../../allocate/cost';
import { differences } from '../../allocate/plan';
import { formatDegrees, significant } from '../../base/units';
import { baselinesAt, costChoiceOf, costWords, formatName, jointOf, sitesOf, totalsOf } from '../../state';
import { siteShort } from '../grid/site-names';
import { useActions, useFacts, usePlans, useView, useWorkbench } from '../workbench';

function Notes({ notes }: { readonly notes: string }) {
  const actions = useActions();
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <label className="field">
      <span className="heading">Notes</span>
      <textarea
        className="textarea" value={draft ?? notes} maxLength={4000} placeholder="Travel with the plan in its file"
        onChange={(event) => setDraft(event.target.value)}
        onBlur={() => {
          if (draft !== null) actions.setNotes(draft);
          setDraft(null);
        }}
      />
    </label>
  );
}

function signed(x: number, format: (x: number) => string): string {
  return x === 0 ? '0' : `${x > 0 ? '+' : '−'}${format(Math.abs(x))}`;
}

export function PlanTab() {
  const facts = useFacts((f) => f);
  const { view } = useWorkbench();
  const { plan, shown } = usePlans();
  const choice = useView(costChoiceOf);
  if (!facts.graph || !plan || !shown) return <p className="muted">Open a model first.</p>;
  const { graph, recipe } = facts;
  const baselines = baselinesAt(facts, choice, plan).flatMap((row) => (row.plan ? [{ id: row.id, plan: row.plan }] : []));
  const all = sitesOf(graph, recipe);
  const totals = totalsOf(facts, shown);
  const measured = jointOf(facts, shown)?.result;
  const high = all.filter((site) => formatOf(shown.formats, site.id) === 'bf16');
  return (
    <div className="plan-tab">
      <h3>{plan.name} against the baselines</h3>
      <div className="scroll" tabIndex={0} role="region" aria-label="Differences to the baselines">
        <table className="table differences">
          <thead><tr><th scope="col">baseline</th><th scope="col" className="number">cells differ</th><th scope="col" className="number">{costWords(recipe).name}, %</th><th scope="col" className="number"><abbr title="predicted">pred.</abbr>, deg</th><th scope="col" className="number"><abbr title="measured">meas.</abbr>, deg</th></tr></thead>
          <tbody>
            {baselines.map((baseline) => {
              const other = totalsOf(facts, baseline.plan);
              const joint = jointOf(facts, baseline.plan)?.result;
              const work = totals && other ? totals.hpShare - other.hpShare : null;
              const predicted = totals?.predictedDeg != null && other?.predictedDeg != null ? totals.predictedDeg - other.predictedDeg : null;
              const both = measured?.status === 'measured' && joint?.status === 'measured' ? measured.angleDeg - joint.angleDeg : null;
              return (
                <tr key={baseline.id}>
                  <th scope="row">{baseline.plan.name}</th>
                  <td className="number">{differences(all, shown.formats, baseline.plan.formats).length}</td>
                  <td className="number">{work === null ? '–' : signed(100 * work, (x) => x.toFixed(1))}</td>
                  <td className="number">{predicted === null ? '–' : signed(predicted, significant)}</td>
                  <td className="number">{both === null ? '–' : signed(both, significant)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <h3>In BF16: {high.length} of {all.length} cells</h3>
      {high.length === 0 ? <p className="muted small">None: everything the recipe can lower is {formatName(recipe)}.</p> : (
        <ul className="site-list">
          {high.map((site) => {
            const result = facts.sites[site.id];
            return (
              <li key={site.id}>
                <button type="button" className="button quiet small" onClick={() => view.setState({ primary: site.id, selection: new Set([site.id]), inspector: 'cell' })}>
                  {siteShort(graph, site.id)} <span className="muted">{result?.status === 'measured' ? formatDegrees(result.cleanAngleDeg) : 'not measured'}{shown.locked[site.id] ? ', locked' : ''}</span>
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <Notes notes={plan.notes} />
    </div>
  );
}
