/** The grid panel: title, STORED EXAMPLE ribbon, tools and legend, heatmap with its marginal bars, and the budget. */
import { memo, useCallback, useMemo, useState } from 'react';
import { resultIn } from '../../allocate/cost';
import type { SiteFormat, SiteId } from '../../graph/policy';
import { RECIPES } from '../../graph/recipes';
import type { Graph } from '../../graph/types';
import type { Plan } from '../../allocate/plan';
import { BudgetBar } from '../budget/budget-bar';
import { MarginalBars, ROW_BARS_WIDTH } from '../budget/marginal-bars';
import { cellSize, heatLayout, type HeatLayout } from '../charts/heat-layout';
import { Heatmap, type HeatCell } from '../charts/heatmap';
import { useBox } from '../charts/use-box';
import { BENDS_MORE, costChoiceOf, evidenceOf, fillFactsOf, fillNote, fillOf, FILL_WORDS, formatName, recipeLabel, recipeName, switchWords, totalsOf, unstableOf } from '../../state';
import { useDocument, useFacts, useView, useWorkbench } from '../workbench';
import { Announcer } from './announcer';
import { CellMenu, type MenuPlace } from './cell-menu';
import { CellTooltip } from './cell-tooltip';
import { differenceFault, differenceWords } from './difference';
import { gridModel, heatCells, isWide, positionOf, withGhosts, type CellFacts, type GridModel } from './grid-model';
import { GridTools } from './grid-tools';
import { GridViewSwitch } from './grid-view-switch';
import { HeatGrid } from './heat-grid';
import { siteShort } from './site-names';
import { scrolledBlocks, visibleColumns } from './visible-columns';
import '../charts/charts.css';
import './grid.css';

export function GridPanel() {
  const graph = useFacts((f) => f.graph);
  const modelSha256 = useFacts((f) => f.modelSha256);
  const kind = useFacts((f) => RECIPES[f.recipe].kind);
  const plan = useDocument((d) => d.plan);
  if (!graph || !plan) return <section className="grid-panel" aria-label="Gradient bending" aria-busy="true" />;
  // Another model, or another kind of cell, begins anew: a tab stop in a row that it lacks could not be reached.
  return <OpenGrid key={`${modelSha256} ${kind}`} graph={graph} plan={plan} />;
}

/** Marks are those of the committed plan, whatever is under the hand. */
const COMMITTED = { preview: null };

function OpenGrid({ graph, plan }: { readonly graph: Graph; readonly plan: Plan }) {
  const facts = useFacts((f) => f);
  const fill = useView((v) => v.fill);
  const range = useView((v) => v.range);
  const pinned = useView((v) => v.pinned);
  const gridView = useView((v) => v.gridView);
  const choice = useView(costChoiceOf);
  const [focused, setFocused] = useState<SiteId | null>(null);
  const [menu, setMenu] = useState<MenuPlace | null>(null);
  const [stage, box] = useBox<HTMLDivElement>();
  const [blocks, setBlocks] = useState(0);
  const { recipe, measuring } = facts;
  const here = fill === 'leave-one-out' ? facts.leaveOneOutHere : facts.measuredHere;
  const model = useMemo(() => gridModel(graph, recipe), [graph, recipe]);
  const angles = fillOf(facts, fill);
  const all = [...angles.values()];
  const isEmpty = fill !== 'isolated' && all.every(({ angleDeg }) => angleDeg === null) && all.some(({ state }) => state === 'missing');
  const subtitle = `${FILL_WORDS[fill].subtitle(formatName(recipe))}${all.some(({ angleDeg }) => angleDeg !== null && angleDeg < 0) ? `; dashed: ${BENDS_MORE}` : ''}`;
  const fault = differenceFault(facts, pinned);
  const against = gridView === 'diff' && fault === null ? pinned : null;
  const difference = useMemo(() => against && differenceWords(against, facts, plan, choice), [against, facts, plan, choice]);
  const cellFacts = useMemo((): CellFacts => {
    const evidence = evidenceOf(facts);
    const angleIn = (id: SiteId, format: SiteFormat): number | null => {
      const result = resultIn(evidence, id, format);
      return result?.status === 'measured' ? result.cleanAngleDeg : null;
    };
    return {
      fill: angles, measuring, isStored: (id) => !here.has(id), unstable: unstableOf(facts, COMMITTED), unpredicted: new Set(totalsOf(facts, plan)?.unpredicted),
      ...(against === null ? {} : { against: { plan: against.plan, angleIn } }),
    };
  }, [facts, angles, measuring, here, plan, against]);
  const layout = useMemo(() => {
    const rows = model.groups.reduce((sum, size) => sum + size, 0);
    return heatLayout({ columns: model.columns, groups: model.groups, ...cellSize(model.columns, box.width - ROW_BARS_WIDTH, box.height, rows, model.groups.length) });
  }, [model, box.width, box.height]);
  const columns = useMemo(() => visibleColumns(blocks, box.width, layout.cellWidth, model.columns), [blocks, box.width, layout, model]);
  const cells = useMemo(() => heatCells(model, { ...cellFacts, columns }, plan, range), [model, cellFacts, columns, plan, range]);
  const { view } = useWorkbench();
  const closeMenu = useCallback(() => setMenu(null), []);
  const openMenu = useCallback((id: SiteId, x: number, y: number) => setMenu({ id, x, y }), []);
  const openPrimaryMenu = useCallback((x: number, y: number): void => {
    const { primary } = view.getState();
    if (primary !== null) setMenu({ id: primary, x, y });
  }, [view]);
  return (
    <section className="grid-panel" aria-label="Gradient bending">
      <header className="grid-title">
        <h2>Gradient bending</h2>
        <RecipeName />
        <GridViewSwitch fault={fault} />
        <Ribbon />
      </header>
      <GridTools subtitle={measuring !== null ? `${facts.run?.part === 'leave-one-out' ? 'Leaving out' : 'Measuring'} ${siteShort(graph, measuring)}` : isEmpty ? fillNote(fill, fillFactsOf(facts)) : subtitle} difference={difference} openMenu={openPrimaryMenu} />
      <div className="grid-stage" ref={stage} onScroll={(event) => setBlocks(scrolledBlocks(event.currentTarget.scrollLeft, layout.cellWidth))}>
        {box.width > 0 ? (
          <div className="grid-sheet" style={{ width: layout.right + ROW_BARS_WIDTH, height: layout.bottom }}>
            <Crosshair model={model} layout={layout} />
            <LiveHeatmap layout={layout} cells={cells} plan={plan} />
            <HeatGrid model={model} layout={layout} plan={plan} columns={columns} against={against?.plan ?? null} onFocusCell={setFocused} openMenu={openMenu} />
            <MarginalBars graph={graph} recipe={recipe} model={model} layout={layout} columns={columns} />
          </div>
        ) : null}
      </div>
      <BudgetBar />
      <CellTooltip plan={plan} focused={menu === null ? focused : null} />
      {menu !== null ? <CellMenu {...menu} plan={plan} model={model} onClose={closeMenu} /> : null}
      <Announcer />
    </section>
  );
}

