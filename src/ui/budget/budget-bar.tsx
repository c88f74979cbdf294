/**
 * The global budget: "Spend at most" (least bending for a cost) or "Bend at most" (cheapest plan within an angle) over the
 * cost that was chosen, as a handle that snaps to the solver's plans and as a number field that does the same (ux.md 3.4).
 */
import { memo, useMemo } from 'react';
import type { ChoiceFrontier } from '../../allocate/frontier';
import type { Plan } from '../../allocate/plan';
import { formatDegrees, formatPercent, significant } from '../../base/units';
import { costChoiceOf, costFaultOf, costFigureOf, costOf, countDifferences, frontierOf, isAnyMeasured, solveFaultOf, totalsOf, type CostChoice, type Shown } from '../../state';
import { ANGLE_DOMAIN, logPosition, logValue } from '../charts/scales';
import { costAt, costPosition, costText, type CostAxis } from '../charts/cost-axis';
import { useFacts, usePlans, useView, useWorkbench } from '../workbench';
import { CostChooser } from './cost-chooser';
import { cellsText, COST_WORDS, costAxis, NO_COST } from './cost-words';
import { NumberField } from './number-field';
import { Slider } from './slider';
import { angleLimit, angleText, costFieldText, costLimit } from './typed-limit';
import { useBudget } from './use-budget';
import './budget.css';

export function BudgetBar() {
  const { view } = useWorkbench();
  const facts = useFacts((f) => f);
  const mode = useView((v) => v.mode);
  const choice = useView(costChoiceOf);
  const { plan, shown } = usePlans();
  if (!plan || !shown || facts.graph === null) return null;
  const isSpend = mode === 'spend';
  const fault = costFaultOf(facts, choice) ?? solveFaultOf(facts, plan, choice);
  const line = fault === null ? frontierOf(facts, plan, choice) : null;
  return (
    <section className="budget" aria-label="Budget">
      <div className="budget-modes">
        <div className="segmented" role="group" aria-label="What the budget limits">
          <button type="button" aria-pressed={isSpend} onClick={() => view.setState({ mode: 'spend' })}>Spend at most</button>
          <button type="button" aria-pressed={!isSpend} onClick={() => view.setState({ mode: 'bend' })}>Bend at most</button>
        </div>
        <CostChooser />
      </div>
      {line === null ? <p className="budget-fault" role="alert"><strong>{fault?.name}</strong> {fault?.message} {fault?.hint}</p> : <Handle facts={facts} choice={choice} line={line} plan={plan} shown={shown} isSpend={isSpend} />}
    </section>
  );
}

interface HandleProps {
  readonly facts: Shown;
  readonly choice: CostChoice;
  readonly line: ChoiceFrontier;
  readonly plan: Plan;
  readonly shown: Plan;
  readonly isSpend: boolean;
}

