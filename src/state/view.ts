/** View state: what is selected, hovered, chosen, dragged. No history; key parts are remembered, none is a fact. */
import { createStore } from 'zustand/vanilla';
import type { Plan } from '../allocate/plan';
import type { SiteId } from '../graph/policy';
import type { Fill } from './fills';

export type Theme = 'system' | 'light' | 'dark';
export type Palette = 'cividis' | 'viridis' | 'grey';
export type DockTab = 'frontier' | 'compare' | 'scatter' | 'baselines' | 'memory' | 'log';
export type InspectorTab = 'cell' | 'plan';
/** The two solver modes (ux.md 3.4). */
export type SolverMode = 'spend' | 'bend';

export interface ViewState {
  /** The one cell the inspector shows. */
  readonly primary: SiteId | null;
  readonly selection: ReadonlySet<SiteId>;
  readonly hovered: SiteId | null;
  /** The brush in hand paints BF16 or the recipe's format; null: drag selects. */
  readonly brush: 'high' | 'low' | null;
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
  /** Legend handles, degrees: cells outside are dimmed. */
  readonly range: readonly [number, number];
  readonly singleKeys: boolean;
  readonly dialog: 'keys' | 'data' | 'share' | null;
  /** When plan and history were last written to this browser; `failed` when it refused. */
  readonly saved: number | 'failed' | null;
}

export function createViewStore() {
  return createStore<ViewState>()(() => ({
    primary: null, selection: new Set<SiteId>(), hovered: null, brush: null, fill: 'isolated', theme: 'system', palette: 'cividis', dock: 'frontier', inspector: 'cell',
    inspectorOpen: false, dockOpen: true, mode: 'spend', preview: null, range: [0.01, 90], singleKeys: true, dialog: null, saved: null,
  }));
}
export type ViewStore = ReturnType<typeof createViewStore>;
