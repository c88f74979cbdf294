/**
 * The Export drawer (ux.md 4.2): every target with its badge for the plan in hand, what it rounds or does otherwise, layer
 * names and their check before anything is saved; below them the results and the figures.
 */
import { useDeferredValue, useMemo, useState } from 'react';
import { EXPORT_TARGETS } from '../../allocate/exports/targets';
import { fileStem } from '../../base/file-name';
import { provenanceOf } from '../../state';
import { FigureMenu } from '../figures/figure-menu';
import { download } from '../panels/download';
import { Modal } from '../panels/modal';
import { useActions, useDocument, useFacts } from '../workbench';
import { mappingOf, OWN_NAMES } from './export-data';
import { NamesForm } from './names-form';
import { TargetRow } from './target-row';
import './export.css';

export default function ExportDrawer({ onClose }: { readonly onClose: () => void }) {
  const [said, setSaid] = useState('');
  return (
    <Modal title="Export" className="drawer" onClose={onClose}>
      <Targets onSaved={setSaid} />
      <p className="export-said small" role="status">{said}</p>
    </Modal>
  );
}

interface SavedProps {
  readonly onSaved: (words: string) => void;
}

function Targets({ onSaved }: SavedProps) {
  const facts = useFacts((f) => f);
  const plan = useDocument((d) => d.plan);
  const actions = useActions();
  const [names, setNames] = useState(OWN_NAMES);
  const [pasted, setPasted] = useState('');
  // Typing into a long list stays quick: the checks of nine files follow.
  const list = useDeferredValue(pasted);
  const rows = useMemo(() => (plan && facts.graph ? EXPORT_TARGETS : []).flatMap((target) => {
    const mapping = mappingOf(target, names);
    const fit = actions.fitOf(target, mapping);
    const check = list.trim() === '' || mapping === undefined ? null : actions.checkNames(target, mapping, list);
    return fit === null ? [] : [{ target, fit, check, render: () => actions.exportPlan(target, mapping) }];
  }), [plan, facts, actions, names, list]);
  const { graph } = facts;
  if (!plan || !graph) return <p className="muted">Open a model first: there is no plan to export.</p>;
  return (
    <>
      <p className="export-plan small muted"><strong>{plan.name}</strong> for {facts.modelName}</p>
      <NamesForm graph={graph} names={names} onNames={setNames} pasted={pasted} onPasted={setPasted} />
      <ul className="export-rows" aria-label="Files">
        {rows.map((row) => <TargetRow key={row.target.id} {...row} graph={graph} plan={plan} onSaved={onSaved} />)}
        <ProbeRow onSaved={onSaved} />
      </ul>
      <FigureMenu onSaved={onSaved} />
    </>
  );
}

function ProbeRow({ onSaved }: SavedProps) {
  const actions = useActions();
  const modelName = useFacts((f) => f.modelName);
  const hasResults = useFacts((f) => provenanceOf(f) !== null);
  const save = (): void => {
    const text = actions.exportProbe();
    if (text === null) return;
    const fileName = `${fileStem(modelName, 'model')}.probe.json`;
    download(fileName, text, 'application/json');
    onSaved(`Saved ${fileName}.`);
  };
  return (
    <li className="export-row">
      <div className="export-head">
        <h3 id="export-probe">Probe as JSON</h3>
        {hasResults ? <span className="badge ok">exact</span> : null}
        <span className="export-buttons"><button type="button" className="button small" disabled={!hasResults} aria-describedby="export-probe" onClick={save}>Save</button></span>
      </div>
      <p className="small muted">{hasResults ? 'All results per batch, noise floor, joint measurements.' : 'Nothing is measured yet: run the probe first.'}</p>
    </li>
  );
}
