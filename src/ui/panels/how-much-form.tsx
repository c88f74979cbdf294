/** "How much is needed for ... deg?": a target and the button that searches, in the rail and in the search's own tab. */
import { useId, useState } from 'react';
import { MOST_MEASUREMENTS } from '../../allocate/how-much';
import { significant } from '../../base/units';
import { allLowOf, allLowPlan, isSameKey, totalsOf, type Shown } from '../../state';
import { useActions, useFacts, useWorkbench } from '../workbench';

/** The last target of what is shown; else a third of what everything low bends, to one digit; 10 where that is not known. */
function defaultTarget(shown: Shown): string {
  const { howMuch, key } = shown;
  if (howMuch !== null && isSameKey(howMuch.key, key)) return String(howMuch.targetDeg);
  const joint = allLowOf(shown)?.result;
  const plan = allLowPlan(shown);
  const allLowDeg = joint?.status === 'measured' ? joint.angleDeg : plan === null ? null : (totalsOf(shown, plan)?.predictedDeg ?? null);
  return allLowDeg === null || allLowDeg <= 0 ? '10' : significant(allLowDeg / 3, 1);
}

/** Degrees above 0 and below 90, or null. */
function targetOf(text: string): number | null {
  const value = Number(text.trim().replace(',', '.'));
  return text.trim() !== '' && value > 0 && value < 90 ? value : null;
}

export function HowMuchForm() {
  const facts = useFacts((f) => f);
  const { view } = useWorkbench();
  const actions = useActions();
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? defaultTarget(facts);
  const target = targetOf(text);
  const ready = facts.device?.status === 'ready' && !facts.checking && !facts.run;
  const search = (): void => {
    if (target === null || !ready) return;
    view.setState({ dock: 'how-much', dockOpen: true });
    void actions.howMuch(target);
  };
  return (
    <form
      className="how-much-form"
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <button type="submit" className="button small" disabled={!ready || target === null} title={`Searches for the smallest budget whose measured angle meets the target, by at most ${MOST_MEASUREMENTS} joint measurements`}>How much is needed</button>
      <label htmlFor={id}>for<span className="visually-hidden"> at most</span></label>
      <input id={id} className="input number" inputMode="decimal" value={text} aria-label="Target of how much, degrees" aria-invalid={target === null} onChange={(event) => setDraft(event.target.value)} />
      <span>deg</span>
    </form>
  );
}
