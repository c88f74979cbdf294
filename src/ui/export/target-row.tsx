/** One target of the drawer: how well it holds the plan and what it does otherwise, its names against the list, its first lines. */
import { useId, useState } from 'react';
import { badgeText, type ExportTarget, type Fit, type RenderedFile } from '../../allocate/exports/export-target';
import type { NameCheck } from '../../allocate/exports/check-names';
import { formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import type { Graph } from '../../graph/types';
import { formatName, plural } from '../../state';
import { siteName } from '../grid/site-names';
import { CopyButton } from '../panels/copy-button';
import { download } from '../panels/download';
import { BADGE_TONES, firstLines, partsOf, savedWords, sentenceOf } from './export-data';

const PREVIEW_LINES = 40;
/** Names of a part that are worth reading one by one. */
const MOST_NAMES = 60;

interface TargetRowProps {
  readonly target: ExportTarget;
  readonly graph: Graph;
  readonly plan: Plan;
  readonly fit: Fit;
  /** null: no list was pasted, or the file holds no layer names. */
  readonly check: NameCheck | null;
  readonly render: () => RenderedFile | null;
  readonly onSaved: (words: string) => void;
}

export function TargetRow({ target, graph, plan, fit, check, render, onSaved }: TargetRowProps) {
  const id = useId();
  const canSave = fit.badge !== 'cannot';
  const save = (): void => {
    const file = render();
    if (file === null) return;
    download(file.fileName, file.text, file.mediaType);
    onSaved(savedWords(file.fileName, check));
  };
  return (
    <li className="export-row">
      <div className="export-head">
        <h3 id={`${id}-label`}>{target.label}</h3>
        <span className={`badge ${BADGE_TONES[fit.badge]}`}>{badgeText(fit)}</span>
        <span className="export-buttons">
          <button type="button" className="button small" disabled={!canSave} aria-describedby={`${id}-label`} onClick={save}>{!canSave || check === null || check.isGood ? 'Save' : 'Save anyway'}</button>
          {canSave ? <CopyButton label="Copy" describedBy={`${id}-label`} text={() => render()?.text ?? ''} /> : null}
        </span>
      </div>
      <p className="small muted">{target.sentence}</p>
      {fit.reasons.map((reason) => <p key={reason} className={canSave ? 'small' : 'small error'}>{sentenceOf(reason, target)}</p>)}
      {canSave ? fit.warnings.map((warning) => <p key={warning} className="small warn">{sentenceOf(warning, target)}</p>) : null}
      {check === null || !canSave ? null : <Check check={check} />}
      <div className="export-more">
        {fit.badge === 'rounded' ? (
          <details>
            <summary>{plural(fit.rounded.length, 'cell')} rounded up</summary>
            <ul className="export-cells small" tabIndex={0} aria-label="Cells rounded up">
              {fit.rounded.map((site) => <li key={site}>{siteName(graph, site)}: {formatName(formatOf(plan.formats, site))}</li>)}
            </ul>
          </details>
        ) : null}
        {canSave ? <Preview label={target.label} render={render} /> : null}
      </div>
    </li>
  );
}

function Check({ check }: { readonly check: NameCheck }) {
  const parts = partsOf(check);
  return (
    <details className="export-check">
      <summary className={check.isGood ? 'ok' : 'error'}>{check.isGood ? 'Names: ' : 'Names differ: '}{check.sentence}</summary>
      {parts.map(({ title, names }) => (
        <div key={title} className="small">
          <p>{title}: {names.length}</p>
          <ul className="export-cells mono" tabIndex={0} aria-label={title}>
            {names.slice(0, MOST_NAMES).map((name) => <li key={name}>{name}</li>)}
            {names.length > MOST_NAMES ? <li className="muted">and {names.length - MOST_NAMES} more</li> : null}
          </ul>
        </div>
      ))}
    </details>
  );
}

/** The file is written only once somebody asks to see it. */
function Preview({ label, render }: { readonly label: string; readonly render: () => RenderedFile | null }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>First lines</summary>
      {isOpen ? <Lines label={label} file={render()} /> : null}
    </details>
  );
}

function Lines({ label, file }: { readonly label: string; readonly file: RenderedFile | null }) {
  if (file === null) return null;
  const { text, more } = firstLines(file.text, PREVIEW_LINES);
  return (
    <>
      <p className="small mono">{file.fileName}</p>
      <pre className="export-preview mono" tabIndex={0} role="region" aria-label={`First lines of ${label}`}>{text}</pre>
      {more > 0 ? <p className="small muted">and {plural(more, 'line')} more</p> : null}
    </>
  );
}
