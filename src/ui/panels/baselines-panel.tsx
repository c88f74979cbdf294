/**
 * Dock: every other method's plan at what the plan in hand costs, beside that plan: its own score and the same score of
 * the plan in hand, cost, and the three angles. A row that is pointed at shows its letters on the grid.
 */
import { useEffect, useMemo, useState } from 'react';
import { degreesFigure, signed, significant } from '../../base/units';
import { RECIPES } from '../../graph/recipes';
import { costChoiceOf, type CostChoice, type Shown } from '../../state';
import type { Plan } from '../../allocate/plan';
import { PinButton } from '../compare/pin-button';
import { costTitle, measuredText, predictedText, priceText, type PlanFigures } from '../compare/plan-figures';
import { useActions, useDocument, useFacts, useView, useWorkbench } from '../workbench';
import { baselineLines, unverified, type BaselineLine } from './baseline-rows';
import './baselines.css';

const ABOUT = 'Every method’s plan at what the current plan costs. Its own score says what it believes; measured says what is so. Point at a row for how it chooses.';

export function BaselinesPanel() {
  const facts = useFacts((f) => f);
  const plan = useDocument((d) => d.plan);
  const choice = useView(costChoiceOf);
  const { view } = useWorkbench();
  const [pointed, setPointed] = useState<string | null>(null);
  const table = useMemo(() => (plan === null ? null : baselineLines(facts, plan, choice)), [facts, plan, choice]);
  // Gone with its row under the pointer, nothing is pointed at.
  useEffect(() => () => view.setState({ hoveredPlan: null }), [view]);
  if (!plan || table === null || !facts.graph) return <p className="empty">Open a model to see its baselines.</p>;
  const point = (line: BaselineLine | null): void => {
    setPointed(line?.id ?? null);
    view.setState({ hoveredPlan: line?.plan ?? null });
  };
  const isOut = RECIPES[facts.recipe].kind === 'out';
  const line = table.lines.find(({ id }) => id === pointed);
  const sentence = line && sentenceOf(line);
  return (
    <section className="baselines-panel" aria-label="Baselines">
      <div className="baselines-top">
        <p className="small" title={sentence ?? ABOUT}>{sentence ?? <span className="muted">{ABOUT}</span>}</p>
        <VerifyAll lines={table.lines} />
      </div>
      <div className="scroll baselines-scroll" tabIndex={0} role="region" aria-label="Table of baselines">
        <table className="table baselines">
          <caption className="visually-hidden">Plans of other methods at the cost of the current plan: own score, cost, predicted and measured bending</caption>
          <thead>
            <tr>
              <th scope="col">plan</th>
              <th scope="col" className="number" title="What the method itself minimises, of its plan">own score</th>
              <th scope="col" className="number" title="The same score of the current plan">current plan’s</th>
              <th scope="col" className="number" title={costTitle(facts, choice)}><span className="baseline-wide">{costTitle(facts, choice)}</span><span className="baseline-narrow">cost</span></th>
              {isOut ? <th scope="col" className="number" title="Bytes kept in BF16 over those of the fixed policy">of fixed</th> : null}
              <th scope="col" className="number"><abbr title="effective bits">bits</abbr></th>
              <th scope="col" className="number"><abbr title="predicted">pred.</abbr>, deg</th>
              <th scope="col" className="number">measured, deg</th>
              <th scope="col" className="number">gap, deg</th>
              <th scope="col">actions</th>
            </tr>
          </thead>
          <tbody>
            <tr className="baseline-current">
              <th scope="row"><strong>{plan.name}</strong> <span className="muted">current</span></th>
              <td className="number muted" colSpan={2}>in each row below</td>
              <FigureCells figures={table.inHand.figures} choice={choice} isOut={isOut} isLowest={table.inHand.isLowest} />
              <td><Actions id="current" name={plan.name} plan={plan} isReference={table.inHand.figures.isReference} facts={facts} /></td>
            </tr>
            {table.lines.map((line) => <Line key={line.id} line={line} choice={choice} facts={facts} isOut={isOut} onPoint={point} />)}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** How it chooses, and what its own score is. */
const sentenceOf = ({ sentence, scoreName }: BaselineLine): string => `${sentence}${scoreName === null ? '' : ` Own score: ${scoreName}.`}`;

interface LineProps {
  readonly line: BaselineLine;
  readonly choice: CostChoice;
  readonly facts: Shown;
  readonly isOut: boolean;
  onPoint(line: BaselineLine | null): void;
}

function Line({ line, choice, facts, isOut, onPoint }: LineProps) {
  const { id, name, scoreName, score, scoreInHand, plan, reason, figures, isLowest } = line;
  const sentence = sentenceOf(line);
  const described = `baseline-${id}`;
  const scoreText = (value: number | null): string => (scoreName === null ? '–' : value === null ? 'not known' : significant(value).replace('-', '−'));
  return (
    <tr onPointerEnter={() => onPoint(line)} onPointerLeave={() => onPoint(null)} onFocus={() => onPoint(line)} onBlur={() => onPoint(null)}>
      <th scope="row" title={sentence} aria-describedby={described}>{name}<span id={described} className="visually-hidden">{sentence}</span></th>
      {plan === null || figures === null ? (
        <td colSpan={isOut ? 9 : 8} className="baseline-reason">{reason ?? 'no plan'}</td>
      ) : (
        <>
          <td className="number" title={scoreName ?? 'It has no score of its own'}>{scoreName === null ? null : <span className="muted baseline-wide">{scoreName} </span>}{scoreText(score)}</td>
          <td className="number" title={scoreName === null ? 'It has no score of its own' : scoreInHand === null ? 'A cell of the current plan has a format that it has no score of' : `${scoreName} of the current plan`}>{scoreText(scoreInHand)}</td>
          <FigureCells figures={figures} choice={choice} isOut={isOut} isLowest={isLowest} />
          <td><Actions id={id} name={name} plan={plan} isReference={figures.isReference} facts={facts} /></td>
        </>
      )}
    </tr>
  );
}

function FigureCells({ figures, choice, isOut, isLowest }: { readonly figures: PlanFigures; readonly choice: CostChoice; readonly isOut: boolean; readonly isLowest: boolean }) {
  const { shown, totals, measured, cost } = figures;
  const [price, predicted, angle] = [priceText(shown, choice, cost), predictedText(totals), measuredText(figures)];
  const gap = measured?.status === 'measured' && totals?.predictedDeg != null ? measured.angleDeg - totals.predictedDeg : null;
  return (
    <>
      <td className="number" title={price.why}>{price.text}</td>
      {isOut ? <td className="number">{totals?.relativeToFixed == null ? 'none' : `${totals.relativeToFixed.toFixed(2)} ×`}</td> : null}
      <td className="number">{totals?.effectiveBits.toFixed(2)}</td>
      <td className="number" title={predicted.why}>{predicted.bare ?? 'none'}</td>
      <td className="number" title={angle.why}>{isLowest ? <span className="badge ok" title="Lowest measured angle of the plans that cost no more than the current one">lowest</span> : null} {angle.bare ?? angle.text}</td>
      <td className="number" title={gap === null ? 'A gap needs both figures' : undefined}>{gap === null ? '–' : gap === 0 ? '0' : signed(gap, degreesFigure)}</td>
    </>
  );
}

interface ActionsProps {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Everything BF16: nothing to measure. */
  readonly isReference: boolean;
  readonly facts: Shown;
}

function Actions({ id, name, plan, isReference, facts }: ActionsProps) {
  const actions = useActions();
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  return (
    <span className="baseline-actions">
      <PinButton id={id} plan={{ ...facts, plan }} />
      {id === 'current' ? null : <button type="button" className="button small" aria-label={`Apply ${name}`} title="Take it over as the current plan (one undo step; locked cells stay)" onClick={() => actions.applyBaseline(id)}>Apply</button>}
      <button type="button" className="button small" disabled={!ready || isReference} aria-label={`Verify ${name} jointly`} title={isReference ? 'It is the reference itself: 0 degrees' : 'Measure it jointly'} onClick={() => void actions.verifyJointly(plan)}>Verify</button>
    </span>
  );
}

/** Measures what is not measured yet, one plan after the other, until it is stopped. */
function VerifyAll({ lines }: { readonly lines: readonly BaselineLine[] }) {
  const facts = useFacts((f) => f);
  const actions = useActions();
  const left = unverified(facts, lines);
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const { verifying } = facts;
  if (verifying !== null) {
    const { done, total } = verifying;
    return (
      <span className="row verify-all">
        <progress max={total} value={done} aria-label="Plans verified" />
        <span className="small nowrap" role="status">{done} of {total} verified</span>
        <button type="button" className="button small" onClick={() => void actions.stop()}>Stop</button>
      </span>
    );
  }
  return (
    <button type="button" className="button small verify-all" disabled={!ready || left.length === 0} title={left.length === 0 ? 'Every plan is measured' : 'Measures each plan that is not measured yet, one after the other'} onClick={() => void actions.verifyPlans(left.map(({ id }) => id))}>
      {left.length === 0 ? 'All verified' : `Verify all (${left.length})`}
    </button>
  );
}
