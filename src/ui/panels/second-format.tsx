/**
 * "Also allow": a second low format that solver and brushes may use beside the recipe's, so that a plan holds three. Only
 * what was measured on the same text can be predicted, so each says how far it is; one that is not is measured from here.
 */
import { useId } from 'react';
import { PASS_SCHEMES, type PassScheme } from '../../graph/policy';
import { RECIPES } from '../../graph/recipes';
import { formatName, sitesOf, type Shown } from '../../state';
import { useActions, useFacts } from '../workbench';

/** Cells of a format that are known on this text under these switches. */
function measuredCells({ others }: Shown, scheme: PassScheme): number {
  return Object.keys(others[scheme] ?? {}).length;
}

export function SecondFormat() {
  const facts = useFacts((f) => f);
  const actions = useActions();
  const id = useId();
  const { graph, recipe, second } = facts;
  if (RECIPES[recipe].kind === 'out' || !graph) return null;
  const total = sitesOf(graph, recipe).length;
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const schemes = PASS_SCHEMES.filter((scheme) => scheme !== recipe);
  const state = (scheme: PassScheme): string => {
    const count = measuredCells(facts, scheme);
    return count === 0 ? 'not measured' : count < total ? `${count} of ${total} cells` : 'measured';
  };
  return (
    <div className="second-format">
      <label className="check">
        Also allow
        <select className="select" value={second ?? ''} aria-describedby={id} onChange={(event) => actions.setSecond(schemes.find((scheme) => scheme === event.target.value) ?? null)}>
          <option value="">None</option>
          {schemes.map((scheme) => <option key={scheme} value={scheme}>{RECIPES[scheme].label} ({state(scheme)})</option>)}
        </select>
      </label>
      <p id={id} className="muted small">
        {second === null ? `Cells are BF16 or ${formatName(recipe)}.` : `Cells are BF16, ${formatName(second)} or ${formatName(recipe)}. ${formatName(second)} on this text: ${state(second)}.`}
        {second !== null && measuredCells(facts, second) < total ? <> <button type="button" className="link" disabled={!ready} onClick={() => void actions.runProbe(undefined, second)}>measure it</button></> : null}
      </p>
    </div>
  );
}
