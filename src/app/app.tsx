/** The one screen (ux.md 6.2): top bar, left rail, grid, inspector, dock, status bar; notices and dialogs above. */
import { GridPanel } from '../ui/grid/grid-panel';
import { Dialogs } from '../ui/panels/dialogs';
import { Dock } from '../ui/panels/dock';
import { Inspector } from '../ui/panels/inspector';
import { IntakeProvider } from '../ui/panels/intake';
import { Notices } from '../ui/panels/notices';
import { PlanPanel } from '../ui/panels/plan-panel';
import { PlansSection } from '../ui/panels/plans-section';
import { SetupPanel } from '../ui/panels/setup-panel';
import { StatusBar } from '../ui/panels/status-bar';
import { TopBar } from '../ui/panels/top-bar';
import { WorkbenchProvider, useView, type Workbench } from '../ui/workbench';
import '../ui/panels/top-bar.css';
import '../ui/panels/rail.css';
import '../ui/panels/inspector.css';
import '../ui/panels/status-bar.css';
import '../ui/panels/dialogs.css';
import './layout.css';

function Screen() {
  const dockOpen = useView((v) => v.dockOpen);
  return (
    <div className="screen" data-dock={dockOpen ? 'open' : 'folded'}>
      <TopBar />
      <nav className="panel rail" aria-label="Setup and plan">
        <div className="rail-scroll">
          <SetupPanel />
        </div>
        <PlansSection />
        <PlanPanel />
      </nav>
      <main className="panel stage"><GridPanel /></main>
      <Inspector />
      <Dock />
      <StatusBar />
      <Notices />
      <Dialogs />
    </div>
  );
}

export function App({ workbench }: { readonly workbench: Workbench }) {
  return (
    <WorkbenchProvider workbench={workbench}>
      <IntakeProvider>
        <Screen />
      </IntakeProvider>
    </WorkbenchProvider>
  );
}
