/**
 * Dock: up to four plans as small multiples on one colour scale, with one cursor: a cell has the colour of what it bends in
 * its format, BF16 none, and its letter. Any saved plan or baseline can be among them, taken in hand, or pinned as A.
 */
import { useCallback, useMemo, useState } from 'react';
import { formatOf, resultIn } from '../../allocate/cost';
import { formatDegrees } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { costChoiceOf, evidenceOf, formatName, lowFormatsOf, MOST_SMALL, plansOf, recipeLabel, recipeName, type CostChoice, type NamedPlan, type Shown } from '../../state';
import { CopyTable } from '../budget/copy-table';
import { useBox } from '../charts/use-box';
import { gridModel } from '../grid/grid-model';
import { siteShort } from '../grid/site-names';
import { useActions, useDocument, useFacts, useView, useWorkbench } from '../workbench';
import { PinButton } from './pin-button';
import { costTitle, measuredShort, measuredText, planFigures, predictedText, priceText, siteCounts, type PlanFigures } from './plan-figures';
import { planCells } from './plan-cells';
import { SmallGrid } from './small-grid';
import './compare.css';
import './plans.css';

/** Room of the words above and below a small grid, px: with one line of figures below it, and with two. */
const WORDS_HEIGHT = { low: 46, high: 62 };
/** Height of the row from which there is room for two lines. */
const ROOM_FOR_TWO = 136;
const GAP = 16;
/** Widths of a small grid. */
const NARROWEST = 110;
const WIDEST = 260;
const WIDEST_CELL = 34;

export function PlansPanel() {
  const facts = useFacts((f) => f);
  const document = useDocument((d) => d);
  const choice = useView(costChoiceOf);
  const small = useView((v) => v.small);
  const [asTable, setAsTable] = useState(false);
  const [ref, box] = useBox<HTMLDivElement>();
  const { view } = useWorkbench();
  const all = plansOf(document, facts, choice);
  if (!facts.graph || all.length === 0) return <p className="empty">Open a model to compare plans.</p>;
  // Before anything was chosen: the plan in hand beside the first other one.
  const known = small.filter((id) => all.some((plan) => plan.id === id));
  const chosen = known.length > 0 ? known : all.slice(0, 2).map(({ id }) => id);
  const plans = chosen.flatMap((id) => all.find((plan) => plan.id === id) ?? []);
  const toggle = (id: string, on: boolean): void => view.setState({ small: on ? [...chosen, id].slice(0, MOST_SMALL) : chosen.filter((other) => other !== id) });
  const isLow = box.height < ROOM_FOR_TWO;
  const width = Math.max(NARROWEST, Math.min(WIDEST, Math.floor((box.width + GAP) / plans.length) - GAP));
  return (
    <section className="plans" aria-label="Plans compared">
      <fieldset className="plans-choice">
        <legend>Plans, up to {MOST_SMALL}</legend>
        <div className="plans-list" tabIndex={0} role="region" aria-label="Plans to choose from">
          {all.map(({ id, name, slot }) => (
            <label key={id} className="check" title={name}>
              <input type="checkbox" checked={chosen.includes(id)} disabled={chosen.includes(id) ? chosen.length === 1 : chosen.length >= MOST_SMALL} onChange={(event) => toggle(id, event.target.checked)} />
              <span className="plans-name">{name}{id === 'current' ? ' (current)' : ''}</span>{slot === null ? null : <kbd>{slot}</kbd>}
            </label>
          ))}
        </div>
      </fieldset>
      <div className="compare">
        <p className="compare-top">
          <span className="muted">{asTable ? 'The same plans in figures.' : <>Colour: what a cell bends in its format, on the grid’s scale; BF16 has none.{isLow ? ' Below: predicted / measured.' : ''}</>}</span>
          <button type="button" className="button small" onClick={() => setAsTable(!asTable)}>{asTable ? 'Show as grids' : 'Show as table'}</button>
        </p>
        {asTable ? <PlansTable facts={facts} plans={plans} choice={choice} /> : (
          <div className="compare-row" ref={ref} tabIndex={0} role="group" aria-label="Small grids of plans">
            {box.width > 0 ? plans.map((plan) => <PlanMultiple key={plan.id} plan={plan} width={width} height={box.height - WORDS_HEIGHT[isLow ? 'low' : 'high']} isLow={isLow} />) : null}
          </div>
        )}
      </div>
    </section>
  );
}

interface MultipleProps {
  readonly plan: NamedPlan;
  readonly width: number;
  readonly height: number;
  /** One line of figures below the grid, not two. */
  readonly isLow: boolean;
}

