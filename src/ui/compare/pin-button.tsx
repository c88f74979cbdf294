/** Pins a plan as A, or lets go of it; pressed while A is exactly this plan. */
import { canonicalJson } from '../../base/canonical-json';
import type { PinnedPlan, PlanInContext } from '../../state';
import { useActions, useFacts, useView } from '../workbench';
import { LetterA } from './letter';

/** Whether A is this plan of the open model: its name, its formats, its recipe and switches. */
export function isPinned(pinned: PinnedPlan | null, plan: PlanInContext, modelSha256: string): boolean {
  return pinned !== null && pinned.modelSha256 === modelSha256 && pinned.recipe === plan.recipe && pinned.name === plan.plan.name
    && (pinned.plan.formats === plan.plan.formats || canonicalJson(pinned.plan.formats) === canonicalJson(plan.plan.formats))
    && canonicalJson(pinned.options) === canonicalJson(plan.options);
}

export function PinButton({ id, plan }: { readonly id: string; readonly plan: PlanInContext }) {
  const actions = useActions();
  const pinned = useView((v) => v.pinned);
  const modelSha256 = useFacts((f) => f.modelSha256);
  const isA = isPinned(pinned, plan, modelSha256);
  const { name } = plan.plan;
  return (
    <button type="button" className="pin" aria-pressed={isA} aria-label={`Pin ${name} as A`} title={isA ? `${name} is A. Press to let go.` : `Pin ${name} as A: others are held against it`} onClick={() => actions.pin(isA ? null : id)}>
      <LetterA />
    </button>
  );
}
