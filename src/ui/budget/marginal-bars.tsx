/**
 * Marginal bars (ux.md 3.4): how much each row and each layer bends by its low cells alone, as a bar with its figure and a
 * handle that buys precision inside that row or layer. One tab stop for the rows, one for the layers.
 */
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Marginal } from '../../allocate/cost';
import { formatPercent, significant } from '../../base/units';
import type { RecipeName, SiteId } from '../../graph/policy';
import type { Graph } from '../../graph/types';
import { allLowPlan, evidenceOf, sitesOf } from '../../state';
import type { HeatLayout } from '../charts/heat-layout';
import { columnSites, isWide, type GridModel } from '../grid/grid-model';
import { isInRange, type ColumnRange } from '../grid/visible-columns';
import { useFacts, usePlans } from '../workbench';
import { MarginalHandle } from './marginal-handle';
import { marginals, type Marginals, type SitePlace } from './marginals';
import './budget.css';

const ROW_BAR_WIDTH = 96;
/** Room right of the grid for the rows' bars and figures. */
export const ROW_BARS_WIDTH = 18 + ROW_BAR_WIDTH + 44;
/** Layers at least so wide carry their figure beside the bar. */
const FIGURE_FROM = 36;
const LAYER_BAR_TOP = 7;
const LAYER_BAR_HEIGHT = 24;

interface Part {
  readonly name: string;
  readonly sites: ReadonlySet<SiteId>;
}

interface BarsProps {
  readonly graph: Graph;
  readonly recipe: RecipeName;
  readonly model: GridModel;
  readonly layout: HeatLayout;
  /** Layers to draw, beside that of the tab stop. */
  readonly columns: ColumnRange;
}

/** Sets are made once a model, so that the solver knows its questions again. */
function partsOf(model: GridModel): { readonly rows: readonly Part[]; readonly layers: readonly Part[]; readonly places: ReadonlyMap<SiteId, SitePlace> } {
  return {
    rows: model.rows.map((row): Part => ({ name: `${row.groupLabel.short} ${row.passLabel.long}`, sites: new Set(row.sites.map((site) => site.id)) })),
    layers: Array.from({ length: model.columns }, (_, c): Part => ({ name: `layer ${c}`, sites: new Set(columnSites(model, c)) })),
    places: new Map(model.rows.flatMap((row, r) => row.sites.map((site, c): [SiteId, SitePlace] => [site.id, { row: r, column: isWide(row) ? null : c }]))),
  };
}

export function MarginalBars({ graph, recipe, model, layout, columns }: BarsProps) {
  const { rows, layers, places } = useMemo(() => partsOf(model), [model]);
  const facts = useFacts((f) => f);
  const { plan, shown } = usePlans();
  const evidence = evidenceOf(facts);
  const of = useCallback((formats: Parameters<typeof marginals>[1]) => marginals(sitesOf(graph, recipe), formats, evidence, places, rows.length, layers.length), [graph, recipe, evidence, places, rows, layers]);
  const low = allLowPlan(facts);
  const full = useMemo(() => low && of(low.formats), [of, low]);
  const before = useMemo(() => plan && of(plan.formats), [of, plan]);
  const now = useMemo(() => (shown === plan ? before : shown && of(shown.formats)), [of, shown, plan, before]);
  const measured = useMemo(() => [rows, layers].map((parts) => parts.map(({ sites }) => [...sites].some((id) => facts.sites[id]?.status === 'measured'))), [rows, layers, facts.sites]);
  if (!full || !before || !now) return null;
  const bars = { full, before, now };
  return (
    <>
      <div className="row-bars-title" style={{ left: layout.right + 18, top: layout.headerHeight - 20 }}>row bends, deg</div>
      <div className="layer-bars-title" style={{ left: 0, top: LAYER_BAR_TOP + LAYER_BAR_HEIGHT - 20, width: layout.labelWidth }}>layer bends, deg</div>
      <Bars parts={rows} kind="rows" bars={bars} measured={measured[0] ?? []} place={(r) => ({ left: layout.right + 18, top: layout.rowY[r], height: layout.cellHeight, width: ROW_BAR_WIDTH + 44 })} />
      <Bars parts={layers} kind="columns" bars={bars} measured={measured[1] ?? []} drawn={columns} isNarrow={layout.cellWidth < FIGURE_FROM}
        place={(c) => ({ left: layout.columnX(c), top: LAYER_BAR_TOP, width: layout.cellWidth, height: LAYER_BAR_HEIGHT })} />
    </>
  );
}

interface BarGroupProps {
  readonly parts: readonly Part[];
  readonly kind: 'rows' | 'columns';
  readonly bars: Readonly<Record<'full' | 'before' | 'now', Marginals>>;
  readonly measured: readonly boolean[];
  readonly isNarrow?: boolean;
  /** Absent: all. */
  readonly drawn?: ColumnRange;
  place(index: number): { readonly left: number; readonly top: number | undefined; readonly width: number; readonly height: number };
}

/** The rows' bars, or the layers': one scale, one tab stop. */
function Bars({ parts, kind, bars, measured, isNarrow = false, drawn, place }: BarGroupProps) {
  const [stop, setStop] = useState(0);
  const handles = useRef(new Map<number, HTMLDivElement>());
  /** To be focused as soon as it is drawn. */
  const wanted = useRef<number | null>(null);
  const keep = useCallback((index: number, handle: HTMLDivElement | null): void => {
    if (handle) handles.current.set(index, handle);
    else handles.current.delete(index);
    if (handle === null || wanted.current !== index) return;
    wanted.current = null;
    handle.focus();
  }, []);
  const last = parts.length - 1;
  const goTo = useCallback((to: number): void => {
    const index = Math.min(last, Math.max(0, to));
    const handle = handles.current.get(index);
    wanted.current = handle ? null : index;
    setStop(index);
    handle?.focus();
  }, [last]);
  const maxDeg = Math.max(0.01, ...bars.full[kind].map(({ angleDeg }) => angleDeg));
  const isRow = kind === 'rows';
  return parts.map(({ name, sites }, i) => {
    if (drawn && !isInRange(drawn, i) && i !== stop) return null;
    const now = bars.now[kind][i];
    return (
      <div key={name} className={`${isRow ? 'row-bar' : 'layer-bar'}${i > last / 2 ? ' late' : ''}`} style={place(i)}>
        <MarginalHandle
          name={name} part={sites} index={i} nowDeg={now?.angleDeg ?? 0} beforeDeg={bars.before[kind][i]?.angleDeg ?? 0} fullDeg={bars.full[kind][i]?.angleDeg ?? 0} maxDeg={maxDeg}
          isMeasured={measured[i] === true} valueText={valueText(now, measured[i] === true)} orientation={isRow ? 'horizontal' : 'vertical'} isNarrow={isNarrow}
          tabIndex={i === Math.min(stop, last) ? 0 : -1} keep={keep} onFocus={setStop} onNeighbour={goTo}
        />
      </div>
    );
  });
}

function valueText(now: Marginal | undefined, isMeasured: boolean): string {
  return now === undefined || !isMeasured ? 'not measured' : `${significant(now.angleDeg)} degrees, ${formatPercent(now.share, 0)} of the plan's squared tangents`;
}
