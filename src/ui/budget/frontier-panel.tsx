/**
 * The frontier of the current locks with the plan in hand, every baseline and every saved plan, as a chart or as its table
 * twin (ux.md 3.5). Its axis is the chosen cost or effective bits; the line is then the solver's for that axis.
 */
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { CostTable } from '../../allocate/costs';
import type { ChoiceFrontier } from '../../allocate/frontier';
import type { Plan } from '../../allocate/plan';
import { formatDegrees, significant } from '../../base/units';
import type { SiteFormat } from '../../graph/policy';
import { costChoiceOf, costFaultOf, costFigureOf, costKindOf, costOf, formatName, frontierOf, isAnyMeasured, jointOf, solveFaultOf, totalsOf, type CostChoice, type Shown } from '../../state';
import { costText, type CostAxis } from '../charts/cost-axis';
import { FrontierChart } from '../charts/frontier-chart';
import type { ChartHandle } from '../charts/frontier-handle';
import { useBox } from '../charts/use-box';
import { useActions, useDocument, useFacts, usePlans, useView, useWorkbench } from '../workbench';
import { CopyTable } from './copy-table';
import { cellsText, COST_WORDS, costAxis, NO_COST } from './cost-words';
import { howMuchSteps, PINNED_ID, planPoints, type PlanPoint, type PlanPoints } from './frontier-points-of';
import { useBudget } from './use-budget';
import './dock.css';

export function FrontierPanel() {
  const facts = useFacts((f) => f);
  const document = useDocument((d) => d);
  const chosen = useView(costChoiceOf);
  const pinned = useView((v) => v.pinned);
  const [asBits, setAsBits] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const { plan, recipe } = document;
  const isBits = asBits && costKindOf(recipe, chosen.kind) !== 'bits';
  const choice = useMemo((): CostChoice => (isBits ? { ...chosen, kind: 'bits' } : chosen), [isBits, chosen]);
  const points = useMemo(() => planPoints(document, facts, chosen, choice, pinned), [document, facts, chosen, choice, pinned]);
  const table = costOf(facts, choice);
  const line = plan && frontierOf(facts, plan, choice);
  const axis = useMemo(() => table && costAxis(facts, table), [facts, table]);
  if (!plan || !facts.graph) return <p className="empty">Open a model to see its frontier.</p>;
  const fault = costFaultOf(facts, choice) ?? solveFaultOf(facts, plan, choice);
  const own = COST_WORDS[costKindOf(recipe, chosen.kind)].choice;
  return (
    <section className="dock-chart" aria-label="Frontier">
      <div className="dock-side">
        <p><span className="key hollow" aria-hidden="true" /> predicted <span className="key filled" aria-hidden="true" /> measured <span className="key rule" aria-hidden="true" /> best plan at each budget</p>
        <div className="dock-buttons">
          {costKindOf(recipe, chosen.kind) === 'bits' ? null : (
            <div className="segmented axis-switch" role="group" aria-label="Cost axis of the frontier">
              <button type="button" aria-pressed={!isBits} onClick={() => setAsBits(false)}>{own}</button>
              <button type="button" aria-pressed={isBits} onClick={() => setAsBits(true)}>Effective bits</button>
            </div>
          )}
          <button type="button" className="button small" onClick={() => setAsTable(!asTable)}>{asTable ? 'Show as chart' : 'Show as table'}</button>
        </div>
        <p className="muted">Drag the handle along the line. Point at a plan to see its pattern; click it to make it A.</p>
        {line === null ? null : <Unpredicted unpredicted={line.unpredicted} />}
      </div>
      {fault !== null || line === null || table === null || axis === null ? <p className="empty"><strong>{fault?.name}</strong> {fault?.message} {fault?.hint}</p>
        : asTable ? <PlanTable points={points.points} axis={axis} />
        : <Chart facts={facts} plan={plan} choice={choice} table={table} line={line} axis={axis} points={points} />}
    </section>
  );
}

