/** What the grid shows: how much cells bend, or where the plan differs from A. Without an A the second choice says why it is none. */
import { useId } from 'react';
import { useView, useWorkbench } from '../workbench';

/** `fault`: why there is no difference to show; null where there is one. */
export function GridViewSwitch({ fault }: { readonly fault: string | null }) {
  const { view } = useWorkbench();
  const gridView = useView((v) => v.gridView);
  const pinned = useView((v) => v.pinned);
  const id = useId();
  const isDiff = gridView === 'diff' && fault === null;
  const title = fault ?? `Where the plan differs from A (${pinned?.name ?? ''})`;
  return (
    <div className="segmented grid-view-switch" role="group" aria-label="What the grid shows">
      <button type="button" aria-pressed={!isDiff} onClick={() => view.setState({ gridView: 'bending' })}>Bending</button>
      <button type="button" aria-pressed={isDiff} aria-disabled={fault !== null} aria-describedby={id} title={title} onClick={() => fault === null && view.setState({ gridView: 'diff' })}>Diff vs A</button>
      <span id={id} className="visually-hidden">{title}</span>
    </div>
  );
}
