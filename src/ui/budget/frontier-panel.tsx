/** The frontier of the current locks with the current plan and the baselines, as a chart or as its table twin. */
import { useState } from 'react';
import { formatDegrees, formatPercent } from '../../base/units';
import { baselinesAt, costChoiceOf, costWords, frontierOf, jointOf, totalsOf, type Shown } from '../../state';
import type { Plan } from '../../allocate/plan';
import { FrontierChart, type ChartPlan } from '../charts/frontier-chart';
import { useBox } from '../charts/use-box';
import { useFacts, usePlans, useView } from '../workbench';
import { CopyTable } from './copy-table';
import { pointForShare, useBudget } from './use-budget';
import './dock.css';

function chartPlan(facts: Shown, id: string, plan: Plan, current: boolean): ChartPlan | null {
  const totals = totalsOf(facts, plan);
  if (!totals) return null;
  const joint = jointOf(facts, plan)?.result;
  return { id, name: plan.name, cost: totals.hpShare, predictedDeg: totals.predictedDeg, measuredDeg: joint?.status === 'measured' ? joint.angleDeg : null, current };
}

export function FrontierPanel() {
  const facts = useFacts((f) => f);
  const { plan, shown } = usePlans();
  const choice = useView(costChoiceOf);
  const budget = useBudget();
  const [asTable, setAsTable] = useState(false);
  const [ref, box] = useBox<HTMLDivElement>();
  if (!plan || !shown || !facts.graph) return <p className="empty">Open a model to see its frontier.</p>;
  const frontier = frontierOf(facts, plan, choice);
  const cost = costWords(facts.recipe).name;
  const line = frontier ? frontier.points.map((p) => ({ cost: p.cost / frontier.totalCost, angleDeg: p.angleDeg })) : [];
  const plans = [...baselinesAt(facts, choice, plan).map((b) => (b.plan ? chartPlan(facts, b.id, b.plan, false) : null)), chartPlan(facts, 'current', shown, true)].filter((p) => p !== null);
  return (
    <section className="dock-chart" aria-label="Frontier">
      <div className="dock-side">
        <p><span className="key hollow" aria-hidden="true" /> predicted <span className="key filled" aria-hidden="true" /> measured <span className="key rule" aria-hidden="true" /> best plan at each budget</p>
        <p className="muted">Drag on the chart to move the plan along the line. Squared tangents add, the floor once; the joint probe decides.</p>
        {frontier && frontier.unpredicted.length > 0 && <p className="muted">{frontier.unpredicted.length} sites have no measurement and stay as they are.</p>}
        <button type="button" className="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>{asTable ? 'Show as chart' : 'Show as table'}</button>
      </div>
      {asTable ? (
        <CopyTable
          caption="Plans: cost and bending"
          columns={['plan', cost, 'predicted', 'measured', 'gap']}
          rows={plans.map((p) => [
            p.name, formatPercent(p.cost), p.predictedDeg === null ? 'not predicted' : formatDegrees(p.predictedDeg),
            p.measuredDeg === null ? 'not measured' : formatDegrees(p.measuredDeg),
            p.predictedDeg === null || p.measuredDeg === null ? '' : `${(p.measuredDeg - p.predictedDeg).toFixed(2)} deg`,
          ])}
        />
      ) : (
        <div className="dock-plot" ref={ref}>
          {box.width > 0 ? (
            <FrontierChart
              width={box.width} height={box.height} costName={cost} frontier={line} plans={plans}
              onDrag={(cost) => frontier && budget.moveTo(pointForShare(frontier, cost).index)}
              onDrop={() => budget.commit((f, index) => `spend at most ${formatPercent((f.points[index]?.cost ?? 0) / f.totalCost)}`)}
              onCancel={budget.cancel}
            />
          ) : null}
        </div>
      )}
    </section>
  );
}
