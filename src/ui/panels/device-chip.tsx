/** The device chip: what the start-up check says, and behind it adapter facts, every check, a report to copy. */
import { useActions, useFacts } from '../workbench';
import { CopyButton } from './copy-button';
import { adapterFacts, deviceReport, deviceWords } from './device-words';
import { Disclosure } from './disclosure';

const MARKS = { busy: '◌', ok: '●', warn: '▲', error: '✕' } as const;

export function DeviceChip() {
  const device = useFacts((f) => f.device);
  const checking = useFacts((f) => f.checking);
  const running = useFacts((f) => f.run !== null);
  const actions = useActions();
  const words = deviceWords(device, checking);
  return (
    <Disclosure
      className={`chip chip-device tone-${words.tone}`}
      align="left"
      title={words.title}
      button={<><span aria-hidden="true" className={`mark mark-${words.tone}`}>{MARKS[words.tone]}</span><span className="chip-text">{words.chip}</span></>}
    >
      {() => (
        <div className="device-popover">
          <h2>Graphics device</h2>
          <p>{words.title}</p>
          {device?.error ? <p className={device.status === 'software' ? 'warn' : 'error'}><strong>{device.error.name}</strong> {device.error.message} {device.error.hint}</p> : null}
          <div className="row">
            {device?.status === 'software' ? <button type="button" className="button" disabled={checking} onClick={() => void actions.checkDevice(true)}>Use it anyway</button> : null}
            <button type="button" className="button small" disabled={checking || running} onClick={() => void actions.checkDevice(device?.isFallbackAdapter === true && device.status !== 'software')}>Check again</button>
            <CopyButton label="Copy report" text={() => deviceReport(device)} />
          </div>
          {device && Object.keys(device.facts).length > 0 ? (
            <dl className="pairs">
              {adapterFacts(device).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
            </dl>
          ) : null}
          {device && device.checks.length > 0 ? (
            <div className="scroll checks" tabIndex={0} role="region" aria-label="Checks">
              <table className="table">
                <thead><tr><th scope="col">check</th><th scope="col">result</th><th scope="col">what was compared</th></tr></thead>
                <tbody>
                  {device.checks.map((check) => (
                    <tr key={check.name}><th scope="row">{check.name}</th><td className={check.passed ? 'ok' : 'error'}>{check.passed ? 'pass' : 'FAIL'}</td><td className="wrap">{check.detail}</td></tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : null}
        </div>
      )}
    </Disclosure>
  );
}
