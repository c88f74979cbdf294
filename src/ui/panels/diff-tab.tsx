/** Inspector, tab Diff: the plan in hand against A, every differing cell with its effect and the way back. */
import { useMemo, useState } from 'react';
import { degreesFigure, signed } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { PASS_LABELS, type SitePart } from '../../graph/sites';
import { costChoiceOf, costKindOf, formatName, plural, recipeName, unstableOf, type CostChoice, type PinnedPlan, type Shown } from '../../state';
import type { Plan } from '../../allocate/plan';
import { costUnit } from '../budget/cost-words';
import { costText } from '../charts/cost-axis';
import { LetterA } from '../compare/letter';
import { costTitle } from '../compare/plan-figures';
import { effectDegrees, filtered, partsOf, planDifference, type CellDifference, type PlanDifference } from '../compare/plan-difference';
import { siteName, siteShort } from '../grid/site-names';
import { useActions, useFacts, usePlans, useView, useWorkbench } from '../workbench';
import { signedDegrees } from './figures-trio';
import './diff.css';

/** Rows drawn at once; the largest effects come first. */
const ROWS = 60;

export function DiffTab() {
  const facts = useFacts((f) => f);
  const { plan, shown } = usePlans();
  const pinned = useView((v) => v.pinned);
  const actions = useActions();
  if (!facts.graph || !plan || !shown) return <p className="muted">Open a model first.</p>;
  if (pinned === null) {
    return (
      <div className="diff-tab">
        <h3>No plan is pinned as A</h3>
        <p>Pin a plan as A, change the current one, and every cell that differs stands here with its effect. The badge <LetterA /> beside a plan pins it: in the rail, under Baselines, under Plans. On the grid the key P pins the current one.</p>
        <button type="button" className="button" onClick={() => actions.pin('current')}>Pin the current plan as A</button>
      </div>
    );
  }
  return <Difference facts={facts} plan={shown} pinned={pinned} />;
}

function Difference({ facts, plan, pinned }: { readonly facts: Shown; readonly plan: Plan; readonly pinned: PinnedPlan }) {
  const choice = useView(costChoiceOf);
  const preview = useView((v) => v.preview);
  const actions = useActions();
  const [part, setPart] = useState<SitePart | 'all'>('all');
  const [onlyUnstable, setOnlyUnstable] = useState(false);
  const [all, setAll] = useState(false);
  const difference = useMemo(() => planDifference(facts, plan, pinned, choice), [facts, plan, pinned, choice]);
  const parts = partsOf(difference.cells);
  const chosen = part !== 'all' && parts.includes(part) ? part : 'all';
  const unstable = unstableOf(facts, { preview });
  // Nor while another plan is under the hand.
  const canFilter = facts.unstable !== null && preview === null;
  const cells = filtered(difference.cells, { part: chosen, unstable: onlyUnstable && canFilter ? unstable : null });
  const rows = all ? cells : cells.slice(0, ROWS);
  return (
    <div className="diff-tab">
      <header className="diff-head">
        <h3><LetterA /> {pinned.name} <span className="muted">against the current plan,</span> {plan.name}</h3>
        <Header facts={facts} pinned={pinned} difference={difference} choice={choice} />
      </header>
      {difference.cells.length === 0 ? null : (
        <>
          <div className="diff-filters">
            <label className="check">Pass
              <select className="select" value={chosen} onChange={(event) => setPart(parts.find((known) => known === event.target.value) ?? 'all')}>
                <option value="all">all</option>
                {parts.map((known) => <option key={known} value={known}>{PASS_LABELS[known].long}</option>)}
              </select>
            </label>
            <label className="check" title={canFilter ? 'Cells whose decision flips within noise' : 'Which cells are unstable is not known yet'}>
              <input type="checkbox" checked={onlyUnstable} disabled={!canFilter} onChange={(event) => setOnlyUnstable(event.target.checked)} />only unstable
            </label>
          </div>
          {cells.length === 0 ? <p className="muted small">None of the differing cells{chosen === 'all' ? '' : ' of this pass'} is unstable.</p> : <Cells facts={facts} cells={rows} unstable={unstable} revertAll={{ label: `Revert ${cells.length === difference.cells.length ? 'all' : `these ${cells.length}`}`, run: () => actions.revertToPinned(cells.map(({ id }) => id)) }} />}
          {rows.length < cells.length ? <button type="button" className="link small" onClick={() => setAll(true)}>Show all {cells.length}</button> : null}
        </>
      )}
    </div>
  );
}

interface HeaderProps {
  readonly facts: Shown;
  readonly pinned: PinnedPlan;
  readonly difference: PlanDifference;
  readonly choice: CostChoice;
}

