/** Left rail, lower part: the current plan's name and totals, live while a hand drags, Verify jointly, the baselines. */
import { useState } from 'react';
import { formatBytes, formatPercent } from '../../base/units';
import { baselinesAt, costChoiceOf, costWords, formatName, jointOf, totalsOf } from '../../state';
import { siteShort } from '../grid/site-names';
import { useActions, useFacts, usePlans, useView } from '../workbench';
import { FiguresTrio, trioOf } from './figures-trio';
import { primaryAction } from './primary-action';

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
  const { graph } = facts;
  const totals = totalsOf(facts, shown);
  const joint = jointOf(facts, shown);
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const locked = Object.keys(plan.locked).length;
  const unpredicted = totals?.unpredicted ?? [];
  const verifying = facts.run?.kind === 'joint';
  return (
    <section className="rail-section plan-panel" aria-labelledby="plan-heading">
      <h2 id="plan-heading">Plan</h2>
      <PlanName name={plan.name} />
      <FiguresTrio trio={trioOf(totals?.predictedDeg ?? null, joint)} />
      {unpredicted.length > 0 ? (
        <p className="small warn">Not predicted: {unpredicted.length} low {unpredicted.length === 1 ? 'cell has' : 'cells have'} no angle ({unpredicted.slice(0, 2).map((id) => siteShort(graph, id)).join(', ')}{unpredicted.length > 2 ? ', …' : ''}).</p>
      ) : null}
      {totals ? (
        <dl className="pairs">
          <div><dt>{costWords(facts.recipe).name}</dt><dd>{formatPercent(totals.hpShare)}</dd></div>
          {totals.relativeToFixed === null ? null : <div title="Bytes that the plan keeps in BF16, and over those of the fixed policy, which keeps embedding, head and every norm"><dt>A token</dt><dd>{formatBytes(totals.hpCost)}, {totals.relativeToFixed.toFixed(2)} × fixed</dd></div>}
          <div><dt>Effective bits</dt><dd>{totals.effectiveBits.toFixed(2)}</dd></div>
          <div><dt>Sites BF16 / {formatName(facts.recipe)}</dt><dd>{totals.siteCount.bf16} / {totals.siteCount[facts.recipe]}{locked > 0 ? `, ${locked} locked` : ''}</dd></div>
        </dl>
      ) : null}
      <button type="button" className={primaryAction(facts, plan) === 'verify' ? 'button primary wide-button' : 'button wide-button'} disabled={!ready} title="Measure the whole plan at once" onClick={() => void actions.verifyJointly()}>
        {verifying ? 'Verifying' : 'Verify jointly'}
      </button>
    </section>
  );
}

export function BaselineList() {
  const facts = useFacts((f) => f);
  const { plan } = usePlans();
  const choice = useView(costChoiceOf);
  const actions = useActions();
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const baselines = plan ? baselinesAt(facts, choice, plan).flatMap((row) => (row.plan ? [{ id: row.id, plan: row.plan }] : [])) : [];
  return (
    <section className="rail-section" aria-labelledby="baselines-heading">
      <h2 id="baselines-heading">Baselines</h2>
      <ul className="baseline-list">
        {baselines.map((baseline) => (
          <li key={baseline.id}>
            <span className="baseline-name">{baseline.plan.name}</span>
            <button type="button" className="button quiet small" disabled={!plan} aria-label={`Apply ${baseline.plan.name}`} title="Take it over as the current plan (one undo step; locked cells stay)" onClick={() => actions.applyBaseline(baseline.id)}>Apply</button>
            <button type="button" className="button quiet small" disabled={!ready || baseline.id === 'all-high'} aria-label={`Verify ${baseline.plan.name} jointly${jointOf(facts, baseline.plan) ? ' again' : ''}`} title={baseline.id === 'all-high' ? 'It is the reference itself: 0 degrees' : 'Measure it jointly'} onClick={() => void actions.verifyJointly(baseline.plan)}>
              {jointOf(facts, baseline.plan) ? 'Again' : 'Verify'}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
