/** The dock: frontier, baselines, plans and recipes side by side, how much is needed, scatter, memory, log. Folds to its tab row where there is little height. */
import type { DockTab } from '../../state';
import { FrontierPanel } from '../budget/frontier-panel';
import { ScatterPanel } from '../budget/scatter-panel';
import { ComparePanel } from '../compare/compare-panel';
import { PlansPanel } from '../compare/plans-panel';
import { useView, useWorkbench } from '../workbench';
import { BaselinesPanel } from './baselines-panel';
import { HowMuchPanel } from './how-much-panel';
import { LogPanel } from './log-panel';
import { MemoryPanel } from './memory-panel';
import { Tabs } from './tabs';

const TABS: readonly { readonly id: DockTab; readonly name: string }[] = [
  { id: 'frontier', name: 'Frontier' },
  { id: 'baselines', name: 'Baselines' },
  { id: 'plans', name: 'Plans' },
  { id: 'how-much', name: 'How much' },
  { id: 'compare', name: 'Compare recipes' },
  { id: 'scatter', name: 'Local error × bending' },
  { id: 'memory', name: 'Memory' },
  { id: 'log', name: 'Log' },
];
const PANELS: Readonly<Record<DockTab, () => React.ReactNode>> = {
  frontier: FrontierPanel, baselines: BaselinesPanel, plans: PlansPanel, 'how-much': HowMuchPanel, compare: ComparePanel, scatter: ScatterPanel, memory: MemoryPanel, log: LogPanel,
};

export function Dock() {
  const { view } = useWorkbench();
  const tab = useView((v) => v.dock);
  const open = useView((v) => v.dockOpen);
  const Panel = PANELS[tab];
  return (
    <section className="panel dock" data-open={open} aria-label="Evidence">
      <Tabs
        label="Evidence" tabs={TABS} value={tab}
        onChange={(id) => view.setState({ dock: id, dockOpen: true })}
        end={<button type="button" className="button quiet small" aria-expanded={open} onClick={() => view.setState({ dockOpen: !open })}>{open ? 'Fold' : 'Unfold'}</button>}
      >
        {open ? <Panel /> : null}
      </Tabs>
    </section>
  );
}
