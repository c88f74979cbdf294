/** The top bar: what is open (model, text, device), undo and redo, theme, share, import, export, help. */
import { useRef } from 'react';
import { useStore } from 'zustand';
import { redoLabel, undoLabel, type Theme } from '../../state';
import { useActions, useFacts, useView, useWorkbench } from '../workbench';
import { copyText } from './clipboard';
import { DeviceChip } from './device-chip';
import { ExportButton } from '../export/export-button';
import { Icon } from './icons';
import { INSPECTOR_TOGGLE } from './inspector';

const NEXT_THEME: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const DATA_SHORT = { 'moby-dick': 'Moby-Dick', sotu: 'State of the Union', own: 'your text' } as const;

export function TopBar() {
  const { view, document } = useWorkbench();
  const actions = useActions();
  const graph = useFacts((f) => f.graph);
  const modelName = useFacts((f) => f.modelName);
  const data = useFacts((f) => f.data);
  const running = useFacts((f) => f.run !== null);
  const theme = useView((v) => v.theme);
  const inspectorOpen = useView((v) => v.inspectorOpen);
  // The history's store changes last, whenever either label does.
  const undo = useStore(document.temporal, () => undoLabel(document));
  const redo = useStore(document.temporal, () => redoLabel(document));
  const picker = useRef<HTMLInputElement>(null);

  const share = (): void => {
    const url = actions.shareUrl();
    if (url === null) return;
    copyText(url).then(() => actions.tell('Link copied: it holds the whole plan and opens without a server.'), () => view.setState({ dialog: 'share' }));
  };
  const importFile = async (file: File): Promise<void> => {
    try {
      if (actions.importAllocation(await file.text(), file.name)) actions.tell(`Imported ${file.name}`);
    } catch (thrown) {
      actions.fault(thrown);
    }
  };

  return (
    <header className="top-bar">
      <h1 className="brand">Bendscope</h1>
      <div className="chips">
        <span className="chip chip-still" title={graph ? `${modelName}: ${graph.layers} layers, width ${graph.width}, vocabulary ${graph.vocabulary}` : 'No model is open'}>
          <span className="chip-text">{modelName || 'no model'}</span>
          {graph ? <span className="chip-more">{graph.layers} layers</span> : null}
        </span>
        <button type="button" className="chip" disabled={running} aria-haspopup="dialog" title="Calibration text, windows and seed" onClick={() => view.setState({ dialog: 'data' })}>
          <span className="chip-text">{DATA_SHORT[data.source]}</span> <span className="chip-more">{data.batches} × {data.sequences} × {data.tokens} tokens</span> <Icon name="down" />
        </button>
        <DeviceChip />
      </div>
      <div className="tools">
        <button type="button" className="button quiet" disabled={undo === null} aria-label={undo === null ? 'Undo' : `Undo: ${undo}`} title={undo === null ? 'Nothing to undo' : `Undo: ${undo} (Ctrl+Z)`} onClick={() => actions.undo()}><Icon name="undo" /><span className="wide">Undo</span></button>
        <button type="button" className="button quiet" disabled={redo === null} aria-label={redo === null ? 'Redo' : `Redo: ${redo}`} title={redo === null ? 'Nothing to redo' : `Redo: ${redo} (Shift+Ctrl+Z)`} onClick={() => actions.redo()}><Icon name="redo" /><span className="wide">Redo</span></button>
        <button type="button" className="button quiet" aria-label={`Theme: ${theme}`} title={`Theme: ${theme}. Press for ${NEXT_THEME[theme]}.`} onClick={() => view.setState({ theme: NEXT_THEME[theme] })}><Icon name={theme} /></button>
        <button type="button" className="button quiet" onClick={share} title="Copy a link that holds the whole plan"><Icon name="share" />Share</button>
        <button type="button" className="button quiet" onClick={() => picker.current?.click()} title="Open an allocation.json">Import</button>
        <input
          ref={picker} type="file" accept=".json,application/json" className="visually-hidden" tabIndex={-1} aria-label="Import an allocation file"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = '';
            if (file) void importFile(file);
          }}
        />
        <ExportButton />
        <button type="button" id={INSPECTOR_TOGGLE} className="button quiet inspector-toggle" aria-expanded={inspectorOpen} onClick={() => view.setState({ inspectorOpen: !inspectorOpen })}><Icon name="panel" />Inspector</button>
        <button type="button" className="button quiet" aria-label="Keys and help" title="Keys and help (?)" aria-haspopup="dialog" onClick={() => view.setState({ dialog: 'keys' })}>?</button>
      </div>
    </header>
  );
}
