/**
 * The global budget: "Spend at most" (least bending for a share of the recipe's cost: GEMM work, or activation cache) or
 * "Bend at most" (cheapest plan within an angle), as a handle that snaps to the solver's plans and as a number field that does the same (ux.md 3.4).
 */
import { useId, useMemo, useState } from 'react';
import { formatDegrees, formatPercent, significant } from '../../base/units';
import { differences } from '../../allocate/plan';
import { costChoiceOf, costWords, frontierOf, sitesOf, totalsOf } from '../../state';
import { ANGLE_DOMAIN, logPosition, logValue } from '../charts/scales';
import { useFacts, usePlans, useView, useWorkbench } from '../workbench';
import { Slider } from './slider';
import { angleText, shareText, stopForText } from './budget-stop';
import { pointForAngle, pointForShare, useBudget } from './use-budget';
import './budget.css';

export function BudgetBar() {
  const { view } = useWorkbench();
  const facts = useFacts((f) => f);
  const mode = useView((v) => v.mode);
  const { plan, shown } = usePlans();
  const budget = useBudget();
  const choice = useView(costChoiceOf);
  const line = plan ? frontierOf(facts, plan, choice) : null;
  const totals = plan ? totalsOf(facts, plan) : null;
  const next = shown ? totalsOf(facts, shown) : null;
  const measured = useMemo(() => Object.values(facts.sites).some((result) => result.status === 'measured'), [facts.sites]);
  if (!plan || !shown || !line || !totals || !next) return null;

  const shares = line.points.map((p) => p.cost / line.totalCost);
  const spend = mode === 'spend';
  const words = costWords(facts.recipe);
  const angles = line.points.map((p) => p.angleDeg).filter((a) => a >= ANGLE_DOMAIN[0]);
  const scale = [Math.max(ANGLE_DOMAIN[0], (angles.at(-1) ?? 1) * 0.8), Math.min(90, (angles[0] ?? 10) * 1.1)] as const;
  const place = (share: number, angleDeg: number | null): number => (spend ? share : angleDeg === null ? 1 : logPosition(angleDeg, scale));
  const label = (f: typeof line, index: number): string => {
    const point = f.points[index];
    return spend ? `spend at most ${formatPercent((point?.cost ?? 0) / f.totalCost)}` : `bend at most ${formatDegrees(point?.angleDeg ?? 0)}`;
  };
  const disabled = !measured;
  const range = spend ? { min: 0, max: 100, value: Number((100 * next.hpShare).toFixed(2)) } : { min: Number(significant(scale[0])), max: Number(significant(scale[1])), value: Number(significant(next.predictedDeg ?? scale[1])) };
  return (
    <section className="budget" aria-label="Budget">
      <div className="budget-modes segmented" role="group" aria-label="What the budget limits">
        <button type="button" aria-pressed={spend} onClick={() => view.setState({ mode: 'spend' })}>Spend at most</button>
        <button type="button" aria-pressed={!spend} onClick={() => view.setState({ mode: 'bend' })}>Bend at most</button>
      </div>
      <Slider
        className="budget-slider"
        label={spend ? `Spend at most: share of ${words.of} in BF16` : 'Bend at most: predicted angle'}
        orientation="horizontal"
        fraction={place(next.hpShare, next.predictedDeg)}
        {...range}
        valueText={`${formatPercent(next.hpShare)} of ${words.of} in BF16, predicted ${next.predictedDeg === null ? 'unknown' : `${significant(next.predictedDeg)} degrees`}, ${next.siteCount.bf16} cells BF16`}
        disabled={disabled}
        onDrag={(fraction) => budget.moveTo((spend ? pointForShare(line, fraction) : pointForAngle(line, logValue(fraction, scale))).index)}
        // Along the angle axis more to the right is less precision.
        onStep={(by) => budget.step(spend ? by : -by)}
        onCommit={() => budget.commit(label)}
        onCancel={budget.cancel}
      >
        <FlipTicks positions={spend ? shares : line.points.map((p) => logPosition(p.angleDeg, scale))} />
        <div className="slider-fill" style={{ width: `${100 * place(totals.hpShare, totals.predictedDeg)}%` }} />
        {shown !== plan ? <div className="slider-ghost" style={{ left: `${100 * place(totals.hpShare, totals.predictedDeg)}%` }} /> : null}
      </Slider>
      <BudgetField
        key={mode}
        spend={spend}
        costOf={words.of}
        value={spend ? shareText(next.hpShare) : next.predictedDeg === null ? '' : angleText(next.predictedDeg)}
        disabled={disabled}
        onText={(text) => {
          const index = stopForText(line, mode, text);
          if (index === null) return;
          budget.moveTo(index);
          budget.commit(() => `${mode} at most ${text.trim()} ${spend ? '%' : 'deg'}`);
        }}
      />
      <p className="budget-note" aria-live="off">
        {shown !== plan && facts.graph ? (
          <span className="budget-chip">
            {words.name} {formatPercent(totals.hpShare)} → <b>{formatPercent(next.hpShare)}</b>, predicted {degreesOrNone(totals.predictedDeg)} → <b>{degreesOrNone(next.predictedDeg)}</b>,{' '}
            {flips(differences(sitesOf(facts.graph, facts.recipe), plan.formats, shown.formats).length)}
          </span>
        ) : disabled ? 'No cell is measured yet, so there is nothing to spend on.' : 'Prediction: squared tangents add, the floor once; the joint probe decides.'}
      </p>
    </section>
  );
}

function degreesOrNone(angleDeg: number | null): string {
  return angleDeg === null ? 'not predicted' : formatDegrees(angleDeg);
}

function flips(count: number): string {
  return count === 1 ? '1 cell flips' : `${count} cells flip`;
}

/** A tick where a cell flips: the places the handle can rest. */
function FlipTicks({ positions }: { readonly positions: readonly number[] }) {
  const path = useMemo(() => positions.map((p) => `M${(1000 * p).toFixed(1)} 0V1`).join(''), [positions]);
  return (
    <svg className="flip-ticks" viewBox="0 0 1000 1" preserveAspectRatio="none" aria-hidden="true">
      <path d={path} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

interface FieldProps {
  readonly spend: boolean;
  /** "GEMM work", "the activation cache". */
  readonly costOf: string;
  readonly value: string;
  readonly disabled: boolean;
  onText(text: string): void;
}

function BudgetField({ spend, costOf, value, disabled, onText }: FieldProps) {
  const id = useId();
  /** What is being typed; null: the field shows the plan's own value. */
  const [draft, setDraft] = useState<string | null>(null);
  const take = (): void => {
    if (draft !== null && draft !== value) onText(draft);
    setDraft(null);
  };
  return (
    <div className="budget-field">
      <label htmlFor={id} className="visually-hidden">{spend ? `Spend at most, percent of ${costOf}` : 'Bend at most, degrees'}</label>
      <input id={id} inputMode="decimal" autoComplete="off" value={draft ?? value} disabled={disabled} onChange={(event) => setDraft(event.target.value)} onBlur={take}
        onKeyDown={(event) => {
          if (event.key === 'Enter') take();
          if (event.key === 'Escape') setDraft(null);
        }} />
      <span aria-hidden="true">{spend ? '%' : 'deg'}</span>
    </div>
  );
}
