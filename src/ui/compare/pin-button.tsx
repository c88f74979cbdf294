/** Pins a plan as A, or lets go of it; pressed while A is exactly this plan. */
import type { PinnedPlan, PlanInContext } from '../../state';
import { useActions, useFacts, useView } from '../workbench';
import { LetterA } from './letter';

/** Whether A is this plan of the open model: formats and switches, whatever it is called. */
export function isPinned(pinned: PinnedPlan | null, plan: PlanInContext, modelSha256: string): boolean {
  return pinned !== null && pinned.modelSha256 === modelSha256 && pinned.recipe === plan.recipe && pinned.name === plan.plan.name
    && (pinned.plan.formats === plan.plan.formats || JSON.stringify(Object.entries(pinned.plan.formats).sort()) === JSON.stringify(Object.entries(plan.plan.formats).sort()))
    && JSON.stringify(pinned.options) === JSON.stringify(plan.options);
}

export function PinButton({ id, plan }: { readonly id: string; readonly plan: PlanInContext }) {
  const actions = useActions();
  const pressed = useView((v) => v.pinned);
  const modelSha256 = useFacts((f) => f.modelSha256);
  const isA = isPinned(pressed, plan, modelSha256);
  const { name } = plan.plan;
  return (
    <button type="button" className="pin" aria-pressed={isA} aria-label={`Pin ${name} as A`} title={isA ? `${name} is A. Press to let go.` : `Pin ${name} as A: others are held against it`} onClick={() => actions.pin(isA ? null : id)}>
      <LetterA />
    </button>
  );
}
