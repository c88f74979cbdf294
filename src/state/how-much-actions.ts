/**
 * "How much is needed?" (method.md 7): the smallest budget whose measured joint angle meets a target, by at most four joint
 * measurements of plans on the frontier of the locks in hand. Every step stands in the facts as it comes; Stop keeps them.
 * What comes out is shown as a preview and becomes the plan only when it is taken over.
 */
import { batchesNeeded } from '../allocate/batches-needed';
import { planAt, withFormats, type Plan, type PlanQuestion } from '../allocate/plan';
import type { ChoiceFrontier } from '../allocate/frontier';
import { howMuch, type HowMuchStep, type JointAngle } from '../allocate/how-much';
import { BendscopeError, toPlainError } from '../base/errors';
import { formatDegrees } from '../base/units';
import type { SiteResult } from '../graph/probe-record';
import type { ActionContext } from './context';
import { costChoiceOf, costFaultOf, costOf, type CostChoice } from './cost-choice';
import { createDocumentEdits } from './document-edits';
import { notify, notifyError } from './facts';
import type { HowMuchState, HowMuchTry } from './how-much-state';
import type { Runner } from './runner';
import { countDifferences, hashOfPlan, jointOf } from './selectors';
import { isSameKey, shownUnder, type Shown } from './shown';
import { frontierOf, questionOf, solveFaultOf } from './solving';
import { recipeName } from './words';

/** Ends the search without being a fault of it. */
class Stopped extends Error {}

/** What the search is of, as it was when it began. */
interface Search {
  readonly of: Shown;
  readonly plan: Plan;
  readonly asked: PlanQuestion;
  readonly line: ChoiceFrontier;
}

