/** The dock: frontier, recipes compared, scatter, baselines, memory, log. Folds to its tab row where there is little height. */
import type { DockTab } from '../../state';
import { FrontierPanel } from '../budget/frontier-panel';
import { ScatterPanel } from '../budget/scatter-panel';
import { ComparePanel } from '../compare/compare-panel';
import { useView, useWorkbench } from '../workbench';
import { BaselinesPanel } from './baselines-panel';
import { LogPanel } from './log-panel';
import { MemoryPanel } from './memory-panel';
import { Tabs } from './tabs';

const TABS: readonly { readonly id: DockTab; readonly name: string }[] = [
  { id: 'frontier', name: 'Frontier' },
  { id: 'compare', name: 'Compare recipes' },
  { id: 'scatter', name: 'Local error × bending' },
  { id: 'baselines', name: 'Baselines' },
  { id: 'memory', name: 'Memory' },
  { id: 'log', name: 'Log' },
];
const PANELS: Readonly<Partial<Record<DockTab, () => React.ReactNode>>> = { frontier: FrontierPanel, compare: ComparePanel, scatter: ScatterPanel, baselines: BaselinesPanel, memory: MemoryPanel, log: LogPanel };

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
        {open && Panel ? <Panel /> : null}
      </Tabs>
    </section>
  );
}
