/** Left rail: the open model, and files for another one. */
import { useRef } from 'react';
import { useActions, useFacts } from '../workbench';
import { canOpenWithoutTokenizer, missingFiles, MODEL_FILES } from './file-intake';
import { useIntake } from './intake';

const BUILT_IN = 'gpt2-mini';

export function ModelSection() {
  const graph = useFacts((f) => f.graph);
  const name = useFacts((f) => f.modelName);
  const running = useFacts((f) => f.run !== null);
  const actions = useActions();
  const { intake, opening, take, open, forget } = useIntake();
  const picker = useRef<HTMLInputElement>(null);
  const missing = missingFiles(opening ?? intake);
  const parameters = graph ? graph.params.reduce((sum, p) => sum + p.shape.reduce((a, b) => a * b, 1), 0) : 0;
  return (
    <section className="rail-section" aria-labelledby="setup-model">
      <h2 id="setup-model">Model</h2>
      <p><strong>{name || 'none open'}</strong>{graph ? <span className="muted small"> {graph.layers} layers × {graph.width}, {(parameters / 1e6).toPrecision(3)} M</span> : null}</p>
      {missing.length < MODEL_FILES.length ? (
        <div className="intake">
          <ul>
            {MODEL_FILES.map((file) => <li key={file} className={missing.includes(file) ? 'muted' : 'ok'}>{missing.includes(file) ? '○ missing: ' : '● '}{file}</li>)}
          </ul>
          <div className="row">
            {opening !== null ? <span className="muted small">Opening</span> : (
              <>
                {canOpenWithoutTokenizer(intake) ? <button type="button" className="button small" disabled={running} onClick={() => void open()}>Open without tokenizer</button> : null}
                <button type="button" className="button small quiet" onClick={forget}>Forget these</button>
              </>
            )}
          </div>
        </div>
      ) : null}
      <div className="row">
        <button type="button" className="button small" disabled={running || opening !== null} title={running ? 'A measurement is running: stop it first' : undefined} onClick={() => picker.current?.click()}>Choose files</button>
        <span className="muted small">or drop anywhere</span>
        <input
          ref={picker} type="file" multiple accept=".json,.safetensors,.txt" className="visually-hidden" tabIndex={-1} aria-label="Model files"
          onChange={(event) => {
            const files = [...(event.target.files ?? [])];
            event.target.value = '';
            if (files.length > 0) void take(files);
          }}
        />
      </div>
      {name !== '' && name !== BUILT_IN ? <button type="button" className="button small" disabled={running} onClick={() => void actions.openModel({ kind: 'built-in', name: BUILT_IN })}>Back to {BUILT_IN}</button> : null}
    </section>
  );
}
