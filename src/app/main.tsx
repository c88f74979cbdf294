/**
 * Entry of the page. The stored example is drawn first; the worker and its GPU check start after that first paint; a
 * shared link is opened on top of the example. Query: `software=1` accepts a software adapter, `fault=KERNEL` is for tests.
 */
// First: what panels say of themselves comes after it.
import './theme.css';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { listenForKeys } from './global-keys';
import { fetchStoredExample } from './stored-example';
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

/** Applies the address's plan once, then takes it out of the address: a reload must not undo later edits. */
function openAddress(): void {
  if (location.hash.length < 2 || !actions.openLink(location.hash)) return;
  history.replaceState(null, '', `${location.pathname}${location.search}`);
}

function nextPaint(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

async function start(): Promise<void> {
  try {
    actions.openStored(await example);
    rememberOwnModel(workbench);
    openAddress();
    window.addEventListener('hashchange', openAddress);
  } catch (thrown) {
    actions.fault(thrown);
  }
  // A hidden tab paints nothing, but measures all the same.
  if (document.visibilityState === 'visible') await nextPaint();
  await actions.checkDevice(query.get('software') === '1', query.get('fault') ?? undefined);
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<App workbench={workbench} />);
void start();
