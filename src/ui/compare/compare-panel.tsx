/**
 * Dock: recipes side by side as small multiples on the grid's own fixed scale, one cursor for all. A press puts one into
 * the grid; one that was not measured says so and offers it. The table twin holds the same in figures.
 */
import { useCallback, useMemo, useState } from 'react';
import { formatDegrees, significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { allLowOf, allLowPlan, comparedOf, fillDegrees, fillOf, FILL_WORDS, recipeLabel, recipeName, switchWords, totalsOf, type Compared } from '../../state';
import { CopyTable } from '../budget/copy-table';
import { useBox } from '../charts/use-box';
import { gridModel } from '../grid/grid-model';
import { siteShort } from '../grid/site-names';
import { useActions, useDocument, useFacts, useView, useWorkbench } from '../workbench';
import { comparedCells } from './plan-cells';
import { SmallGrid } from './small-grid';
import './compare.css';

/** Room of the words above and below a small grid, px. */
const WORDS_HEIGHT = 60;
const GAP = 12;
/** Widths of a small grid. */
const NARROWEST = 92;
const WIDEST = 170;
const WIDEST_CELL = 20;
/** Width from which the foot holds "not measured, measure"; below it the offer alone, so that it is never cut off. */
const ROOM_FOR_BOTH = 124;

/** The joint angle of everything low: measured, else predicted with a "~", else null. */
function allLowWords(compared: Compared): { readonly angle: string; readonly title: string } | null {
  const joint = allLowOf(compared)?.result;
  if (joint?.status === 'measured') return { angle: formatDegrees(joint.angleDeg), title: 'Everything low at once, measured' };
  const plan = allLowPlan(compared);
  const predicted = plan ? totalsOf(compared, plan)?.predictedDeg : null;
  return predicted == null ? null : { angle: `~${formatDegrees(predicted)}`, title: 'Everything low at once, predicted: not measured yet' };
}

const measuredCells = (compared: Compared): number[] => [...fillOf(compared, compared.fill).values()].flatMap(({ angleDeg }) => (angleDeg === null ? [] : [angleDeg]));
/** The switches; of left-out cells first that they are. */
const subtitle = (compared: Compared): string => [...(compared.fill === 'isolated' ? [] : ['if left out']), switchWords(compared.options)].filter((words) => words !== '').join('; ') || 'no switches';

export function ComparePanel() {
  const facts = useFacts((f) => f);
  const document = useDocument((d) => d);
  const fill = useView((v) => v.fill);
  const [asTable, setAsTable] = useState(false);
  const [ref, box] = useBox<HTMLDivElement>();
  const { view, actions } = useWorkbench();
  const pick = useCallback((compared: Compared): void => {
    actions.setRecipe(compared.recipe, compared.options);
    view.setState({ fill: compared.fill });
  }, [actions, view]);
  const all = comparedOf(facts, document);
  if (!facts.graph || all.length === 0) return <p className="empty">Open a model to compare recipes.</p>;
  const isCurrent = (compared: Compared): boolean => compared.recipe === facts.recipe && recipeName(compared.recipe, compared.options) === recipeName(facts.recipe, facts.options) && (fill === 'leave-one-out') === (compared.fill === 'leave-one-out');
  const width = Math.max(NARROWEST, Math.min(WIDEST, Math.floor((box.width + GAP) / all.length) - GAP));
  return (
    <section className="compare" aria-label="Recipes compared">
      <p className="compare-top">
        <span className="muted">{asTable ? '~ predicted, not measured yet.' : <>One colour scale for all, that of the grid. <span className="compare-key" aria-hidden="true" /> BF16 in its plan; ~ predicted. A name puts it into the grid.</>}</span>
        <button type="button" className="button small" onClick={() => setAsTable(!asTable)}>{asTable ? 'Show as grids' : 'Show as table'}</button>
      </p>
      {asTable ? <ComparedTable all={all} /> : (
        <div className="compare-row" ref={ref} tabIndex={0} role="group" aria-label="Small grids">
          {box.width > 0 ? all.map((compared) => <Multiple key={compared.id} compared={compared} isCurrent={isCurrent(compared)} width={width} height={box.height - WORDS_HEIGHT} pick={pick} />) : null}
        </div>
      )}
    </section>
  );
}

interface MultipleProps {
  readonly compared: Compared;
  readonly isCurrent: boolean;
  readonly width: number;
  readonly height: number;
  pick(compared: Compared): void;
}

function Multiple({ compared, isCurrent, width, height, pick }: MultipleProps) {
  const { view } = useWorkbench();
  const actions = useActions();
  const palette = useView((v) => v.palette);
  const hovered = useView((v) => v.hovered);
  const canRun = useFacts((f) => f.device?.status === 'ready' && !f.checking && f.run === null);
  const { graph, recipe, options } = compared;
  const onHover = useCallback((id: SiteId | null): void => view.setState({ hovered: id }), [view]);
  const onPick = useCallback((): void => pick(compared), [pick, compared]);
  const model = useMemo(() => (graph ? gridModel(graph, recipe) : null), [graph, recipe]);
  const cells = useMemo(() => comparedCells(compared), [compared]);
  if (!graph || !model) return null;
  const count = measuredCells(compared).length;
  const isComplete = count === cells.size;
  const cell = hovered === null ? null : (cells.get(hovered)?.angleDeg ?? null);
  const low = allLowWords(compared);
  const measure = (): void => {
    onPick();
    void actions.runProbe();
  };
  return (
    <figure className="multiple" style={{ width }} data-current={isCurrent}>
      <figcaption>
        <button type="button" className="link" aria-pressed={isCurrent} title={recipeName(recipe, options)} aria-label={`Show ${recipeName(recipe, options)}${compared.fill === 'isolated' ? '' : ', left out'} in the grid`} onClick={onPick}>{recipeLabel(recipe, options)}</button>
        <span className="muted multiple-switches" title={subtitle(compared)}>{subtitle(compared)}</span>
      </figcaption>
      <SmallGrid cells={cells} graph={graph} model={model} width={width} height={height} widest={WIDEST_CELL} palette={palette} hovered={hovered} onHover={onHover} onPick={onPick} />
      {count === 0 ? (
        <p className="multiple-foot muted">
          {canRun && width < ROOM_FOR_BOTH ? null : `not measured${canRun ? ', ' : ''}`}
          {canRun ? <button type="button" className="link" title="Not measured yet" aria-label={`Measure ${recipeName(recipe, options)}`} onClick={measure}>measure</button> : null}
        </p>
      ) : cell !== null && hovered !== null ? (
        <p className="multiple-foot" title={siteShort(graph, hovered)}>this cell <b>{fillDegrees(cell)}</b></p>
      ) : (
        <p className="multiple-foot" title={isComplete ? low?.title : undefined}>{isComplete ? (low === null ? `${count} cells` : `all low ${low.angle}`) : `${count} of ${cells.size} cells`}</p>
      )}
    </figure>
  );
}

/** Middle of sorted values; the lower of two. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
}

function ComparedTable({ all }: { readonly all: readonly Compared[] }) {
  return (
    <CopyTable
      caption="Recipes: cells measured and their angles in degrees"
      columns={['recipe', 'switches', 'what', 'measured', 'smallest', 'median', 'largest', 'all low']}
      words={['switches', 'what']}
      rows={all.map((compared) => {
        const angles = measuredCells(compared);
        const figures = angles.length === 0 ? ['', '', ''] : [Math.min(...angles), median(angles), Math.max(...angles)].map((angleDeg) => significant(angleDeg));
        const { recipe, options, fill } = compared;
        return [
          recipeLabel(recipe, options), switchWords(options) || 'none', FILL_WORDS[fill].name, `${angles.length} of ${fillOf(compared, fill).size}`,
          ...figures, allLowWords(compared)?.angle ?? 'not measured',
        ];
      })}
    />
  );
}