export function createHowMuchActions(context: ActionContext, runner: Runner) {
  const { document, facts, view, shown, attempt } = context;
  const { take, withCells } = createDocumentEdits(context);
  const update = (part: Partial<HowMuchState>): void => facts.setState(({ howMuch: now }) => (now === null ? {} : { howMuch: { ...now, ...part } }));
  const stepsBut = (last: number): readonly HowMuchTry[] => (facts.getState().howMuch?.steps ?? []).slice(0, last);

  /** Facts now, under what the search is of. Throws Stopped where another model or text was opened meanwhile. */
  const factsNow = ({ of }: Search): Shown => {
    const now = shown();
    if (now.modelSha256 !== of.modelSha256 || now.key.text !== of.key.text) throw new Stopped();
    return shownUnder(now, of);
  };

  /** The joint result of the plan at a point, from the facts where it is known. */
  const jointAt = async (search: Search, plan: Plan, what: string): Promise<{ readonly result: SiteResult; readonly isKnown: boolean }> => {
    const known = jointOf(factsNow(search), plan)?.result;
    if (known?.status === 'measured') return { result: known, isKnown: true };
    const { outcome, joint } = await runner.measureJointly(factsNow(search), plan, what);
    if (outcome.ended === 'failed') throw new BendscopeError(outcome.error.name, outcome.error.message, outcome.error.hint);
    if (outcome.ended !== 'finished' || joint === null) throw new Stopped();
    return { result: joint.result, isKnown: false };
  };

  const measureWith = (search: Search, targetDeg: number, figureOf: (cost: number) => number) => async (index: number, aimedDeg: number): Promise<JointAngle> => {
    const { line, of } = search;
    const plan = planAt(search.plan, line, index);
    const { cost, angleDeg: predictedDeg } = line.points[index]!;
    const at = facts.getState().howMuch?.steps.length ?? 0;
    const tried = { aimedDeg, index, cost, predictedDeg, figure: figureOf(cost), planHash: hashOfPlan(of, plan) ?? '' };
    update({ steps: [...stepsBut(at), { ...tried, status: 'measuring' }] });
    try {
      const { result, isKnown } = await jointAt(search, plan, `How much is needed, ${at + 1}`);
      if (result.status === 'failed') throw new BendscopeError(result.errorName, result.reason, 'A plan without a finite gradient cannot be trained; ask for less bending, or lock what fails to BF16.');
      const { angleDeg, angleSeDeg } = result;
      update({ steps: [...stepsBut(at), { ...tried, status: 'measured', angleDeg, angleSeDeg, meets: angleDeg <= targetDeg, isKnown }] });
      return { angleDeg, angleSeDeg };
    } catch (thrown) {
      const { name, message } = toPlainError(thrown);
      update({ steps: thrown instanceof Stopped ? stepsBut(at) : [...stepsBut(at), { ...tried, status: 'failed', reason: `${name}: ${message}` }] });
      throw thrown;
    }
  };

  /** What is asked, or null and a notice with what is missing. */
  const begin = (targetDeg: number, choice: CostChoice): Search | null => {
    const of = shown();
    const { plan } = document.getState();
    const refuse = (name: string, message: string, hint: string): null => {
      notifyError(facts, { name, message, hint });
      return null;
    };
    if (!plan || !of.graph) return refuse('E-RUN-04', 'How much is needed: expected an open model, got none', 'Open a model first.');
    if (!(targetDeg > 0 && targetDeg < 90)) return refuse('E-RUN-06', `How much is needed: expected a target above 0 and below 90 degrees, got ${targetDeg}`, 'Type the angle that the whole plan may bend.');
    if (facts.getState().howMuch?.status === 'running') return refuse('E-RUN-06', 'How much is needed: a search is running already', 'Stop it first, or wait for its end.');
    if (!Object.values(of.sites).some((result) => result.status === 'measured')) return refuse('E-RUN-06', `How much is needed: expected measured cells of ${recipeName(of.recipe, of.options)}, got none`, 'Run the probe first.');
    const fault = costFaultOf(of, choice) ?? solveFaultOf(of, plan, choice);
    const [asked, line] = [questionOf(of, choice), frontierOf(of, plan, choice)];
    if (fault || !asked || !line) return fault ? refuse(fault.name, fault.message, fault.hint) : null;
    return runner.isReady() ? { of, plan, asked, line } : null;
  };

  return {
    /** Searches under the plan's locks and the chosen cost; resolves when it is over. */
    async howMuch(targetDeg: number): Promise<void> {
      const choice = costChoiceOf(view.getState());
      const search = begin(targetDeg, choice);
      const table = search && costOf(search.of, choice);
      if (!search || !table) return;
      const { of, plan, line, asked } = search;
      facts.setState({ howMuch: { key: of.key, targetDeg, status: 'running', steps: [], best: null, isSettled: false, costRange: null, figureRange: null, plan: null, batches: [], reason: null, costKind: table.kind, costName: table.name } });
      const end = async (part: Pick<HowMuchState, 'status' | 'best'> & Partial<HowMuchState>): Promise<void> => {
        const found = part.best && planAt(plan, line, part.best.index);
        update({ ...part, plan: found });
        if (found && isSameKey(shown().key, of.key)) view.setState({ preview: found });
        const state = facts.getState().howMuch;
        const aimed = part.best ?? state?.steps.findLast((step) => step.status === 'measured');
        if (!aimed) return;
        // Dozens of solves: the result is drawn first.
        await new Promise((resolve) => setTimeout(resolve));
        const joint = found && jointOf(shownUnder(shown(), of), found)?.result;
        const batches = await attempt(() => Promise.resolve(batchesNeeded({ asked, plan, limit: { angleDeg: aimed.aimedDeg }, joint: joint ?? null })));
        if (batches && facts.getState().howMuch === state) update({ batches });
      };
      try {
        const { best, isSettled, costRange } = await howMuch(line, targetDeg, measureWith(search, targetDeg, table.figureOf));
        await end({ status: 'done', best, isSettled, costRange, figureRange: costRange && [table.figureOf(costRange[0]), table.figureOf(costRange[1])] });
      } catch (thrown) {
        const { name, message } = toPlainError(thrown);
        await end({ best: bestOf(facts.getState().howMuch?.steps ?? []), ...(thrown instanceof Stopped ? { status: 'stopped' } : { status: 'failed', reason: `${name}: ${message}` }) });
      }
    },

    /** Takes the plan that was found in hand, one undo step; locked cells stay. */
    applyHowMuch(): void {
      const { howMuch: found, graph } = facts.getState();
      const { plan, recipe } = document.getState();
      if (!plan || !graph || !found?.plan) return;
      if (!isSameKey(shown().key, found.key)) {
        notify(facts, { kind: 'warning', name: '', message: 'This was found under another recipe, other switches or another text.', hint: 'Choose them again, then take it over.' });
        return;
      }
      const next = withFormats(plan, found.plan.formats);
      withCells(() => countDifferences({ graph, recipe }, plan, next) > 0 && take(next, `what ${formatDegrees(found.targetDeg)} need`));
    },
  };
}

/** The cheapest measured plan that meets the target. */
function bestOf(steps: readonly HowMuchTry[]): HowMuchStep | null {
  const met = steps.flatMap((step) => (step.status === 'measured' && step.meets ? [step] : []));
  return met.sort((a, b) => a.index - b.index)[0] ?? null;
}
