/** What a probe measures beside isolated cells, each with what it costs; folded. */
import { FEWEST_BATCHES, STOCHASTIC_DRAWS } from '../../graph/ledger';
import { plural, sitesOf, type Shown } from '../../state';
import { useActions, useFacts } from '../workbench';

function persistentCost({ data, options }: Shown): string {
  const draws = options.sr ? ` Under stochastic rounding ${STOCHASTIC_DRAWS} more runs of the first batch for each backward cell.` : '';
  return data.batches >= FEWEST_BATCHES ? `Over the ${data.batches} batches: their shifts are held on the GPU, and cells measured without it are measured again.${draws}` : `Needs ${FEWEST_BATCHES} batches; there are ${data.batches}, so cells will say so; cells measured without it are measured again.${draws}`;
}

function leaveOneOutCost({ graph, recipe, data }: Shown): string {
  const sites = graph ? sitesOf(graph, recipe).length : 0;
  return `${plural(sites * data.batches, 'run')} of the whole model more, ${data.batches} a cell: longer than the probe itself.`;
}

export function ExtraMeasures() {
  const facts = useFacts((f) => f);
  const actions = useActions();
  const { extra, run } = facts;
  const chosen = [...(extra.persistent ? ['what persists'] : []), ...(extra.leaveOneOut ? ['leave one out'] : [])];
  return (
    <details className="extra">
      <summary>Also measure: {chosen.length === 0 ? 'nothing more' : chosen.join(', ')}</summary>
      <div className="switch">
        <label className="check"><input type="checkbox" checked={extra.persistent} disabled={run !== null} aria-describedby="extra-persistent" onChange={(event) => actions.setExtra({ ...extra, persistent: event.target.checked })} />What persists</label>
        <p id="extra-persistent" className="muted small">The part of each shift that does not average out. {persistentCost(facts)}</p>
      </div>
      <div className="switch">
        <label className="check"><input type="checkbox" checked={extra.leaveOneOut} disabled={run !== null} aria-describedby="extra-left-out" onChange={(event) => actions.setExtra({ ...extra, leaveOneOut: event.target.checked })} />Leave one out</label>
        <p id="extra-left-out" className="muted small">Everything low but one cell, for each cell. {leaveOneOutCost(facts)}</p>
      </div>
    </details>
  );
}
