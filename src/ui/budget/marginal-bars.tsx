/**
 * Marginal bars (ux.md 3.4): how much each row and each layer bends by its low cells alone, as a bar with its figure and a
 * handle that buys precision inside that row or layer. One tab stop for the rows, one for the layers.
 */
import { useMemo, useRef, useState } from 'react';
import { marginal, type Formats } from '../../allocate/cost';
import { bendAtMost } from '../../allocate/frontier';
import { formatsWhere } from '../../allocate/plan';
import { formatDegrees, formatPercent, significant } from '../../base/units';
import type { RecipeName, SiteId } from '../../graph/policy';
import type { Graph } from '../../graph/types';
import { evidenceOf, sitesOf } from '../../state';
import type { HeatLayout } from '../charts/heat-layout';
import { cellFigure } from '../charts/heatmap';
import { columnSites, type GridModel } from '../grid/grid-model';
import { useFacts, usePlans } from '../workbench';
import { Slider } from './slider';
import { useBudget } from './use-budget';
import './budget.css';

export const ROW_BAR_WIDTH = 96;
/** Room right of the grid for the rows' bars and figures. */
export const ROW_BARS_WIDTH = 18 + ROW_BAR_WIDTH + 44;
/** Layers at least so wide carry their figure beside the bar. */
const FIGURE_FROM = 36;
const LAYER_BAR_TOP = 7;
const LAYER_BAR_HEIGHT = 24;

interface PartProps {
  readonly name: string;
  readonly part: ReadonlySet<SiteId>;
}

interface BarsProps {
  readonly graph: Graph;
  readonly recipe: RecipeName;
  readonly model: GridModel;
  readonly layout: HeatLayout;
}

/** Sets are made once a model, so that the solver's memo knows them again. */
function useParts({ graph, recipe, model }: Omit<BarsProps, 'layout'>) {
  return useMemo(() => {
    const rows = model.rows.map((row): PartProps => ({ name: `${row.groupLabel.short} ${row.passLabel.long}`, part: new Set(row.sites.map((site) => site.id)) }));
    const layers = Array.from({ length: model.columns }, (_, c): PartProps => ({ name: `layer ${c}`, part: new Set(columnSites(model, c)) }));
    const allLow = formatsWhere(sitesOf(graph, recipe), () => false, recipe);
    return { rows, layers, allLow };
  }, [graph, recipe, model]);
}

export function MarginalBars(props: BarsProps) {
  const { graph, recipe, layout } = props;
  const { rows, layers, allLow } = useParts(props);
  const facts = useFacts((f) => f);
  const evidence = evidenceOf(facts);
  const longest = (parts: readonly PartProps[]): number => Math.max(0.01, ...parts.map(({ part }) => marginal(sitesOf(graph, recipe), allLow, evidence, part).angleDeg));
  const rowMax = longest(rows);
  const layerMax = longest(layers);
  const [row, setRow] = useState(0);
  const [layer, setLayer] = useState(0);
  const handles = useRef(new Map<string, HTMLDivElement>());
  const go = (kind: 'row' | 'layer', to: number): void => handles.current.get(`${kind}${to}`)?.focus();
  const keep = (key: string) => (element: HTMLDivElement | null): void => {
    if (element) handles.current.set(key, element);
    else handles.current.delete(key);
  };
  return (
    <>
      <div className="row-bars-title" style={{ left: layout.right + 18, top: layout.headerHeight - 20 }}>row bends, deg</div>
      <div className="layer-bars-title" style={{ left: 0, top: LAYER_BAR_TOP + LAYER_BAR_HEIGHT - 20, width: layout.labelWidth }}>layer bends, deg</div>
      {rows.map(({ name, part }, r) => (
        <div key={name} className="row-bar" style={{ left: layout.right + 18, top: layout.rowY[r], height: layout.cellHeight, width: ROW_BAR_WIDTH + 44 }}>
          <MarginalHandle name={name} part={part} graph={graph} recipe={recipe} max={rowMax} allLow={allLow} orientation="horizontal" tabIndex={r === row ? 0 : -1}
            handleRef={keep(`row${r}`)} onFocus={() => setRow(r)} onNeighbour={(by) => go('row', Math.min(rows.length - 1, Math.max(0, r + by)))} />
        </div>
      ))}
      {layers.map(({ name, part }, c) => (
        <div key={name} className="layer-bar" style={{ left: layout.columnX(c), top: LAYER_BAR_TOP, width: layout.cellWidth, height: LAYER_BAR_HEIGHT }}>
          <MarginalHandle name={name} part={part} graph={graph} recipe={recipe} max={layerMax} allLow={allLow} orientation="vertical" isNarrow={layout.cellWidth < FIGURE_FROM} tabIndex={c === layer ? 0 : -1}
            handleRef={keep(`layer${c}`)} onFocus={() => setLayer(c)} onNeighbour={(by) => go('layer', Math.min(layers.length - 1, Math.max(0, c + by)))} />
        </div>
      ))}
    </>
  );
}

