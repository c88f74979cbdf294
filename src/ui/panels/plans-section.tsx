/**
 * Left rail: A, and the plans put aside, each with cost and angle, the key it was stored under, and what can be done with
 * it. Recalling and saving are one undo step each; a deleted plan can be taken back from its notice.
 */
import { costChoiceOf, recipeName, SLOTS, type PinnedPlan, type SavedPlan, type Shown } from '../../state';
import { LetterA } from '../compare/letter';
import { PinButton } from '../compare/pin-button';
import { costTitle, differingCells, measuredShort, measuredText, planFigures, predictedText, priceText } from '../compare/plan-figures';
import { useActions, useDocument, useFacts, usePlans, useView, useWorkbench } from '../workbench';
import './plans.css';

/** The lowest key that no saved plan has, or null when all nine are taken. */
function freeSlot(saved: readonly SavedPlan[]): number | null {
  const taken = new Set(saved.map(({ slot }) => slot));
  for (let slot = 1; slot <= SLOTS; slot++) if (!taken.has(slot)) return slot;
  return null;
}

export function PlansSection() {
  const facts = useFacts((f) => f);
  const saved = useDocument((d) => d.saved);
  const pinned = useView((v) => v.pinned);
  const isOpen = useDocument((d) => d.plan !== null);
  const actions = useActions();
  if (!isOpen) return null;
  return (
    <section className="rail-section plans-section" aria-labelledby="plans-heading">
      <div className="heading-row">
        <h2 id="plans-heading">Plans</h2>
        <button type="button" className="link small" title="Puts the current plan aside, under the next free key (M and a digit choose one)" onClick={() => actions.savePlan(freeSlot(saved))}>+ Save current</button>
      </div>
      {pinned === null ? null : <PinnedLine pinned={pinned} />}
      {saved.length === 0 ? <p className="muted small">None saved. Saved plans stay here across reloads.</p> : (
        <ul className="saved-plans" tabIndex={0} aria-label="Saved plans">
          {saved.map((entry) => <SavedRow key={entry.id} entry={entry} facts={facts} />)}
        </ul>
      )}
    </section>
  );
}

function SavedRow({ entry, facts }: { readonly entry: SavedPlan; readonly facts: Shown }) {
  const { view } = useWorkbench();
  const actions = useActions();
  const choice = useView(costChoiceOf);
  const { id, slot, plan, recipe, options } = entry;
  const figures = planFigures(facts, entry, choice);
  const isElsewhere = recipeName(recipe, options) !== recipeName(facts.recipe, facts.options);
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const remove = (): void => {
    // Its row goes from under the pointer, so nothing says that it was left.
    view.setState({ hoveredPlan: null });
    actions.deletePlan(id);
  };
  const point = isElsewhere ? {} : {
    onPointerEnter: () => view.setState({ hoveredPlan: plan }),
    onPointerLeave: () => view.setState({ hoveredPlan: null }),
    onFocus: () => view.setState({ hoveredPlan: plan }),
    onBlur: () => view.setState({ hoveredPlan: null }),
  };
  return (
    <li className="saved-plan" {...point}>
      {slot === null ? <span className="saved-slot" /> : <kbd className="saved-slot" title={`Key: G then ${slot}`}>{slot}</kbd>}
      <button type="button" className="link saved-name" title={`${plan.name}: make it the current plan (one undo step)`} aria-label={`Recall ${plan.name}`} onClick={() => actions.recallPlan(id)}>{plan.name}</button>
      <PinButton id={id} plan={entry} />
      <button type="button" className="button quiet small saved-delete" aria-label={`Delete ${plan.name}`} title={`Delete ${plan.name} (can be undone)`} onClick={remove}>×</button>
      <p className="saved-figures">
        {isElsewhere ? <>{recipeName(recipe, options)}, </> : null}
        <PlanFiguresLine figures={figures} />
        {figures.measured === null && !figures.isReference ? <> <button type="button" className="link" disabled={!ready} aria-label={`Verify ${plan.name} jointly`} onClick={() => void actions.verifyPlans([id])}>verify</button></> : null}
      </p>
    </li>
  );
}

/** "13.0 %, measured 9.80 ± 0.21 deg"; of a plan that was not verified its prediction. */
function PlanFiguresLine({ figures }: { readonly figures: ReturnType<typeof planFigures> }) {
  const choice = useView(costChoiceOf);
  const { shown, cost, totals, measured } = figures;
  const price = priceText(shown, choice, cost);
  const angle = measured === null && !figures.isReference ? predictedText(totals) : measuredText(figures);
  // The list has no room for the error; it is in the tooltip.
  const short = measured === null ? angle.text : measuredShort(figures);
  return (
    <>
      <span title={price.why ?? costTitle(shown, choice)}>{price.text}</span>,{' '}
      <span title={angle.why ?? angle.text}>{measured !== null ? 'measured ' : figures.isReference || totals?.predictedDeg == null ? '' : 'predicted '}{short}</span>
    </>
  );
}

/** What A is, how many cells the current plan differs in, and the way to them. */
function PinnedLine({ pinned }: { readonly pinned: PinnedPlan }) {
  const facts = useFacts((f) => f);
  const { view } = useWorkbench();
  const actions = useActions();
  const choice = useView(costChoiceOf);
  const { shown: inHand } = usePlans();
  const isHere = pinned.modelSha256 === facts.modelSha256;
  const count = inHand === null ? 0 : differingCells(Object.keys(inHand.formats), pinned.plan, inHand).length;
  return (
    <div className="pinned">
      <LetterA />
      <strong className="saved-name" title={pinned.name}>{pinned.name}</strong>
      <button type="button" className="link" title="The cells in which the current plan differs from A" onClick={() => view.setState({ inspector: 'diff', inspectorOpen: true })}>{count} {count === 1 ? 'cell differs' : 'cells differ'}</button>
      <button type="button" className="button quiet small saved-delete" aria-label="Let go of A" title="Let go of A" onClick={() => actions.pin(null)}>×</button>
      <p className="saved-figures">{isHere ? <PlanFiguresLine figures={planFigures(facts, pinned, choice)} /> : 'of another model'}</p>
    </div>
  );
}
