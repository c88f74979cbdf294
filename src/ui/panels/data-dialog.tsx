/** Calibration: which text, how many windows, which seed. Other text means other results, so the dialog says what happens. */
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useActions, useFacts } from '../workbench';
import type { FactsState } from '../../state';
import { Modal } from './modal';

type Data = FactsState['data'];

const SOURCES: readonly (readonly [Data['source'], string, string])[] = [
  ['moby-dick', 'Moby-Dick', 'Herman Melville; public domain'],
  ['sotu', 'State of the Union', 'addresses 1790 to 2021; public domain, 11 MB'],
  ['own', 'Your own text', 'stays in this tab'],
];
const NUMBERS = [['batches', 'Batches', 64], ['sequences', 'Sequences a batch', 64], ['tokens', 'Tokens a sequence', 4096], ['seed', 'Seed', 0xffffffff]] as const;

export default function DataDialog({ onClose }: { readonly onClose: () => void }) {
  const actions = useActions();
  const data = useFacts((f) => f.data);
  const opened = useFacts((f) => f.openedData);
  const maxTokens = useFacts((f) => f.graph?.maxTokens ?? 128);
  const [draft, setDraft] = useState<Data>(data);
  const [state, setState] = useState<'idle' | 'busy'>('idle');
  const file = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The first window is shown as decoded by the tokenizer, so it is read once the dialog asks for it.
    if (!opened) void actions.setData(data);
  }, [opened, actions, data]);

  const readText = (input: HTMLInputElement): void => {
    const [chosen] = input.files ?? [];
    // The same file can be chosen again after an edit.
    input.value = '';
    chosen?.text().then((text) => setDraft((d) => ({ ...d, text })), (thrown: unknown) => actions.fault(thrown));
  };
  const apply = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (state === 'busy') return;
    setState('busy');
    const { text, ...rest } = draft;
    const ok = await actions.setData(draft.source === 'own' ? { ...rest, text: text ?? '' } : rest);
    if (ok) onClose();
    // Its notice says why, in this dialog.
    else setState('idle');
  };
  return (
    <Modal title="Calibration data" onClose={onClose}>
      <form className="form" onSubmit={(event) => void apply(event)}>
        <fieldset className="radios column">
          <legend>Text</legend>
          {SOURCES.map(([source, name, about]) => (
            <label key={source}><input type="radio" name="source" checked={draft.source === source} onChange={() => setDraft({ ...draft, source })} /><span>{name} <span className="muted small">{about}</span></span></label>
          ))}
        </fieldset>
        {draft.source === 'own' ? (
          <div>
            <label className="field"><span>Paste some paragraphs</span><textarea className="textarea" value={draft.text ?? ''} onChange={(event) => setDraft({ ...draft, text: event.target.value })} /></label>
            <div className="row">
              <button type="button" className="button small" onClick={() => file.current?.click()}>Choose a .txt file</button>
              <input ref={file} type="file" accept=".txt,text/plain" className="visually-hidden" tabIndex={-1} aria-label="Text file" onChange={(event) => readText(event.target)} />
            </div>
          </div>
        ) : null}
        <div className="numbers">
          {NUMBERS.map(([key, name, most]) => (
            <label key={key} className="field">
              <span>{name}</span>
              <input className="input number" type="number" required step={1} min={key === 'seed' ? 0 : 1} max={key === 'tokens' ? Math.min(most, maxTokens) : most} value={Number.isNaN(draft[key]) ? '' : draft[key]} onChange={(event) => setDraft({ ...draft, [key]: event.target.valueAsNumber })} />
            </label>
          ))}
        </div>
        <dl className="words">
          <div><dt>Open now</dt><dd>{opened ? `${opened.dataName}: ${opened.tokenCount.toLocaleString('en')} tokens` : 'reading'}</dd></div>
          <div><dt>SHA-256 of the tokens</dt><dd className="mono break">{opened?.tokensSha256 ?? ''}</dd></div>
          <div><dt>First window, decoded</dt><dd className="window">{opened?.firstWindow ?? ''}</dd></div>
        </dl>
        <p className="muted small">Angles belong to their text: with another one the grid starts empty, and coming back brings the old angles back.</p>
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>Cancel</button>
          {/* Not disabled, which would take the focus from it. */}
          <button type="submit" className="button" aria-disabled={state === 'busy'}>{state === 'busy' ? 'Reading' : 'Use this text'}</button>
        </div>
      </form>
    </Modal>
  );
}
