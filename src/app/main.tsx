/**
 * Entry of the page. The stored example is drawn first; the worker and its GPU check start after that first paint, and
 * other recipes' examples are fetched; what the address asks for is opened on top of the example. Query: `software=1` accepts a software adapter, `fault=KERNEL` is for tests.
 */
// First: what panels say of themselves comes after it.
import './theme.css';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { listenForKeys } from './global-keys';
import { keepAddress, openAddress } from './address';
import { fetchStoredExample, fetchStoredRecord, OTHER_EXAMPLES } from './stored-example';
import { rememberOwnModel } from './last-model';
import { browserStorage, createWorkbench } from './stores';
import { keepView } from './theme';

const base = new URL('.', document.baseURI).href;
const query = new URLSearchParams(location.search);
const example = fetchStoredExample(base);
const workbench = createWorkbench(base);
const { actions, view } = workbench;

keepView(view, browserStorage());
listenForKeys(actions, view);
// Where the height is small the grid comes first (ux.md 6.5).
if (!matchMedia('(min-height: 800px)').matches) view.setState({ dockOpen: false });

function nextPaint(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

async function start(): Promise<void> {
  try {
    actions.openStored(await example);
    rememberOwnModel(workbench);
    openAddress(workbench);
    keepAddress(workbench);
    window.addEventListener('hashchange', () => openAddress(workbench));
  } catch (thrown) {
    actions.fault(thrown);
  }
  // A hidden tab paints nothing, but measures all the same.
  if (document.visibilityState === 'visible') await nextPaint();
  for (const file of OTHER_EXAMPLES) fetchStoredRecord(base, file).then((record) => actions.addStored(record), (thrown: unknown) => actions.fault(thrown));
  await actions.checkDevice(query.get('software') === '1', query.get('fault') ?? undefined);
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<App workbench={workbench} />);
void start();
