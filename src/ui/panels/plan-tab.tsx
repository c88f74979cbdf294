/** Inspector, tab Plan: which cells it keeps in BF16 or in the second format, notes, and the ways to compare it. */
import { useState } from 'react';
import { formatOf, resultIn } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import { formatDegrees } from '../../base/units';
import type { SiteFormat, SiteId } from '../../graph/policy';
import { evidenceOf, formatName, sitesOf, type Shown } from '../../state';
import { siteShort } from '../grid/site-names';
import { useActions, useFacts, usePlans, useWorkbench } from '../workbench';

function Notes({ notes }: { readonly notes: string }) {
  const actions = useActions();
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <label className="field">
      <span className="heading">Notes</span>
      <textarea
        className="textarea" value={draft ?? notes} maxLength={4000} placeholder="Travel with the plan in its file"
        onChange={(event) => setDraft(event.target.value)}
        onBlur={() => {
          if (draft !== null) actions.setNotes(draft);
          setDraft(null);
        }}
      />
    </label>
  );
}

export function PlanTab() {
  const facts = useFacts((f) => f);
  const { view } = useWorkbench();
  const { plan, shown } = usePlans();
  if (!facts.graph || !plan || !shown) return <p className="muted">Open a model first.</p>;
  const { graph, recipe, second } = facts;
  const all = sitesOf(graph, recipe);
  const kept = second === null ? (['bf16'] as const) : (['bf16', second] as const);
  return (
    <div className="plan-tab">
      <h3>{plan.name}</h3>
      <p className="row">
        <button type="button" className="button small" onClick={() => view.setState({ dock: 'baselines', dockOpen: true })}>Hold it against every baseline</button>
        <button type="button" className="button small" onClick={() => view.setState({ inspector: 'diff' })}>Cell by cell against A</button>
      </p>
      {kept.map((format) => (
        <SiteList key={format} facts={facts} plan={shown} format={format} sites={all.map(({ id }) => id).filter((id) => formatOf(shown.formats, id) === format)} total={all.length} />
      ))}
      <p className="muted small">Every other cell is {formatName(recipe)}.</p>
      <Notes notes={plan.notes} />
    </div>
  );
}

interface SiteListProps {
  readonly facts: Shown;
  readonly plan: Plan;
  readonly format: SiteFormat;
  readonly sites: readonly SiteId[];
  readonly total: number;
}

/** The cells of one format, each with what it would bend in the recipe's (BF16) or bends in its own. */
function SiteList({ facts, plan, format, sites, total }: SiteListProps) {
  const { view } = useWorkbench();
  const { graph } = facts;
  if (!graph) return null;
  const angle = (id: SiteId): string => {
    const result = resultIn(evidenceOf(facts), id, format === 'bf16' ? facts.recipe : format);
    return result?.status === 'measured' ? formatDegrees(result.cleanAngleDeg) : 'not measured';
  };
  return (
    <section aria-label={`In ${formatName(format)}`}>
      <h3>In {formatName(format)}: {sites.length} of {total} cells</h3>
      {sites.length === 0 ? <p className="muted small">None.</p> : (
        <>
          <p className="muted small">{format === 'bf16' ? `What each would bend in ${formatName(facts.recipe)}:` : `What each bends in ${formatName(format)}:`}</p>
          <ul className="site-list">
            {sites.map((id) => (
              <li key={id}>
                <button type="button" className="button quiet small" onClick={() => view.setState({ primary: id, selection: new Set([id]), inspector: 'cell' })}>
                  {siteShort(graph, id)} <span className="muted">{angle(id)}{plan.locked[id] ? ', locked' : ''}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