interface HandleProps extends PartProps {
  readonly graph: Graph;
  readonly recipe: RecipeName;
  /** Angle at the end of the track. */
  readonly max: number;
  readonly allLow: Formats;
  readonly orientation: 'horizontal' | 'vertical';
  /** No room for the figure beside the handle; the handle's value says it. */
  readonly isNarrow?: boolean;
  readonly tabIndex: number;
  readonly handleRef: (element: HTMLDivElement | null) => void;
  onFocus(): void;
  onNeighbour(by: number): void;
}

function MarginalHandle({ name, part, graph, recipe, max, allLow, orientation, isNarrow = false, ...rest }: HandleProps) {
  const facts = useFacts((f) => f);
  const { plan, shown } = usePlans();
  const budget = useBudget(part);
  if (!plan || !shown) return null;
  const sites = sitesOf(graph, recipe);
  const evidence = evidenceOf(facts);
  const now = marginal(sites, shown.formats, evidence, part);
  const before = marginal(sites, plan.formats, evidence, part);
  const full = marginal(sites, allLow, evidence, part).angleDeg;
  const isMeasured = [...part].some((id) => facts.sites[id]?.status === 'measured');
  const size = (angleDeg: number): string => `${(100 * angleDeg) / max}%`;
  const vertical = orientation === 'vertical';
  const length = (angleDeg: number) => (vertical ? { height: size(angleDeg) } : { width: size(angleDeg) });
  return (
    <>
      <Slider
        {...rest}
        className="marginal"
        label={`Bending of ${name}`}
        orientation={orientation}
        fraction={now.angleDeg / max}
        min={0}
        max={Number(significant(Math.max(full, now.angleDeg)))}
        value={Number(significant(now.angleDeg))}
        valueText={!isMeasured ? 'not measured' : `${significant(now.angleDeg)} degrees, ${formatPercent(now.share, 0)} of the plan's squared tangents`}
        disabled={full === 0}
        onDrag={(fraction) => {
          const line = budget.frontier();
          if (line) budget.moveTo(bendAtMost(line, fraction * max).index);
        }}
        // Less bending is more precision.
        onStep={(by) => budget.step(-by)}
        onCommit={() => budget.commit((line, index) => `${name}: bend at most ${formatDegrees(line.points[index]?.angleDeg ?? 0)}`)}
        onCancel={budget.cancel}
      >
        <div className="marginal-full" style={length(full)} />
        <div className="marginal-now" style={length(now.angleDeg)} />
        {shown !== plan && before.angleDeg !== now.angleDeg ? <div className="slider-ghost" style={vertical ? { bottom: size(before.angleDeg) } : { left: size(before.angleDeg) }} /> : null}
      </Slider>
      {isNarrow ? null : <span className="marginal-figure" aria-hidden="true">{isMeasured ? cellFigure(now.angleDeg) : '–'}</span>}
    </>
  );
}
