/** Left rail: calibration text, memory before the run, Run with pause and stop, and below it, so that Run stays in sight, what else is measured. */
import { formatBytes, formatDuration, formatPercent, signed } from '../../base/units';
import { memoryOf, sitesOf, type Shown } from '../../state';
import { useActions, useDocument, useFacts, useWorkbench } from '../workbench';
import { ExtraMeasures } from './extra-measures';
import { primaryAction } from './primary-action';
import { runLabel } from './run-label';
import { useTimeLeft } from './use-eta';

/** "45.2 MiB predicted, 45.3 MiB held (+0.2 %)": what the device holds of a run of what is shown. */
function memoryLine(facts: Shown): string {
  const memory = memoryOf(facts);
  if (memory === null) return '';
  const { predicted, allocated } = memory;
  if (allocated === null) return `${formatBytes(predicted.totalBytes)} predicted`;
  const by = allocated.totalBytes / predicted.totalBytes - 1;
  return `${formatBytes(predicted.totalBytes)} predicted, ${formatBytes(allocated.totalBytes)} held (${signed(by, formatPercent)})`;
}

export function ProbeSection() {
  const facts = useFacts((f) => f);
  const plan = useDocument((d) => d.plan);
  const { view } = useWorkbench();
  const actions = useActions();
  const timeLeft = useTimeLeft();
  const { graph, run, device, checking, data, recipe, measuredHere, sites } = facts;
  const total = graph ? sitesOf(graph, recipe).length : 0;
  const left = total - measuredHere.size;
  const ready = device?.status === 'ready' && !checking;
  const times = [...measuredHere].flatMap((id) => (sites[id]?.status === 'measured' ? [sites[id].elapsedMs] : [])).filter((ms) => ms > 0);
  const perCell = times.length === 0 ? null : times.reduce((a, b) => a + b, 0) / times.length;
  const isProbe = run?.kind === 'probe';
  const memory = memoryLine(facts);
  return (
    <section className="rail-section" aria-labelledby="setup-probe">
      <h2 id="setup-probe">Probe</h2>
      <p>
        <span className="nowrap">{data.batches} × {data.sequences} × {data.tokens} tokens, seed {data.seed}</span>{' '}
        <button type="button" className="link" disabled={run !== null} aria-haspopup="dialog" onClick={() => view.setState({ dialog: 'data' })}>change</button>
      </p>
      <p className="muted small">
        {total} sites, {left === total ? 'none' : left === 0 ? 'all' : measuredHere.size} measured here
        {perCell === null || left === 0 || run ? '' : `; about ${formatDuration(perCell * left)} left`}
      </p>
      {memory === '' ? null : (
        <p className="muted small">
          GPU {memory},{' '}
          <button type="button" className="link" onClick={() => view.setState({ dock: 'memory', dockOpen: true })}>by kind</button>
        </p>
      )}
      {run ? (
        <>
          <div className="row">
            {run.status === 'paused'
              ? <button type="button" className="button" onClick={() => void actions.resume()}>Resume</button>
              : <button type="button" className="button" disabled={!isProbe} onClick={() => void actions.pause()}>Pause</button>}
            <button type="button" className="button" onClick={() => void actions.stop()}>Stop</button>
            <span className="muted small">{isProbe ? `${run.done}/${run.total}` : 'joint'}{timeLeft}</span>
          </div>
          <p className="muted small">{isProbe ? 'Every finished cell is kept; you may edit meanwhile.' : 'You may edit meanwhile.'}</p>
        </>
      ) : (
        <button type="button" className={primaryAction(facts, plan) === 'run' ? 'button primary wide-button' : 'button wide-button'} disabled={!ready || !graph} onClick={() => void actions.runProbe()}>
          {runLabel(facts)}
        </button>
      )}
      <ExtraMeasures />
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
