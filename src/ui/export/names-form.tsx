/**
 * What layers are called in the code that takes a file: a spelling, the name of a block, and a pasted list to check every
 * file against. The list also says which spelling it is.
 */
import { useId } from 'react';
import { parseNames, suggestNames } from '../../allocate/exports/check-names';
import { NAME_PRESETS, type NamePresetId } from '../../allocate/exports/names';
import type { Graph } from '../../graph/types';
import { plural } from '../../state';
import { rootFault, rootHint, type NamesChoice } from './export-data';

const PRESETS = Object.entries(NAME_PRESETS) as readonly (readonly [NamePresetId, { readonly label: string }])[];
const OWN = 'own';

interface NamesFormProps {
  readonly graph: Graph;
  readonly names: NamesChoice;
  readonly onNames: (names: NamesChoice) => void;
  readonly pasted: string;
  readonly onPasted: (text: string) => void;
}

export function NamesForm({ graph, names, onNames, pasted, onPasted }: NamesFormProps) {
  const id = useId();
  const fault = rootFault(names);
  return (
    <section className="export-names" aria-labelledby={`${id}-heading`}>
      <h3 id={`${id}-heading`}>Layer names</h3>
      <div className="export-fields">
        <label className="field">
          <span>Spelling</span>
          <select className="select" value={names.preset ?? OWN} onChange={({ target: { value } }) => onNames({ ...names, preset: PRESETS.find(([preset]) => preset === value)?.[0] ?? null })}>
            <option value={OWN}>Each library’s own</option>
            {PRESETS.map(([preset, { label }]) => <option key={preset} value={preset}>{label}</option>)}
          </select>
        </label>
        <label className="field">
          <span>Name of a block</span>
          <input
            className="input mono" value={names.root} placeholder={rootHint(names)} spellCheck={false} autoComplete="off" aria-invalid={fault !== null} aria-describedby={fault === null ? undefined : `${id}-fault`}
            onChange={({ target: { value } }) => onNames({ ...names, root: value.trim() })}
          />
        </label>
      </div>
      {fault === null ? null : <p id={`${id}-fault`} className="small error">{fault}</p>}
      <details>
        <summary>Check names</summary>
        <label className="field">
          <span>Paste your model’s layer names, one a line, as named_modules() or a state dictionary has them. Each file below is checked before it is saved.</span>
          <textarea className="textarea mono" value={pasted} spellCheck={false} onChange={({ target: { value } }) => onPasted(value)} />
        </label>
        {pasted.trim() === '' ? null : <Suggestion graph={graph} names={names} onNames={onNames} pasted={pasted} />}
      </details>
    </section>
  );
}

function Suggestion({ graph, names, onNames, pasted }: Omit<NamesFormProps, 'onPasted'>) {
  const count = plural(parseNames(pasted).length, 'name');
  const found = suggestNames(pasted, graph);
  if (found === null) return <p className="small">{count}; no known spelling.</p>;
  const spelling = NAME_PRESETS[found.preset];
  const isChosen = names.preset === found.preset && (names.root || spelling.root) === found.root;
  return (
    <div className="export-suggestion small">
      <p>{count}: {spelling.label}, <code>{found.root}</code>, {found.matched} of {found.layers} layers.</p>
      {isChosen ? null : <button type="button" className="button small" onClick={() => onNames({ preset: found.preset, root: found.root === spelling.root ? '' : found.root })}>Use these names</button>}
    </div>
  );
}
