/** Left rail, upper part: model, calibration and run (in sight on every screen), recipe with what it simulates. */
import { useEffect, useRef } from 'react';
import { formatBytes, formatDuration } from '../../base/units';
import { sitesOf } from '../../state';
import { useActions, useFacts, usePlans, useWorkbench } from '../workbench';
import { missingFiles } from './file-intake';
import { useIntake } from './intake';
import { primaryAction } from './primary-action';
import { useRemainingMs } from './use-eta';

const BUILT_IN = 'gpt2-mini';

function ModelSection() {
  const graph = useFacts((f) => f.graph);
  const name = useFacts((f) => f.modelName);
  const running = useFacts((f) => f.run !== null);
  const actions = useActions();
  const { intake, opening, take, open, forget } = useIntake();
  const picker = useRef<HTMLInputElement>(null);
  const missing = missingFiles(intake);
  const parameters = graph ? graph.params.reduce((sum, p) => sum + p.shape.reduce((a, b) => a * b, 1), 0) : 0;
  return (
    <section className="rail-section" aria-labelledby="setup-model">
      <h2 id="setup-model">Model</h2>
      <p><strong>{name || 'none open'}</strong>{graph ? <span className="muted small"> {graph.layers} layers × {graph.width}, {(parameters / 1e6).toPrecision(3)} M</span> : null}</p>
      {missing.length < 3 ? (
        <div className="intake">
          <ul>
            {['config.json', 'model.safetensors', 'tokenizer.json'].map((file) => <li key={file} className={missing.includes(file) ? 'muted' : 'ok'}>{missing.includes(file) ? '○ missing: ' : '● '}{file}</li>)}
          </ul>
          <div className="row">
            <button type="button" className="button small" disabled={opening || missing.includes('config.json') || missing.includes('model.safetensors')} onClick={() => void open()}>{opening ? 'Opening' : 'Open without tokenizer'}</button>
            <button type="button" className="button small quiet" onClick={forget}>Forget these</button>
          </div>
        </div>
      ) : null}
      <div className="row">
        <button type="button" className="button small" disabled={running || opening} title={running ? 'A measurement is running: stop it first' : undefined} onClick={() => picker.current?.click()}>Choose files</button>
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

function RecipeSection() {
  const weights1d = useFacts((f) => f.options.weights1d === true);
  const running = useFacts((f) => f.run !== null);
  const actions = useActions();
  return (
    <section className="rail-section" aria-labelledby="setup-recipe">
      <h2 id="setup-recipe">Recipe</h2>
      <p><strong>NVFP4</strong> <span className="muted small">4-bit operands, a scale for every 16</span></p>
      <label className="check"><input type="checkbox" checked={weights1d} disabled={running} onChange={(event) => actions.setOptions(event.target.checked ? { weights1d: true } : {})} /> 1D weight blocks</label>
      <p className="muted small">1 × 16 instead of 16 × 16: finer, but forward and input gradient then round one weight differently.</p>
      <details>
        <summary>What is simulated, what is not</summary>
        <p className="small"><strong>Exact:</strong> every low operand is really rounded to its NVFP4 code, bit for bit in TransformerEngine&rsquo;s order of operations; the rest is BF16 mixed precision with FP32 accumulation.</p>
        <p className="small"><strong>Not modelled:</strong> the accumulation width of tensor cores, stochastic rounding, Hadamard transforms, speed. Head, attention products, norms and residuals stay BF16.</p>
      </details>
    </section>
  );
}

function RunSection() {
  const facts = useFacts((f) => f);
  const { plan } = usePlans();
  const { view } = useWorkbench();
  const actions = useActions();
  const remaining = useRemainingMs();
  const { graph, run, device, checking, data, plannedBytes, measuredHere, sites, modelSha256 } = facts;
  const total = graph ? sitesOf(graph).length : 0;
  const left = total - measuredHere.size;
  const ready = device?.status === 'ready' && !checking;
  const { planBytes } = actions;
  useEffect(() => {
    // After the check, so that the weights do not compete with it.
    if (ready && modelSha256 !== '') void planBytes();
  }, [ready, data, modelSha256, planBytes]);

  const times = [...measuredHere].flatMap((id) => (sites[id]?.status === 'measured' ? [sites[id].elapsedMs] : [])).filter((ms) => ms > 0);
  const perCell = times.length === 0 ? null : times.reduce((a, b) => a + b, 0) / times.length;
  const isProbe = run?.kind === 'probe';
  return (
    <section className="rail-section" aria-labelledby="setup-probe">
      <h2 id="setup-probe">Probe</h2>
      <p>
        <span className="nowrap">{data.batches} × {data.sequences} × {data.tokens} tokens, seed {data.seed}</span>{' '}
        <button type="button" className="link" disabled={run !== null} aria-haspopup="dialog" onClick={() => view.setState({ dialog: 'data' })}>change</button>
      </p>
      <p className="muted small">
        {total} sites, {left === total ? 'none' : left === 0 ? 'all' : measuredHere.size} measured here
        {plannedBytes === null ? '' : `; ${formatBytes(plannedBytes)} on the GPU`}
        {perCell === null || left === 0 || run ? '' : `; about ${formatDuration(perCell * left)} left`}
      </p>
      {run ? (
        <>
          <div className="row">
            {run.status === 'paused'
              ? <button type="button" className="button" onClick={() => void actions.resume()}>Resume</button>
              : <button type="button" className="button" disabled={!isProbe} onClick={() => void actions.pause()}>Pause</button>}
            <button type="button" className="button" onClick={() => void actions.stop()}>Stop</button>
            <span className="muted small">{isProbe ? `${run.done}/${run.total}` : 'joint'}{remaining === null ? '' : `, ${formatDuration(remaining)} left`}</span>
          </div>
          <p className="muted small">Every finished cell is kept; you may edit meanwhile.</p>
        </>
      ) : (
        <button type="button" className={primaryAction(facts, plan) === 'run' ? 'button primary wide-button' : 'button wide-button'} disabled={!ready || !graph} onClick={() => void actions.runProbe()}>
          {left > 0 && left < total ? `Continue: ${left} cells left` : left === 0 && total > 0 ? 'Run again on this GPU' : 'Run on this GPU'}
        </button>
      )}
      {!checking && device && device.status !== 'ready' ? (
        <div className={device.status === 'software' ? 'callout callout-warn' : 'callout callout-error'}>
          <p><strong>{device.error?.name}</strong> {device.error?.message}</p>
          {device.status === 'software' ? null : <p>{device.error?.hint}</p>}
          {device.status === 'software' ? <button type="button" className="button small" onClick={() => void actions.checkDevice(true)}>Use it anyway</button> : null}
          {device.status === 'absent' && device.error?.name === 'E-WRK-01' ? <button type="button" className="button small" onClick={() => void actions.checkDevice(device.isFallbackAdapter)}>Start it again</button> : null}
        </div>
      ) : null}
      {checking ? <p className="muted small">Waiting for the GPU check.</p> : null}
    </section>
  );
}

export function SetupPanel() {
  return (
    <>
      <ModelSection />
      <RunSection />
      <RecipeSection />
    </>
  );
}
