/**
 * Inspector, tab Cell: what a site is, every figure with its unit in the fixed order of ux.md 3.6, what other methods say,
 * its cost, where the gradient turns, batch by batch.
 */
import { formatOf } from '../../allocate/cost';
import { formatPercent, signed } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { RECIPES } from '../../graph/recipes';
import { findSite } from '../../graph/sites';
import type { Graph } from '../../graph/types';
import { costChoiceOf, costKindOf, costOf, formatName, lowFormatsOf, type CostChoice, type Shown } from '../../state';
import type { Plan } from '../../allocate/plan';
import { csv } from '../budget/copy-table';
import { siteFigures, siteShapes, type Figure } from '../grid/site-figures';
import { siteName } from '../grid/site-names';
import { GradientTurns } from '../grid/turns';
import { useActions, useDocument, useFacts, useView } from '../workbench';
import { CellBatches } from './cell-batches';
import { CopyButton } from './copy-button';
import { OtherMethods } from './other-methods';
import { StartHere } from './start-here';

export function CellTab() {
  const facts = useFacts((f) => f);
  const primary = useView((v) => v.primary);
  const plan = useDocument((d) => d.plan);
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
  const choice = useView(costChoiceOf);
  // Precision has its own control just below.
  const figures = [...siteFigures(facts, plan, id).filter((figure) => figure.key !== 'precision'), ...chosenCost(facts, choice, id)];
  const listed = figures.filter(({ key }) => key !== 'failed' && key !== 'missing' && key !== 'methods');
  const isAfter = ({ key }: Figure): boolean => AFTER_METHODS.some((prefix) => key.startsWith(prefix));
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
      {site?.paintable ? <Precision facts={facts} plan={plan} id={id} locked={locked} /> : <p className="callout">Stays BF16 under this recipe.</p>}
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
      <Figures figures={listed.filter((figure) => !isAfter(figure))} />
      {site?.paintable ? <OtherMethods facts={facts} plan={plan} id={id} /> : null}
      <Figures figures={listed.filter(isAfter)} />
      <GradientTurns site={id} />
      {result?.status === 'measured' && result.perBatch.length > 0 ? <CellBatches result={result} /> : null}
      <CopyButton label="Copy as CSV" text={copy} />
    </div>
  );
}

/** Keys of the figures that come after what other methods say. */
const AFTER_METHODS = ['cost', 'stability'] as const;

function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  if (figures.length === 0) return null;
  return (
    <dl className="pairs figures-list">
      {figures.map((figure) => <div key={figure.key} title={figure.explain} className={`figure-${figure.key}${figure.quiet ? ' muted' : ''}`}><dt>{figure.label}</dt><dd>{figure.value}</dd></div>)}
    </dl>
  );
}

/** What BF16 adds over the recipe's format in the chosen cost, where that is not the recipe's own. */
function chosenCost(facts: Shown, choice: CostChoice, id: SiteId): Figure[] {
  const table = costOf(facts, choice);
  const isPaintable = facts.graph !== null && findSite(facts.graph, id)?.paintable === true;
  if (table === null || !isPaintable || table.kind === costKindOf(facts.recipe, null)) return [];
  const more = table.figureOf(table.of(id, 'bf16') - table.of(id, facts.recipe));
  const value = signed(more, (size) => (table.kind === 'bits' ? `${size.toFixed(3)} bits` : `${formatPercent(size, 2)} of everything in BF16`));
  return [{ key: 'cost-chosen', label: `BF16 over ${formatName(facts.recipe)}, ${table.name}`, value, explain: 'What the plan pays more for this cell in BF16 than in the recipe’s format, in the cost that was chosen.' }];
}

interface PrecisionProps {
  readonly facts: Shown;
  readonly plan: Plan;
  readonly id: SiteId;
  readonly locked: boolean;
}

function Precision({ facts, plan, id, locked }: PrecisionProps) {
  const actions = useActions();
  const format = formatOf(plan.formats, id);
  return (
    <div className="row precision">
      <fieldset className="radios" disabled={locked}>
        <legend className="visually-hidden">Precision of this cell</legend>
        {(['bf16', ...lowFormatsOf(facts)] as const).map((choice) => (
          <label key={choice}><input type="radio" name="precision" checked={format === choice} onChange={() => actions.setFormats([id], choice)} />{formatName(choice)}</label>
        ))}
      </fieldset>
      <label className="check"><input type="checkbox" checked={locked} onChange={(event) => actions.setLocked([id], event.target.checked)} />Lock</label>
      {locked ? <span className="muted small">brushes and solver leave it</span> : null}
    </div>
  );
}
