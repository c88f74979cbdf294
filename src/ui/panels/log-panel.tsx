/** Dock: where the figures come from. Last run, floor, reference losses, bytes, provenance; then every notice. */
import { formatBytes, formatDegrees } from '../../base/units';
import { memoryOf, provenanceOf, recipeName } from '../../state';
import { useFacts } from '../workbench';

export function LogPanel() {
  const facts = useFacts((f) => f);
  const provenance = provenanceOf(facts);
  const memory = memoryOf(facts);
  const rows: readonly (readonly [string, string])[] = [
    ['last run', facts.run ? `${facts.run.kind === 'probe' ? 'probe' : 'joint measurement'} ${facts.run.status}` : facts.lastRun || 'none in this session'],
    ['noise floor', facts.floor ? `forward ${formatDegrees(facts.floor.forwardDeg)}, backward ${formatDegrees(facts.floor.backwardDeg)} (${facts.floor.perRun.length} runs with one BF16 ulp flipped)` : 'not measured'],
    ['reference loss', facts.referenceLoss.length > 0 ? `${facts.referenceLoss.map((loss) => loss.toFixed(4)).join(', ')} nats` : 'not measured'],
    ['recipe', recipeName(facts.recipe, facts.options)],
    ['on the GPU', memory === null ? 'not known' : `${formatBytes(memory.predicted.totalBytes)} predicted${memory.allocated === null ? '' : `, ${formatBytes(memory.allocated.totalBytes)} held by the last probe`}`],
    ['model', facts.modelName ? `${facts.modelName} ${facts.modelSha256}` : 'none'],
    ...(provenance
      ? ([
          ['measured on', `${provenance.device}${provenance.isFallbackAdapter ? ' (software)' : ''}, ${provenance.browser}`],
          ['text', `${provenance.dataName}, ${provenance.batches} × ${provenance.sequences} × ${provenance.tokens}, seed ${provenance.seed}, ${provenance.tokensSha256}`],
          ['started', `${provenance.startedAt}, Bendscope ${provenance.appVersion}`],
        ] as const)
      : []),
    ...(facts.storedProvenance ? ([['stored example', `${facts.storedProvenance.device}, ${facts.storedProvenance.startedAt}`]] as const) : []),
  ];
  return (
    <div className="log">
      <table className="table">
        <caption className="visually-hidden">Where the figures come from</caption>
        <tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row" className="muted">{name}</th><td className="wrap">{value}</td></tr>)}</tbody>
      </table>
      <div>
        <h2>Notices</h2>
        {facts.notices.length === 0 ? <p className="muted small">none</p> : (
          <ul className="log-notices">
            {facts.notices.map((notice) => (
              <li key={notice.id}>
                <span className={notice.kind === 'error' ? 'error' : notice.kind === 'warning' ? 'warn' : ''}>{notice.name ? <strong>{notice.name} </strong> : null}{notice.message}</span> <span className="muted">{notice.hint}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