function Handle({ facts, choice, line, plan, shown, isSpend }: HandleProps) {
  const budget = useBudget();
  const table = costOf(facts, choice);
  const axis = useMemo(() => table && costAxis(facts, table), [facts, table]);
  const isMeasured = isAnyMeasured(facts);
  const scale = useMemo(() => angleScale(line), [line]);
  const [before, now] = [totalsOf(facts, plan), totalsOf(facts, shown)];
  const [costBefore, cost] = [costFigureOf(facts, plan, choice), costFigureOf(facts, shown, choice)];
  const stops = useMemo(
    () => (table === null || axis === null ? [] : line.points.map((point) => (isSpend ? costPosition(axis, table.figureOf(point.cost)) : logPosition(point.angleDeg, scale)))),
    [line, table, axis, isSpend, scale],
  );
  if (table === null || axis === null || before === null || now === null) return null;
  const words = COST_WORDS[table.kind];
  const place = (figure: number | null, angleDeg: number | null): number => (isSpend ? costPosition(axis, figure ?? axis.domain[1]) : angleDeg === null ? 1 : logPosition(angleDeg, scale));
  const figure = (value: number): number => Number(costFieldText(axis.unit, value));
  const range = isSpend
    ? { min: figure(axis.domain[0]), max: figure(axis.domain[1]), value: figure(cost ?? axis.domain[1]) }
    : { min: Number(significant(scale[0])), max: Number(significant(scale[1])), value: Number(significant(now.predictedDeg ?? scale[1])) };
  const commit = (): void => budget.commit((point) => (isSpend ? `spend at most ${costText(axis, table.figureOf(point.cost))}` : `bend at most ${formatDegrees(point.angleDeg)}`));
  return (
    <>
      <Slider
        className="budget-slider"
        label={isSpend ? `Spend at most: ${words.spend}` : 'Bend at most: predicted angle'}
        orientation="horizontal"
        fraction={place(cost, now.predictedDeg)}
        {...range}
        valueText={`${cost === null ? 'cost not known' : `${costText(axis, cost)}${axis.unit === '%' ? ` ${axis.name}` : ''}`}, predicted ${now.predictedDeg === null ? 'unknown' : `${significant(now.predictedDeg)} degrees`}, ${now.siteCount.bf16} cells BF16`}
        disabled={!isMeasured}
        onDrag={(fraction) => budget.moveTo(isSpend ? { cost: table.costOf(costAt(axis, fraction)) } : { angleDeg: logValue(fraction, scale) })}
        // Along the angle axis more to the right is less precision.
        onStep={(by, isFine) => budget.step(isSpend ? by : -by, isFine)}
        onCommit={commit}
        onCancel={budget.cancel}
      >
        <FlipTicks positions={stops} />
        <div className="slider-fill" style={{ width: `${100 * place(costBefore, before.predictedDeg)}%` }} />
        {shown === plan ? null : <div className="slider-ghost" style={{ left: `${100 * place(costBefore, before.predictedDeg)}%` }} />}
      </Slider>
      <NumberField
        key={`${isSpend} ${table.kind}`}
        label={isSpend ? `Spend at most, ${words.field}` : 'Bend at most, degrees'}
        unit={isSpend ? axis.unit : 'deg'}
        value={isSpend ? (cost === null ? '' : costFieldText(axis.unit, cost)) : now.predictedDeg === null ? '' : angleText(now.predictedDeg)}
        disabled={!isMeasured}
        onText={(text) => {
          const limit = isSpend ? costLimit(line, table, axis.unit, text) : angleLimit(line, text);
          if (limit === null) return;
          budget.moveTo(limit);
          budget.commit(() => `${isSpend ? 'spend' : 'bend'} at most ${text.trim()} ${isSpend ? axis.unit : 'deg'}`);
        }}
      />
      <div className="budget-note">
        <p aria-live="off">
          {shown !== plan ? (
            <span className="budget-chip">
              <Change axis={axis} before={costBefore} now={cost} />, predicted {degreesOrNone(before.predictedDeg)} → <b>{degreesOrNone(now.predictedDeg)}</b>, {flips(countDifferences(facts, plan, shown))}
            </span>
          ) : !isMeasured ? 'No cell is measured yet, so there is nothing to spend on.' : cost === null ? NO_COST : 'Prediction: squared tangents add, the floor once; the joint probe decides.'}
        </p>
        <p className="budget-beside">{table.kind === 'bits' ? <>HP work <b>{formatPercent(now.hpShare)}</b></> : <>effective bits <b>{now.effectiveBits.toFixed(2)}</b></>}</p>
      </div>
    </>
  );
}

/** From a little under the least angle that the solver can reach to a little over the largest. */
function angleScale({ points }: ChoiceFrontier): readonly [number, number] {
  const angles = points.map((p) => p.angleDeg).filter((a) => a >= ANGLE_DOMAIN[0]);
  return [Math.max(ANGLE_DOMAIN[0], (angles.at(-1) ?? 1) * 0.8), Math.min(90, (angles[0] ?? 10) * 1.1)];
}

function Change({ axis, before, now }: { readonly axis: CostAxis; readonly before: number | null; readonly now: number | null }) {
  const text = (cost: number | null): string => (cost === null ? 'not known' : costText(axis, cost));
  return <>{axis.name} {text(before)} → <b>{text(now)}</b></>;
}

function degreesOrNone(angleDeg: number | null): string {
  return angleDeg === null ? 'not predicted' : formatDegrees(angleDeg);
}

function flips(count: number): string {
  return `${cellsText(count)} ${count === 1 ? 'flips' : 'flip'}`;
}

/** Finer than this, ticks would be a bar: positions a thousandth of the track apart. */
const TICK_PLACES = 1000;

/** A tick where a cell flips: the places the handle can rest. */
const FlipTicks = memo(function FlipTicks({ positions }: { readonly positions: readonly number[] }) {
  const path = useMemo(() => [...new Set(positions.map((p) => Math.round(TICK_PLACES * p)))].map((p) => `M${p} 0V1`).join(''), [positions]);
  return (
    <svg className="flip-ticks" viewBox={`0 0 ${TICK_PLACES} 1`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} vectorEffect="non-scaling-stroke" />
    </svg>
  );
});
