/** View state: what is selected, hovered, chosen, dragged. No history; key parts are remembered, none is a fact. */
import { createStore } from 'zustand/vanilla';
import type { CostKind, TimeRatios } from '../allocate/costs';
import type { GemmTimes } from '../allocate/gemm-times';
import type { Plan } from '../allocate/plan';
import type { SiteId } from '../graph/policy';
import type { Fill } from './fills';
import type { PinnedPlan } from './saved-plans';

export type Theme = 'system' | 'light' | 'dark';
export type Palette = 'cividis' | 'viridis' | 'grey';
export type DockTab = 'frontier' | 'compare' | 'scatter' | 'baselines' | 'plans' | 'how-much' | 'memory' | 'log';
export type InspectorTab = 'cell' | 'plan' | 'diff';
/** The two solver modes (ux.md 3.4). */
export type SolverMode = 'spend' | 'bend';

/** What the grid shows: how much cells bend, or where the plan differs from A. */
export type GridView = 'bending' | 'diff';

/** Plans drawn side by side at most. */
export const MOST_SMALL = 4;

export interface ViewState {
  /** The one cell the inspector shows. */
  readonly primary: SiteId | null;
  readonly selection: ReadonlySet<SiteId>;
  readonly hovered: SiteId | null;
  /** The brush in hand paints BF16, the recipe's format or the second one; null: drag selects. */
  readonly brush: 'high' | 'low' | 'second' | null;
  /** What fills the grid. */
  readonly fill: Fill;
  readonly theme: Theme;
  readonly palette: Palette;
  readonly dock: DockTab;
  readonly inspector: InspectorTab;
  readonly inspectorOpen: boolean;
  readonly dockOpen: boolean;
  readonly mode: SolverMode;
  /** A plan under the hand (budget drag, paint stroke), drawn but not committed. */
  readonly preview: Plan | null;
  /** A plan pointed at (a row, a point of the frontier): its letters as ghosts, no preview. */
  readonly hoveredPlan: Plan | null;
  /** A: the plan that others are held against. */
  readonly pinned: PinnedPlan | null;
  readonly gridView: GridView;
  /** What a plan pays by; null: the recipe's own, GEMM work or activation cache. */
  readonly cost: CostKind | null;
  /** Edited ratios of relative time; formats that are not named have the default. */
  readonly ratios: TimeRatios;
  /** Imported times, which then count instead of ratios. */
  readonly times: GemmTimes | null;
  /** Ids of plans (plansOf) drawn side by side, at most MOST_SMALL. */
  readonly small: readonly string[];
  /** Legend handles, degrees: cells outside are dimmed. */
  readonly range: readonly [number, number];
  readonly singleKeys: boolean;
  /** While a dialog covers the page: notices after this one stand in it, for behind it nobody sees them; else null. */
  readonly noticesFrom: number | null;
  readonly dialog: 'keys' | 'data' | 'share' | 'export' | null;
  /** When plan and history were last written to this browser; `failed` when it refused. */
  readonly saved: number | 'failed' | null;
}

export function createViewStore() {
  return createStore<ViewState>()(() => ({
    primary: null, selection: new Set<SiteId>(), hovered: null, brush: null, fill: 'isolated', theme: 'system', palette: 'cividis', dock: 'frontier', inspector: 'cell',
    inspectorOpen: false, dockOpen: true, mode: 'spend', preview: null, hoveredPlan: null, pinned: null,
    gridView: 'bending', cost: null, ratios: {}, times: null, small: [], range: [0.01, 90], singleKeys: true, noticesFrom: null, dialog: null, saved: null,
  }));
}
export type ViewStore = ReturnType<typeof createViewStore>;