/** What changes with every move of the hand; the rest of the grid does not. */
function LiveHeatmap({ layout, cells, plan }: { readonly layout: HeatLayout; readonly cells: readonly HeatCell[]; readonly plan: Plan }) {
  const palette = useView((v) => v.palette);
  const preview = useView((v) => v.preview);
  const pointed = useView((v) => (v.preview === null ? v.hoveredPlan : null));
  const drawn = useMemo(() => withGhosts(cells, plan, preview ?? pointed ?? plan), [cells, plan, preview, pointed]);
  return <Heatmap layout={layout} cells={drawn} colourMap={palette} isPointed={pointed !== null} />;
}

/** The hovered cell's row and layer, lit at their labels and around the cells between. */
const Crosshair = memo(function Crosshair({ model, layout }: { readonly model: GridModel; readonly layout: HeatLayout }) {
  const hovered = useView((v) => v.hovered);
  const at = positionOf(model, hovered);
  if (!at) return null;
  const { row, column } = at;
  const bottom = (layout.rowY[model.rows.length - 1] ?? 0) + layout.cellHeight;
  const wide = model.rows[row] !== undefined && isWide(model.rows[row]);
  return (
    <>
      <div className="crosshair" style={{ left: 0, top: (layout.rowY[row] ?? 0) - 1, width: layout.right + 1, height: layout.cellHeight + 1 }} />
      {wide ? null : <div className="crosshair" style={{ left: layout.columnX(column) - 1, top: layout.headerHeight - 24, width: layout.cellWidth + 1, height: bottom - layout.headerHeight + 25 }} />}
    </>
  );
});

/** Which recipe the grid is of, switches included. */
const RecipeName = memo(function RecipeName() {
  const recipe = useFacts((f) => f.recipe);
  const options = useFacts((f) => f.options);
  const words = switchWords(options);
  return <p className="grid-recipe" title={recipeName(recipe, options)}><strong>{recipeLabel(recipe, options)}</strong>{words === '' ? null : <span className="muted"> {words}</span>}</p>;
});

/** Stays while any cell on the screen was not measured on this GPU (ux.md 6.6). */
const Ribbon = memo(function Ribbon() {
  const sites = useFacts((f) => f.sites);
  const measuredHere = useFacts((f) => f.measuredHere);
  const stored = useFacts((f) => f.storedProvenance);
  const all = Object.keys(sites);
  const left = all.filter((id) => !measuredHere.has(id)).length;
  if (stored === null || left === 0) return null;
  return (
    <p className="ribbon" title="A striped lower edge marks a cell of the stored example. It goes once the cell is measured on this GPU.">
      <b>STORED EXAMPLE</b> <span>measured on {stored.device}{left < all.length ? `; ${left} of ${all.length} cells left` : ''}</span>
    </p>
  );
});
