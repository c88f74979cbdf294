/** Which dialog is open. Each is fetched when first asked for: none is needed to look at the grid. */
import { lazy, Suspense } from 'react';
import { useView, useWorkbench } from '../workbench';

const KeysDialog = lazy(() => import('./keys-dialog'));
const DataDialog = lazy(() => import('./data-dialog'));
const ShareDialog = lazy(() => import('./share-dialog'));
const ExportDrawer = lazy(() => import('../export/export-drawer'));

export function Dialogs() {
  const { view } = useWorkbench();
  const dialog = useView((v) => v.dialog);
  const close = (): void => view.setState({ dialog: null });
  return (
    <Suspense fallback={null}>
      {dialog === 'keys' ? <KeysDialog onClose={close} /> : null}
      {dialog === 'data' ? <DataDialog onClose={close} /> : null}
      {dialog === 'share' ? <ShareDialog onClose={close} /> : null}
      {dialog === 'export' ? <ExportDrawer onClose={close} /> : null}
    </Suspense>
  );
}
