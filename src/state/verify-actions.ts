/** Measuring several plans as a whole, one after the other: each under its own recipe and switches, so that they can be compared. */
import type { ActionContext } from './context';
import { costChoiceOf } from './cost-choice';
import { notify } from './facts';
import { plansOf } from './plans';
import type { Runner } from './runner';
import { isReferencePlan, jointOf } from './selectors';
import { shownUnder } from './shown';
import { plural } from './words';

export function createVerifyActions({ document, facts, view, shown }: ActionContext, runner: Runner) {
  return {
    /**
     * Measures plans (plansOf) jointly. Those that are measured already, and those with nothing low, are passed over; Stop
     * ends the one under way and leaves the rest; a plan that fails is a result, and the next one follows.
     */
    async verifyPlans(ids: readonly string[]): Promise<void> {
      const of = shown();
      const all = plansOf(document.getState(), of, costChoiceOf(view.getState()));
      const plans = ids.flatMap((id) => all.find((plan) => plan.id === id) ?? []);
      const open = plans.filter((named) => {
        const own = shownUnder(of, named);
        return jointOf(own, named.plan)?.result.status !== 'measured' && !isReferencePlan(named.plan);
      });
      if (plans.length > 0 && open.length === 0) notify(facts, { kind: 'info', name: '', message: `${plural(plans.length, 'plan')} measured already`, hint: '' });
      // One row of plans at a time: another is refused by its notice.
      if (open.length === 0 || !runner.isReady()) return;
      try {
        for (const [i, named] of open.entries()) {
          const now = shown();
          // Another model or text was opened between two of them.
          if (now.modelSha256 !== of.modelSha256 || now.key.text !== of.key.text) return;
          facts.setState({ verifying: { done: i, total: open.length } });
          const { outcome } = await runner.measureJointly(shownUnder(now, named), named.plan, open.length === 1 ? named.name : `${named.name}, ${i + 1} of ${open.length}`);
          if (outcome.ended !== 'finished') return;
        }
      } finally {
        facts.setState({ verifying: null });
      }
    },
  };
}
