/**
 * Dock: the search for how much high precision a target needs. Every joint measurement as it comes, the answer with its
 * uncertainty, and how few calibration batches would have given the same plan. The plan that was found stays a preview on
 * the grid until it is applied.
 */
import type { BatchesRow } from '../../allocate/batches-needed';
import type { CostKind } from '../../allocate/costs';
import { MOST_MEASUREMENTS } from '../../allocate/how-much';
import { formatDegrees, significant } from '../../base/units';
import type { Plan } from '../../allocate/plan';
import { costChoiceOf, costOf, costWords, isSameKey, type HowMuchState, type Shown } from '../../state';
import { differingCells } from '../compare/plan-figures';
import { useActions, useDocument, useFacts, useView } from '../workbench';
import { HowMuchForm } from './how-much-form';
import { answer, batchesVerdict, costWordsOf, measuredStep, settledWords, spreadText, type CostWords } from './how-much-words';
import './how-much.css';

/** What shares of the search's cost are of. */
function costPhrase(shown: Shown, kind: CostKind): string {
  return kind === 'time' ? 'of the GEMM time of everything in BF16' : `of ${costWords(shown.recipe).of} in BF16`;
}

export function HowMuchPanel() {
  const facts = useFacts((f) => f);
  const choice = useView(costChoiceOf);
  const { howMuch } = facts;
  if (!facts.graph) return <p className="empty">Open a model first.</p>;
  if (howMuch === null || !isSameKey(howMuch.key, facts.key)) {
    return (
      <div className="how-much-empty">
        <HowMuchForm />
        <p className="muted">Finds the smallest budget whose <em>measured</em> angle meets the target: predicts, measures the plan jointly, corrects the prediction, at most {MOST_MEASUREMENTS} times. Then it says how few calibration batches would have been enough. Locked cells stay.</p>
        {howMuch === null ? null : <p className="muted">The last search was of another recipe, other switches or another text.</p>}
      </div>
    );
  }
  const words = costWordsOf(howMuch, costPhrase(facts, howMuch.costKind), (cost) => costOf(facts, choice)?.figureOf(cost) ?? 0);
  return <Search state={howMuch} words={words} />;
}

function Search({ state, words }: { readonly state: HowMuchState; readonly words: CostWords }) {
  const actions = useActions();
  const { status, steps, plan, targetDeg } = state;
  const said = answer(state, words);
  return (
    <section className="how-much" aria-label="How much is needed">
      <div className="how-much-search">
        <div className="how-much-top">
          {status === 'running' ? (
            <>
              <span className="small">Searching for {formatDegrees(targetDeg)}: measurement {Math.max(1, steps.length)} of at most {MOST_MEASUREMENTS}</span>
              <button type="button" className="button small" onClick={() => void actions.stop()}>Stop</button>
            </>
          ) : (
            <>
              <HowMuchForm />
              {plan === null ? null : <Found plan={plan} />}
            </>
          )}
        </div>
        <p className="how-much-answer" role="status">{said === null ? null : <><strong>{said}</strong> {settledWords(state)}</>}</p>
        <div className="scroll" tabIndex={0} role="region" aria-label="Steps of the search">
          <Steps state={state} words={words} />
        </div>
      </div>
      <Batches rows={state.batches} words={words} running={status === 'running'} />
    </section>
  );
}

/** What can be done with the plan that was found: it is looked at as a preview, and taken in hand or not. */
function Found({ plan }: { readonly plan: Plan }) {
  const actions = useActions();
  const inHand = useDocument((d) => d.plan);
  const preview = useView((v) => v.preview);
  if (inHand !== null && differingCells(Object.keys(inHand.formats), inHand, plan).length === 0) return <span className="muted small">The plan in hand is the one found.</span>;
  return (
    <span className="row">
      <button type="button" className="button small primary" title="Takes the plan that was found in hand (one undo step)" onClick={() => actions.applyHowMuch()}>Apply</button>
      {preview === null
        ? <button type="button" className="button small" title="Marks the cells on the grid that would change" onClick={() => actions.preview(plan)}>Show on the grid</button>
        : <button type="button" className="button small" title="Leaves the plan as it is" onClick={() => actions.preview(null)}>Discard</button>}
    </span>
  );
}

function Steps({ state: { steps, costName }, words }: { readonly state: HowMuchState; readonly words: CostWords }) {
  return (
    <table className="table how-much-table">
      <caption className="visually-hidden">Joint measurements of the search, in order</caption>
      <thead><tr><th scope="col">step</th><th scope="col" className="number" title="What the prediction was asked for so that the measurement would meet the target">aimed, deg</th><th scope="col" className="number"><abbr title="predicted">pred.</abbr>, deg</th><th scope="col" className="number">measured</th><th scope="col" className="number">{costName}</th><th scope="col">meets</th></tr></thead>
      <tbody>
        {steps.map((step, i) => (
          <tr key={step.planHash}>
            <th scope="row">{i + 1}</th>
            <td className="number">{significant(step.aimedDeg)}</td>
            <td className="number">{significant(step.predictedDeg)}</td>
            {step.status === 'measured' ? <td className="number" title={step.isKnown ? 'Measured before' : undefined}>{measuredStep(step)}</td> : <td className="number muted" title={step.status === 'failed' ? step.reason : undefined}>{step.status === 'failed' ? 'failed' : 'measuring'}</td>}
            <td className="number">{words.figure(step.figure)}</td>
            <td>{step.status === 'measured' ? step.meets ? <span className="ok">yes</span> : 'no' : <span className="muted">not known</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Batches({ rows, words, running }: { readonly rows: readonly BatchesRow[]; readonly words: CostWords; readonly running: boolean }) {
  const all = rows.at(-1)?.batches ?? 0;
  return (
    <section className="how-much-batches" aria-labelledby="batches-heading">
      <h2 id="batches-heading">How little data is enough</h2>
      {rows.length === 0 ? <p className="muted small">{running ? 'Said once the search is over.' : 'Not known: the results hold no single batches.'}</p> : (
        <>
          <p className="small">{batchesVerdict(rows, words)}</p>
          <div className="scroll" tabIndex={0} role="region" aria-label="Plans of fewer batches">
            <table className="table how-much-table">
              <caption className="visually-hidden">The plan that k of {all} batches would have given: median, and range over the choices of k</caption>
              <thead><tr><th scope="col">batches</th><th scope="col" className="number">plan’s cost</th><th scope="col" className="number" title="Cells that differ from the plan of all batches">cells differ</th><th scope="col" className="number" title="Of that plan, by all batches">predicted, deg</th><th scope="col" className="number" title="The plan that was measured, over k batches">measured over k, deg</th></tr></thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.batches}>
                    <th scope="row" title={`${row.subsets} choices${row.isComplete ? ', all there are' : ', drawn'}`}>{row.batches} of {all}</th>
                    <td className="number">{spreadText(row.cost, words.of)}</td>
                    <td className="number">{spreadText(row.cellsChanged, (n) => (Number.isInteger(n) ? String(n) : n.toFixed(1)))}</td>
                    <td className="number">{row.predictedDeg === null ? 'not predicted' : spreadText(row.predictedDeg, significant)}</td>
                    <td className="number">{row.jointDeg === null ? 'not measured' : spreadText(row.jointDeg, significant)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
