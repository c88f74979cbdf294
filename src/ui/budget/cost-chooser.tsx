/**
 * What plans pay by (method.md 6): the kinds of cost that the recipe has, and for time the ratios of its formats or a file of
 * measured times. Only the view changes; a choice that cannot be taken says why in a notice.
 */
import { useId, useState } from 'react';
import { defaultRatio, type CostKind } from '../../allocate/costs';
import type { SiteFormat } from '../../graph/policy';
import { costKindOf, costKindsOf, formatName, lowFormatsOf } from '../../state';
import { Disclosure } from '../panels/disclosure';
import { useActions, useFacts, useView } from '../workbench';
import { COST_WORDS } from './cost-words';

export function CostChooser() {
  const actions = useActions();
  const recipe = useFacts((f) => f.recipe);
  const kind = useView((v) => costKindOf(recipe, v.cost));
  return (
    <div className="cost-chooser">
      <label>
        <span className="visually-hidden">What plans pay by</span>
        <select value={kind} onChange={(event) => actions.setCost(event.target.value as CostKind)}>
          {costKindsOf(recipe).map((known) => <option key={known} value={known}>{COST_WORDS[known].choice}</option>)}
        </select>
      </label>
      {kind === 'time' ? <TimeSource /> : null}
    </div>
  );
}

function TimeSource() {
  const actions = useActions();
  const times = useView((v) => v.times);
  const ratios = useView((v) => v.ratios);
  const low = useFacts(lowFormatsOf);
  const edited = low.filter((format) => ratios[format] !== undefined).length;
  const label = times === null ? `Ratios${edited > 0 ? ', edited' : ''}` : times.file;
  return (
    <Disclosure className="button small cost-source" button={<span>{label}</span>} label={`Where GEMM times come from: ${label}`} title={times === null ? 'Time of a GEMM over that in BF16' : `Measured times of ${times.file}`} align="left">
      {() => (
        <div className="cost-popover">
          <h3>GEMM time relative to BF16</h3>
          {times === null ? (
            <>
              {low.map((format) => <Ratio key={format} format={format} />)}
              <p className="muted small">Peak rates of current hardware unless edited. Measured times count instead of ratios.</p>
              <label className="button small file-button">
                Import times (CSV)…
                <input type="file" accept=".csv,text/csv" className="visually-hidden" onChange={(event) => {
                  const [file] = event.target.files ?? [];
                  event.target.value = '';
                  if (file) void file.text().then((text) => actions.importTimes(text, file.name), (thrown: unknown) => actions.fault(thrown));
                }} />
              </label>
            </>
          ) : (
            <>
              <p><strong>{times.file}</strong> <span className="muted">{times.rows} times</span></p>
              <p className="muted small">Measured times count instead of ratios.</p>
              <button type="button" className="button small" onClick={() => actions.clearTimes()}>Remove</button>
            </>
          )}
        </div>
      )}
    </Disclosure>
  );
}

function Ratio({ format }: { readonly format: SiteFormat }) {
  const id = useId();
  const actions = useActions();
  const edited = useView((v) => v.ratios[format]);
  const usual = defaultRatio(format);
  const [draft, setDraft] = useState<string | null>(null);
  const take = (): void => {
    const value = Number((draft ?? '').trim().replace(',', '.'));
    // An emptied field is the default again; a text that is no number changes nothing.
    if (draft !== null && Number.isFinite(value)) actions.setRatio(format, draft.trim() === '' ? null : value);
    setDraft(null);
  };
  return (
    <p className="ratio">
      <label htmlFor={id}>{formatName(format)}</label>
      <input id={id} inputMode="decimal" autoComplete="off" aria-describedby={`${id}-usual`} value={draft ?? String(edited ?? usual)} onChange={(event) => setDraft(event.target.value)} onBlur={take}
        onKeyDown={(event) => {
          if (event.key === 'Enter') take();
          if (event.key === 'Escape' && draft !== null) {
            setDraft(null);
            event.stopPropagation();
          }
        }} />
      <span id={`${id}-usual`} className="muted small">default {usual}</span>
    </p>
  );
}
