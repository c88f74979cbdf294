/** Left rail, lowest part: the current plan's name and totals, live while a hand drags, Verify jointly, how much is needed. */
import { useState } from 'react';
import { formatBytes, formatPercent } from '../../base/units';
import { costChoiceOf, costFigureOf, costKindOf, costWords, jointOf, lowFormatsOf, totalsOf, type Shown } from '../../state';
import type { Plan } from '../../allocate/plan';
import type { PlanTotals } from '../../allocate/cost';
import { costTitle, priceText, siteCounts } from '../compare/plan-figures';
import { PinButton } from '../compare/pin-button';
import { siteShort } from '../grid/site-names';
import { useActions, useFacts, usePlans, useView } from '../workbench';
import { FiguresTrio, trioOf } from './figures-trio';
import { HowMuchForm } from './how-much-form';
import { primaryAction } from './primary-action';
import './plans.css';

function PlanName({ name }: { readonly name: string }) {
  const actions = useActions();
  const [draft, setDraft] = useState<string | null>(null);
  const finish = (): void => {
    if (draft !== null) actions.rename(draft.trim());
    setDraft(null);
  };
  return (
    <input
      className="input plan-name" aria-label="Plan name" value={draft ?? name} maxLength={60} spellCheck={false}
      onChange={(event) => setDraft(event.target.value)} onBlur={finish}
      onKeyDown={(event) => {
        if (event.key === 'Enter') finish();
        if (event.key === 'Escape') setDraft(null);
      }}
    />
  );
}

export function PlanPanel() {
  const facts = useFacts((f) => f);
  const { plan, shown } = usePlans();
  const actions = useActions();
  if (!plan || !shown || !facts.graph) return <section className="rail-section" aria-label="Plan"><h2>Plan</h2><p className="muted">Open a model first.</p></section>;
  const { graph, recipe, options, second } = facts;
  const totals = totalsOf(facts, shown);
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const unpredicted = totals?.unpredicted ?? [];
  const verifying = facts.run?.kind === 'joint';
  return (
    <section className="rail-section plan-panel" aria-labelledby="plan-heading">
      <h2 id="plan-heading">Plan</h2>
      <div className="plan-title">
        <PlanName name={plan.name} />
        <PinButton id="current" plan={{ recipe, options, second, plan }} />
      </div>
      <FiguresTrio trio={trioOf(totals?.predictedDeg ?? null, jointOf(facts, shown))} />
      {unpredicted.length > 0 ? (
        <p className="small warn">Not predicted: {unpredicted.length} low {unpredicted.length === 1 ? 'cell has' : 'cells have'} no angle ({unpredicted.slice(0, 2).map((id) => siteShort(graph, id)).join(', ')}{unpredicted.length > 2 ? ', …' : ''}).</p>
      ) : null}
      {totals ? <Totals facts={facts} plan={shown} totals={totals} locked={Object.keys(plan.locked).length} /> : null}
      <button type="button" className={primaryAction(facts, plan) === 'verify' ? 'button primary wide-button' : 'button wide-button'} disabled={!ready} title="Measure the whole plan at once" onClick={() => void actions.verifyJointly()}>
        {verifying ? 'Verifying' : 'Verify jointly'}
      </button>
      <HowMuchForm />
    </section>
  );
}

interface TotalsProps {
  readonly facts: Shown;
  /** The plan under the hand. */
  readonly plan: Plan;
  readonly totals: PlanTotals;
  readonly locked: number;
}

/** What the plan costs: by the chosen cost, by the recipe's own beside it, in bits; how many cells each format has. */
function Totals({ facts, plan, totals, locked }: TotalsProps) {
  const choice = useView(costChoiceOf);
  const { recipe } = facts;
  const kind = costKindOf(recipe, choice.kind);
  const chosen = kind === 'time' ? priceText(facts, choice, costFigureOf(facts, plan, choice)) : null;
  const sites = siteCounts(totals, lowFormatsOf(facts));
  return (
    <dl className="pairs">
      {chosen ? <div title={chosen.why ?? 'What the plan pays by'}><dt>{costTitle(facts, choice)}</dt><dd>{chosen.text}</dd></div> : null}
      <div><dt>{costWords(recipe).name}</dt><dd>{formatPercent(totals.hpShare)}</dd></div>
      {totals.relativeToFixed === null ? null : <div title="Bytes that the plan keeps in BF16, and over those of the fixed policy, which keeps embedding, head and every norm"><dt>A token</dt><dd>{formatBytes(totals.hpCost)}, {totals.relativeToFixed.toFixed(2)} × fixed</dd></div>}
      <div><dt>Effective bits</dt><dd>{totals.effectiveBits.toFixed(2)}</dd></div>
      <div><dt>Sites {sites.names}</dt><dd>{sites.counts}{locked > 0 ? `, ${locked} locked` : ''}</dd></div>
    </dl>
  );
}
