/**
 * The handle on a row's or a layer's bar: dragging it buys precision inside that part alone. F2, a double click or a press on
 * the figure opens a number field that does the same (WCAG 2.5.7). Re-rendered only where its own figures change.
 */
import { memo, useState } from 'react';
import { formatDegrees, significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { costChoiceOf, countDifferences } from '../../state';
import { cellFigure } from '../charts/heatmap';
import { useFacts, usePlans, useView } from '../workbench';
import { cellsText, costChange } from './cost-words';
import { NumberField } from './number-field';
import { Slider } from './slider';
import { angleLimit, angleText } from './typed-limit';
import { useBudget } from './use-budget';

export interface MarginalHandleProps {
  /** "down forward", "layer 3". */
  readonly name: string;
  readonly part: ReadonlySet<SiteId>;
  /** Of the plan under the hand, of the committed one, of everything low. Degrees. */
  readonly nowDeg: number;
  readonly beforeDeg: number;
  readonly fullDeg: number;
  /** Angle at the end of the track. */
  readonly maxDeg: number;
  readonly isMeasured: boolean;
  readonly valueText: string;
  readonly orientation: 'horizontal' | 'vertical';
  /** No room for the figure beside the handle; the handle's value says it. */
  readonly isNarrow?: boolean;
  readonly tabIndex: number;
  /** Row or layer. */
  readonly index: number;
  keep(index: number, handle: HTMLDivElement | null): void;
  onFocus(index: number): void;
  onNeighbour(index: number): void;
}

/** A layer's track is low: a hand may go so many times its height. */
const TRACKS_HIGH = 3;

export const MarginalHandle = memo(function MarginalHandle(props: MarginalHandleProps) {
  const { name, part, nowDeg, beforeDeg, fullDeg, maxDeg, isMeasured, orientation, isNarrow = false, index, keep } = props;
  const budget = useBudget(part);
  const [isTyping, setTyping] = useState(false);
  const vertical = orientation === 'vertical';
  // A second format may bend more than everything low does.
  const along = (angleDeg: number): number => Math.min(1, angleDeg / maxDeg);
  const size = (angleDeg: number): string => `${100 * along(angleDeg)}%`;
  const length = (angleDeg: number) => (vertical ? { height: size(angleDeg) } : { width: size(angleDeg) });
  const commit = (): void => budget.commit((point) => `${name}: bend at most ${formatDegrees(point.angleDeg)}`);
  const canMove = fullDeg > 0;
  const type = (): void => setTyping(canMove);
  return (
    <>
      <Slider
        className="marginal"
        label={`Bending of ${name}`}
        orientation={orientation}
        fraction={along(nowDeg)}
        gain={along(fullDeg) / (vertical ? TRACKS_HIGH : 1)}
        min={0}
        max={Number(significant(Math.max(fullDeg, nowDeg)))}
        value={Number(significant(nowDeg))}
        valueText={props.valueText}
        disabled={!canMove}
        tabIndex={props.tabIndex}
        handleRef={(handle) => keep(index, handle)}
        onDrag={(fraction) => budget.moveTo({ angleDeg: fraction * maxDeg })}
        // Less bending is more precision.
        onStep={(by, isFine) => budget.step(-by, isFine)}
        onCommit={commit}
        onCancel={budget.cancel}
        onType={type}
        onFocus={() => props.onFocus(index)}
        onNeighbour={(by) => props.onNeighbour(index + by)}
      >
        <div className="marginal-full" style={length(fullDeg)} />
        <div className="marginal-now" style={length(nowDeg)} />
        {beforeDeg === nowDeg ? null : <div className="slider-ghost" style={vertical ? { bottom: size(beforeDeg) } : { left: size(beforeDeg) }} />}
      </Slider>
      {isTyping ? (
        <NumberField
          className="marginal-field" label={`Bend ${name} at most, degrees`} unit="" value={angleText(nowDeg)} isOpened
          onText={(text) => {
            const line = budget.line();
            const limit = line && angleLimit(line, text);
            if (!limit) return;
            budget.moveTo(limit);
            commit();
          }}
          onClose={() => setTyping(false)}
        />
      ) : isNarrow ? null : (
        <button type="button" className="marginal-figure" tabIndex={-1} disabled={!canMove} aria-label={`${isMeasured ? cellFigure(nowDeg) : '–'}, ${name}: type how much it may bend`} title="Type how much it may bend (F2 on the handle)" onClick={type}>
          {isMeasured ? cellFigure(nowDeg) : '–'}
        </button>
      )}
      {budget.isMoving ? <DragChip name={name} beforeDeg={beforeDeg} nowDeg={nowDeg} /> : null}
    </>
  );
});

/** "down forward 6.20 → 4.01 deg, +2.8 % HP work, 3 cells", in pieces that may stand below each other. */
function DragChip({ name, beforeDeg, nowDeg }: Pick<MarginalHandleProps, 'name' | 'beforeDeg' | 'nowDeg'>) {
  const facts = useFacts((f) => f);
  const choice = useView(costChoiceOf);
  const { plan, shown } = usePlans();
  if (!plan || !shown) return null;
  const cost = costChange(facts, choice, plan, shown);
  return (
    <p className="drag-chip">
      <b>{name}</b> <span>{significant(beforeDeg)} → <b>{formatDegrees(nowDeg)}</b>,</span> <span>{cost === null ? '' : `${cost}, `}{cellsText(countDifferences(facts, plan, shown))}</span>
    </p>
  );
}