/** What the line does not know. */
function Unpredicted({ unpredicted }: Pick<ChoiceFrontier, 'unpredicted'>) {
  const kept = unpredicted.filter((site) => site.kept !== null).length;
  const counts = new Map<SiteFormat, number>();
  for (const site of unpredicted) for (const format of site.formats) if (format !== site.kept) counts.set(format, (counts.get(format) ?? 0) + 1);
  return (
    <>
      {kept > 0 ? <p className="muted">{cellsText(kept)} locked to a format that was not measured: the line leaves out what they bend.</p> : null}
      {[...counts].map(([format, count]) => <p key={format} className="muted">{formatName(format)} is not measured in {cellsText(count)}: the line does not use it there.</p>)}
    </>
  );
}

function PlanTable({ points, axis }: { readonly points: readonly PlanPoint[]; readonly axis: CostAxis }) {
  return (
    <CopyTable
      caption="Plans: cost and bending"
      columns={['plan', axis.name, 'predicted', 'measured', 'gap']}
      rows={points.map((p) => [
        p.name, costText(axis, p.cost), p.predictedDeg === null ? 'not predicted' : formatDegrees(p.predictedDeg),
        p.measuredDeg === null ? 'not measured' : formatDegrees(p.measuredDeg),
        p.predictedDeg === null || p.measuredDeg === null ? '' : `${(p.measuredDeg - p.predictedDeg).toFixed(2)} deg`,
      ])}
    />
  );
}

interface ChartProps {
  readonly facts: Shown;
  readonly plan: Plan;
  readonly choice: CostChoice;
  readonly table: CostTable;
  readonly line: ChoiceFrontier;
  readonly axis: CostAxis;
  readonly points: PlanPoints;
}

/** What changes with every move of the hand; the rest of the panel does not. */
function Chart({ facts, plan, choice, table, line, axis, points: { points, pinnedId } }: ChartProps) {
  const { view } = useWorkbench();
  const actions = useActions();
  const { shown } = usePlans();
  const budget = useBudget(undefined, choice);
  const [ref, box] = useBox<HTMLDivElement>();
  const frontier = useMemo(() => line.points.map((p) => ({ cost: table.figureOf(p.cost), angleDeg: p.angleDeg })), [line, table]);
  const steps = useMemo(() => howMuchSteps(facts, facts.howMuch, table), [facts, table]);
  useEffect(() => () => view.setState({ hoveredPlan: null }), [view]);
  const onHover = useCallback((id: string | null): void => {
    view.setState({ hoveredPlan: points.find((point) => point.id === id)?.plan ?? null });
  }, [view, points]);
  const onPick = useCallback((id: string): void => actions.pin(id === pinnedId || id === PINNED_ID ? null : id), [actions, pinnedId]);
  const handle = handleOf(facts, plan, shown ?? plan, choice, axis);
  return (
    <div className="dock-plot" ref={ref}>
      {handle === null ? <p className="budget-fault">{NO_COST}</p> : null}
      {box.width > 0 && handle !== null ? (
        <FrontierChart
          width={box.width} height={box.height} axis={axis} frontier={frontier} plans={points} handle={handle} steps={steps} targetDeg={steps.length > 0 ? (facts.howMuch?.targetDeg ?? null) : null}
          pinnedId={pinnedId} onHover={onHover} onPick={onPick}
          onDrag={(cost) => budget.moveTo({ cost: table.costOf(cost) })}
          onStep={budget.step}
          onCommit={() => budget.commit((point) => `spend at most ${costText(axis, table.figureOf(point.cost))}`)}
          onCancel={budget.cancel}
        />
      ) : null}
    </div>
  );
}

/** Null where the plan under the hand has no cost. */
function handleOf(facts: Shown, plan: Plan, shown: Plan, choice: CostChoice, axis: CostAxis): ChartHandle | null {
  const cost = costFigureOf(facts, shown, choice);
  const totals = totalsOf(facts, shown);
  if (cost === null || totals === null) return null;
  const isMoving = shown !== plan;
  // A plan under the hand is hashed only once it is committed.
  const joint = isMoving ? null : jointOf(facts, plan)?.result;
  const { predictedDeg } = totals;
  return {
    cost, predictedDeg, isMoving, measuredDeg: joint?.status === 'measured' ? joint.angleDeg : null,
    label: 'The plan on the frontier', disabled: !isAnyMeasured(facts),
    valueText: `${costText(axis, cost)}${axis.unit === '%' ? ` ${axis.name}` : ''}, predicted ${predictedDeg === null ? 'unknown' : `${significant(predictedDeg)} degrees`}`,
  };
}
