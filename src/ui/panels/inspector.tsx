/** The inspector: one cell in every figure, the current plan, or how it differs from A. Beside the grid; a drawer where there is little room. */
import type { InspectorTab } from '../../state';
import { useView, useWorkbench } from '../workbench';
import { CellTab } from './cell-tab';
import { DiffTab } from './diff-tab';
import { PlanTab } from './plan-tab';
import { Tabs } from './tabs';

const TABS: readonly { readonly id: InspectorTab; readonly name: string }[] = [{ id: 'cell', name: 'Cell' }, { id: 'plan', name: 'Plan' }, { id: 'diff', name: 'Diff' }];
const PANELS: Readonly<Record<InspectorTab, () => React.ReactNode>> = { cell: CellTab, plan: PlanTab, diff: DiffTab };

/** Id of the button that opens and closes the drawer; where the inspector is no drawer it is not shown and takes no focus. */
export const INSPECTOR_TOGGLE = 'inspector-toggle';

export function Inspector() {
  const { view } = useWorkbench();
  const tab = useView((v) => v.inspector);
  const open = useView((v) => v.inspectorOpen);
  const close = (): void => {
    view.setState({ inspectorOpen: false });
    document.getElementById(INSPECTOR_TOGGLE)?.focus();
  };
  const Panel = PANELS[tab];
  return (
    <aside className="panel inspector" data-open={open} aria-label="Inspector" onKeyDown={(event) => event.key === 'Escape' && close()}>
      <Tabs label="Inspector" tabs={TABS} value={tab} onChange={(id) => view.setState({ inspector: id })} end={<button type="button" className="button quiet small drawer-only" onClick={close}>Close</button>}>
        <Panel />
      </Tabs>
    </aside>
  );
}
