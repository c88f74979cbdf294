/** The Export menu: the plan, the sites, the probe, each with what it holds. The only filled button once a plan is verified. */
import { useActions, useFacts, usePlans } from '../workbench';
import { Disclosure } from './disclosure';
import { download } from './download';
import { Icon } from './icons';
import { primaryAction } from './primary-action';
import { sitesCsv } from './sites-csv';
import { provenanceOf } from '../../state';

function fileStem(name: string): string {
  return name.trim().toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'plan';
}

export function ExportMenu() {
  const facts = useFacts((f) => f);
  const { plan } = usePlans();
  const actions = useActions();
  const measured = Object.keys(facts.sites).length;
  const stem = plan ? `${facts.modelName}-${fileStem(plan.name)}` : 'bendscope';
  const save = (close: () => void, name: string, text: string | null, type: string): void => {
    close();
    if (text === null) return;
    download(name, text, type);
    actions.tell(`Saved ${name}`);
  };
  return (
    <Disclosure className={primaryAction(facts, plan) === 'export' ? 'button primary' : 'button'} button={<>Export <Icon name="down" /></>}>
      {(close) => (
        <ul className="menu">
          <li>
            <button type="button" disabled={!plan} onClick={() => save(close, `${stem}.allocation.json`, actions.exportAllocation(), 'application/json')}>
              <strong>allocation.json</strong> <span className="badge ok">exact</span>
              <span className="muted">The plan with every angle it rests on, hashes, device, seed. Can be imported again.</span>
            </button>
          </li>
          <li>
            <button type="button" disabled={!plan} onClick={() => save(close, `${stem}.sites.csv`, plan ? sitesCsv(facts, plan) : null, 'text/csv')}>
              <strong>Sites as CSV</strong> <span className="badge ok">exact</span>
              <span className="muted">One row a site with every figure; {measured} measured.</span>
            </button>
          </li>
          <li>
            <button type="button" disabled={provenanceOf(facts) === null} onClick={() => save(close, `${facts.modelName}.probe.json`, actions.exportProbe(), 'application/json')}>
              <strong>Probe as JSON</strong> <span className="badge ok">exact</span>
              <span className="muted">All results per batch, noise floor, joint measurements.</span>
            </button>
          </li>
        </ul>
      )}
    </Disclosure>
  );
}
