/** Inspector, tab Cell: what a site is, every figure with its unit, where the gradient turns, batch by batch. */
import { formatOf } from '../../allocate/cost';
import { significant } from '../../base/units';
import type { SiteFormat, SiteId } from '../../graph/policy';
import type { Measured } from '../../graph/probe-record';
import { RECIPES } from '../../graph/recipes';
import { findSite } from '../../graph/sites';
import type { Graph } from '../../graph/types';
import { formatName, type Shown } from '../../state';
import type { Plan } from '../../allocate/plan';
import { csv } from '../budget/copy-table';
import { siteFigures, siteShapes } from '../grid/site-figures';
import { siteName } from '../grid/site-names';
import { GradientTurns } from '../grid/turns';
import { useActions, useFacts, usePlans, useView } from '../workbench';
import { CopyButton } from './copy-button';
import { StartHere } from './start-here';

export function CellTab() {
  const facts = useFacts((f) => f);
  const primary = useView((v) => v.primary);
  const { plan } = usePlans();
  // A cell of the other kind of recipe is not in this grid.
  if (!facts.graph || !plan || primary === null || findSite(facts.graph, primary)?.kind !== RECIPES[facts.recipe].kind) return <StartHere />;
  return <Cell facts={facts} graph={facts.graph} plan={plan} id={primary} />;
}

interface CellProps {
  readonly facts: Shown;
  readonly graph: Graph;
  readonly plan: Plan;
  readonly id: SiteId;
}

function Cell({ facts, graph, plan, id }: CellProps) {
  const actions = useActions();
  const site = findSite(graph, id);
  const result = facts.sites[id];
  const locked = plan.locked[id] === true;
  // Precision has its own control just below.
  const figures = siteFigures(facts, plan, id).filter((figure) => figure.key !== 'precision');
  const running = facts.run !== null;
  const ready = facts.device?.status === 'ready' && !facts.checking && !running;
  const copy = (): string => csv(['site', ...figures.map((f) => f.label)], [[id, ...figures.map((f) => f.value)]]);
  return (
    <div className="cell-tab">
      <header>
        <h3>{siteName(graph, id)}</h3>
        <p className="muted small mono">{id}</p>
        <p className="small">{siteShapes(graph, id, facts.data.sequences, facts.data.tokens)}</p>
        {result && !facts.measuredHere.has(id) ? <p className="small badge-line"><span className="badge">stored example</span> <span className="muted">measured on {facts.storedProvenance?.device ?? 'another device'}</span></p> : null}
      </header>
      {site?.paintable ? <Precision plan={plan} id={id} locked={locked} low={facts.recipe} /> : <p className="callout">Stays BF16 under this recipe.</p>}
      {result?.status === 'failed' ? (
        <div className="callout callout-error">
          <p><strong>{result.errorName}</strong> {result.reason}</p>
          <button type="button" className="button small" disabled={!ready} onClick={() => void actions.runProbe([id])}>Measure again</button>
        </div>
      ) : null}
      {site?.paintable && !result ? (
        <div className="callout">
          <p>Not measured{facts.measuring === id ? ' yet: it is being measured now' : ''}.</p>
          <button type="button" className="button small" disabled={!ready} onClick={() => void actions.runProbe([id])}>Measure this cell</button>
        </div>
      ) : null}
      <dl className="pairs figures-list">
        {figures.filter((figure) => figure.key !== 'failed' && figure.key !== 'missing').map((figure) => <div key={figure.key} title={figure.explain} className={`figure-${figure.key}${figure.quiet ? ' muted' : ''}`}><dt>{figure.label}</dt><dd>{figure.value}</dd></div>)}
      </dl>
      <GradientTurns site={id} />
      {result?.status === 'measured' && result.perBatch.length > 0 ? <Batches result={result} /> : null}
      <CopyButton label="Copy as CSV" text={copy} />
    </div>
  );
}

function Precision({ plan, id, locked, low }: { readonly plan: Plan; readonly id: SiteId; readonly locked: boolean; readonly low: SiteFormat }) {
  const actions = useActions();
  const format = formatOf(plan.formats, id);
  return (
    <div className="row precision">
      <fieldset className="radios" disabled={locked}>
        <legend className="visually-hidden">Precision of this cell</legend>
        {(['bf16', low] as const).map((choice) => (
          <label key={choice}><input type="radio" name="precision" checked={format === choice} onChange={() => actions.setFormats([id], choice)} />{formatName(choice)}</label>
        ))}
      </fieldset>
      <label className="check"><input type="checkbox" checked={locked} onChange={(event) => actions.setLocked([id], event.target.checked)} />Lock</label>
      {locked ? <span className="muted small">brushes and solver leave it</span> : null}
    </div>
  );
}

const signed = (x: number): string => `${x > 0 ? '+' : ''}${significant(x, 2)}`;

function Batches({ result }: { readonly result: Measured }) {
  return (
    <section aria-label="Batch by batch">
      <h3>Batch by batch</h3>
      <div className="scroll" tabIndex={0} role="region" aria-label="Figures of each batch">
        <table className="table batches">
          <thead><tr><th scope="col">batch</th><th scope="col" className="number">angle, deg</th><th scope="col" className="number">shift, %</th><th scope="col" className="number">length</th><th scope="col" className="number">rotation</th><th scope="col" className="number">loss, nats</th></tr></thead>
          <tbody>
            {result.perBatch.map((batch, k) => (
              <tr key={k}>
                <th scope="row">{k}</th>
                <td className="number">{significant(batch.angleDeg)}</td>
                <td className="number">{(100 * batch.relativeShift).toFixed(2)}</td>
                <td className="number">{significant(batch.lengthRatio, 4)}</td>
                <td className="number">{significant(batch.rotationShare)}</td>
                <td className="number">{signed(batch.lossChange)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