/** "17 of 144 cells differ.", and what the current plan costs and bends more (+) or less (−) than A. */
function Header({ facts, pinned, difference, choice }: HeaderProps) {
  const { cells, counterparts, onlyHere, onlyInA, inHand, ofA } = difference;
  const isSamePolicy = ofA !== null && recipeName(pinned.recipe, pinned.options) === recipeName(facts.recipe, facts.options);
  const isSameKind = ofA !== null && costKindOf(pinned.recipe, choice.kind) === costKindOf(facts.recipe, choice.kind);
  const cost = isSameKind && inHand.cost !== null && ofA.cost !== null ? inHand.cost - ofA.cost : null;
  const [here, there] = [inHand.totals?.predictedDeg ?? null, ofA?.totals?.predictedDeg ?? null];
  const measured = inHand.measured?.status === 'measured' && ofA?.measured?.status === 'measured' ? inHand.measured.angleDeg - ofA.measured.angleDeg : null;
  const missing = inHand.measured === null && ofA?.measured == null ? 'neither plan is verified' : inHand.measured === null ? 'the current plan is not verified' : 'A is not verified';
  return (
    <>
      <p><strong>{cells.length} of {plural(counterparts, 'cell')}</strong> {cells.length === 1 ? 'differs' : 'differ'}.{cells.length === 0 && counterparts > 0 ? ' The plans are the same.' : ''}</p>
      {isSamePolicy ? null : <p className="callout callout-warn">{ofA === null ? 'A is of another model: its angles are not among these results.' : `A is of ${recipeName(pinned.recipe, pinned.options)}.`}{onlyHere + onlyInA > 0 ? ` ${plural(onlyHere, 'cell')} of the current plan and ${onlyInA} of A have no counterpart (cells pair by layer, op and pass).` : ''}</p>}
      {ofA === null ? null : (
        <dl className="pairs diff-totals">
          <div><dt>{costTitle(facts, choice)}</dt><dd>{cost === null ? (isSameKind ? 'not known' : 'paid in another cost') : cost === 0 ? 'the same' : signed(cost, (x) => costText({ unit: costUnit(costKindOf(facts.recipe, choice.kind)) }, x))}</dd></div>
          <div><dt>Predicted</dt><dd>{here === null || there === null ? 'not predicted' : here === there ? 'the same' : signedDegrees(here - there)}</dd></div>
          <div><dt>Measured</dt><dd>{measured === null ? <span className="muted">{missing}</span> : signedDegrees(measured)}</dd></div>
        </dl>
      )}
    </>
  );
}

interface CellsProps {
  readonly facts: Shown;
  /** Those that are drawn. */
  readonly cells: readonly CellDifference[];
  readonly unstable: ReadonlySet<SiteId>;
  /** Of all that the filters let through. */
  readonly revertAll: { readonly label: string; run(): void };
}

function Cells({ facts, cells, unstable, revertAll }: CellsProps) {
  const { view } = useWorkbench();
  const actions = useActions();
  const { graph } = facts;
  if (!graph) return null;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Cells that differ">
      <table className="table diff-cells">
        <caption className="visually-hidden">Cells that differ, largest effect first</caption>
        <thead><tr><th scope="col">cell</th><th scope="col">A → current</th><th scope="col" className="number" title="Difference of the cell’s clean tan², as an angle: minus bends less than A">effect, deg</th><th scope="col" className="number"><button type="button" className="button small" title="Gives the cells listed here their format in A (one undo step; locked cells stay)" onClick={revertAll.run}>{revertAll.label}</button></th></tr></thead>
        <tbody>
          {cells.map(({ id, from, to, tan2 }) => (
            <tr key={id} onPointerEnter={() => view.setState({ hovered: id })} onPointerLeave={() => view.setState({ hovered: null })}>
              <th scope="row">
                <button type="button" className="link" title={siteName(graph, id)} onClick={() => view.setState({ primary: id, selection: new Set([id]) })}>{siteShort(graph, id)}</button>
                {unstable.has(id) ? <span className="muted" title="Unstable: its decision flips within noise"> △</span> : null}
              </th>
              <td>{formatName(from)} → {formatName(to)}</td>
              <td className="number" title={tan2 === null ? 'One of the two formats is not measured' : undefined}>{tan2 === null ? 'not known' : tan2 === 0 ? '0' : signed(effectDegrees(tan2), degreesFigure)}</td>
              <td className="number"><button type="button" className="button quiet small" aria-label={`Revert ${siteName(graph, id)} to ${formatName(from)}`} onClick={() => actions.revertToPinned([id])}>Revert</button></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