function PlanMultiple({ plan, width, height, isLow }: MultipleProps) {
  const facts = useFacts((f) => f);
  const { view } = useWorkbench();
  const actions = useActions();
  const choice = useView(costChoiceOf);
  const palette = useView((v) => v.palette);
  const hovered = useView((v) => v.hovered);
  const { id, name, kind, recipe, options } = plan;
  const figures = useMemo(() => planFigures(facts, plan, choice), [facts, plan, choice]);
  const { graph } = figures.shown;
  const model = useMemo(() => (graph ? gridModel(graph, recipe) : null), [graph, recipe]);
  const cells = useMemo(() => planCells(figures.shown, plan.plan), [figures.shown, plan.plan]);
  const onHover = useCallback((site: SiteId | null): void => view.setState({ hovered: site }), [view]);
  const take = useCallback((): void => {
    if (kind === 'saved') actions.recallPlan(id);
    if (kind === 'baseline') actions.applyBaseline(id);
  }, [actions, kind, id]);
  if (!graph || !model) return null;
  const price = priceText(figures.shown, choice, figures.cost);
  const isElsewhere = recipeName(recipe, options) !== recipeName(facts.recipe, facts.options);
  return (
    <figure className="multiple" style={{ width }} data-current={kind === 'current'}>
      <figcaption>
        {kind === 'current' ? <strong className="plans-name" title={`${name}: the plan in hand`}>{name}</strong> : (
          <button type="button" className="link" title={`${name}: take it in hand (one undo step)`} aria-label={`Take ${name} in hand`} onClick={take}>{name}</button>
        )}
        <PinButton id={id} plan={plan} />
        <span className="muted plans-cost" title={price.why ?? `${costTitle(figures.shown, choice)}, ${recipeName(recipe, options)}`}>{price.text}{isElsewhere ? `, ${recipeLabel(recipe, options)}` : ''}</span>
      </figcaption>
      <SmallGrid cells={cells} model={model} graph={graph} width={width} height={height} widest={WIDEST_CELL} palette={palette} hovered={hovered} onHover={onHover} onPick={take} />
      <p className="multiple-foot">{hovered !== null && Object.hasOwn(plan.plan.formats, hovered) ? <HoveredCell figures={figures} plan={plan} id={hovered} isLow={isLow} /> : <Angles figures={figures} isLow={isLow} />}</p>
    </figure>
  );
}

/** Predicted and measured, one below the other; where there is little height side by side. */
function Angles({ figures, isLow }: { readonly figures: PlanFigures; readonly isLow: boolean }) {
  const [predicted, angle] = [predictedText(figures.totals), measuredText(figures)];
  if (isLow) return <><b title={predicted.why ?? 'predicted'}>{predicted.bare ?? predicted.text}</b> / <b title={angle.why ?? `measured ${angle.text}`}>{measuredShort(figures)}</b></>;
  return <><span title={predicted.why}>predicted <b>{predicted.text}</b></span><br /><span title={angle.why}>measured <b>{angle.text}</b></span></>;
}

function HoveredCell({ figures, plan, id, isLow }: { readonly figures: PlanFigures; readonly plan: NamedPlan; readonly id: SiteId; readonly isLow: boolean }) {
  const { shown } = figures;
  const format = formatOf(plan.plan.formats, id);
  const result = resultIn(evidenceOf(shown), id, format);
  const bends = format === 'bf16' ? 'does not bend' : result?.status === 'measured' ? `bends ${formatDegrees(result.cleanAngleDeg)}` : 'not measured';
  const cell = <><b>{formatName(format)}</b>, {bends}</>;
  return isLow ? cell : <>{shown.graph ? siteShort(shown.graph, id) : id}<br />{cell}</>;
}

function PlansTable({ facts, plans, choice }: { readonly facts: Shown; readonly plans: readonly NamedPlan[]; readonly choice: CostChoice }) {
  return (
    <CopyTable
      caption="Plans: cost, cells by format, predicted and measured bending"
      columns={['plan', 'recipe', 'cost', 'effective bits', 'formats', 'cells', 'predicted', 'measured']}
      words={['recipe', 'formats']}
      rows={plans.map((plan) => {
        const figures = planFigures(facts, plan, choice);
        const { shown, totals, cost } = figures;
        const sites = totals === null ? { names: 'none', counts: 'none' } : siteCounts(totals, lowFormatsOf(shown));
        return [
          plan.name, recipeName(plan.recipe, plan.options), `${priceText(shown, choice, cost).text} ${costTitle(shown, choice)}`, totals === null ? 'none' : totals.effectiveBits.toFixed(2), sites.names, sites.counts,
          predictedText(totals).text, measuredText(figures).text,
        ];
      })}
    />
  );
}
