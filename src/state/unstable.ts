/**
 * Cells whose decision flips within noise (ux.md 3.1). A hundred solves are too many for a frame, so they are done a few at
 * a time while the page is idle, once plan and evidence have been at rest for a moment; any change begins anew. What comes
 * out is exactly what one call of the allocator gives.
 */
import { choicesFor, type Plan, type PlanQuestion } from '../allocate/plan';
import { FLIPS_TO_FLAG, flipSolves, noiseWidth } from '../allocate/unstable';
import type { SiteId } from '../graph/policy';
import type { Stores } from './context';
import { costChoiceOf } from './cost-choice';
import type { UnstableState } from './facts';
import type { Idle } from './idle';
import { memo } from './memo';
import { hashOfPlan, isAnyMeasured } from './selectors';
import { shownNow, type Shown } from './shown';
import { questionOf } from './solving';
import type { ViewState } from './view';

const NONE: ReadonlySet<SiteId> = new Set();
const flaggedMemo = memo((unstable: UnstableState): ReadonlySet<SiteId> => new Set([...unstable.flips].filter(([, flips]) => flips >= FLIPS_TO_FLAG).map(([id]) => id)));

/** The unstable cells of the plan in hand; empty while they are not known, and while another plan is under the hand. */
export function unstableOf({ unstable }: Pick<Shown, 'unstable'>, view?: Pick<ViewState, 'preview'>): ReadonlySet<SiteId> {
  return unstable === null || (view?.preview ?? null) !== null ? NONE : flaggedMemo(unstable);
}

/** How long plan and evidence must be at rest. */
export const REST_MS = 400;

/** What the flips depend on: the same objects, the same flips. */
interface Asked {
  readonly question: PlanQuestion;
  readonly formats: Plan['formats'];
  readonly locked: Plan['locked'];
}

function solvesOf({ question, formats, locked }: Asked): Generator<ReadonlyMap<SiteId, number>, void> {
  const { choices, groups } = choicesFor(question, { name: '', formats, locked, notes: '' });
  return flipSolves(choices, groups, formats, noiseWidth(question.sites, question.low));
}

/** Keeps `facts.unstable` at the plan in hand; null while it is not known. */
export function watchUnstable(stores: Stores, idle: Idle): { stop(): void } {
  const { document, facts, view } = stores;
  let asked: Asked | null = null;
  let cancel = (): void => undefined;

  const current = (): Asked | null => {
    const { plan } = document.getState();
    const shown = shownNow(stores);
    const question = plan && isAnyMeasured(shown) ? questionOf(shown, costChoiceOf(view.getState())) : null;
    return plan && question && { question, formats: plan.formats, locked: plan.locked };
  };
  const work = (solves: ReturnType<typeof solvesOf>, flips: ReadonlyMap<SiteId, number>, hash: string): void => {
    cancel = idle.slice((hasTime) => {
      // Under a drag the page is not idle, whatever the browser says.
      if (view.getState().preview !== null) {
        cancel = idle.after(REST_MS, () => work(solves, flips, hash));
        return;
      }
      let now = flips;
      try {
        do {
          const step = solves.next();
          if (step.done) {
            facts.setState({ unstable: { ofHash: hash, flips: new Map(now) } });
            return;
          }
          now = step.value;
        } while (hasTime());
      } catch {
        // Locks that contradict each other: the solver's fault says so where its answer is asked for.
        return;
      }
      work(solves, now, hash);
    });
  };
  const check = (): void => {
    const next = current();
    if (next?.question === asked?.question && next?.formats === asked?.formats && next?.locked === asked?.locked) return;
    asked = next;
    cancel();
    cancel = () => undefined;
    if (facts.getState().unstable !== null) facts.setState({ unstable: null });
    if (next === null) return;
    cancel = idle.after(REST_MS, () => {
      const { plan } = document.getState();
      const hash = plan && hashOfPlan(shownNow(stores), plan);
      if (hash !== null) work(solvesOf(next), new Map(), hash);
    });
  };
  const stops = [document.subscribe(check), facts.subscribe(check), view.subscribe((now, before) => {
    if (costChoiceOf(now) !== costChoiceOf(before)) check();
  })];
  check();
  return {
    stop() {
      cancel();
      stops.forEach((stop) => stop());
    },
  };
}
