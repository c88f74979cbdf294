/**
 * The logic of a budget handle (ux.md 3.4): every position is one plan that no other one beats, so a handle can only rest
 * where a cell flips. Where the frontier holds every such plan it is taken from there; where it does not (thousands of
 * sites), each position is solved for itself. Moving shows the plan without committing it; one release is one undo step;
 * Esc takes it back.
 */
import { useRef, useState } from 'react';
import { bendAtMost, spendAtMost, type ChoiceFrontier, type FrontierPoint } from '../../allocate/frontier';
import { planAt, withSolution, type Plan } from '../../allocate/plan';
import type { Limit } from '../../allocate/within';
import type { SiteId } from '../../graph/policy';
import { costChoiceOf, costSumOf, countDifferences, frontierOf, shownNow, withinOf, type CostChoice, type Shown } from '../../state';
import { useWorkbench } from '../workbench';

export interface Budget {
  /** Under the current locks; null without costs, or where locks contradict each other. */
  line(): ChoiceFrontier | null;
  /** A plan of this handle is shown and not yet committed. */
  readonly isMoving: boolean;
  /** To the best plan within a cost (in the table's unit) or an angle. */
  moveTo(limit: Limit): void;
  /** To a point of the frontier. */
  moveToPoint(index: number): void;
  /** One flip towards more (+) or less (-) high precision, five, or to an end; fine: also between the points of a frontier that is not complete. */
  step(by: number, isFine?: boolean): void;
  commit(label: (point: FrontierPoint) => string): void;
  cancel(): void;
}

interface Stop {
  readonly point: FrontierPoint;
  readonly plan: Plan;
}

/** What a handle moves along, as the stores are now. */
interface Asked {
  readonly shown: Shown;
  readonly plan: Plan;
  readonly choice: CostChoice;
  readonly line: ChoiceFrontier;
}

/** Parts of the way to the next point that a fine step takes. */
const FINE_PARTS = 10;

/** `part`: the row or layer the handle belongs to; without it the whole plan. `own`: another cost than the chosen one. */
export function useBudget(part?: ReadonlySet<SiteId>, own?: CostChoice): Budget {
  const { actions, document, facts, view } = useWorkbench();
  const [isMoving, setMoving] = useState(false);
  // Gestures read the newest stop before React has rendered it.
  const now = useRef<Stop | null>(null);

  const ask = (): Asked | null => {
    const { plan } = document.getState();
    const shown = shownNow({ facts, document });
    const choice = own ?? costChoiceOf(view.getState());
    const line = plan && frontierOf(shown, plan, choice, part);
    return plan && line ? { shown, plan, choice, line } : null;
  };
  const show = (point: FrontierPoint, planOf: () => Plan): void => {
    if (now.current !== null && now.current.point.cost === point.cost && now.current.point.tan2 === point.tan2) return;
    now.current = { point, plan: planOf() };
    setMoving(true);
    actions.preview(now.current.plan);
  };
  const moveToPoint = (index: number): void => {
    const asked = ask();
    if (!asked) return;
    const { plan, line } = asked;
    const clamped = Math.min(line.points.length - 1, Math.max(0, index));
    show(line.points[clamped]!, () => planAt(plan, line, clamped, part));
  };
  const solve = ({ shown, plan, choice }: Asked, limit: Limit): void => {
    const solution = withinOf(shown, plan, choice, limit, part);
    if (solution) show(solution.point, () => withSolution(plan, solution.formats, part));
  };
  const moveTo = (limit: Limit): void => {
    const asked = ask();
    if (!asked) return;
    const { line } = asked;
    if (!line.complete) solve(asked, limit);
    else moveToPoint(('cost' in limit ? spendAtMost(line, limit.cost) : bendAtMost(line, limit.angleDeg)).index);
  };
  const fineStep = (asked: Asked, cost: number, by: number): void => {
    const { points } = asked.line;
    const after = points.find((point) => point.cost > cost);
    const before = points.findLast((point) => point.cost < cost);
    const way = by > 0 ? (after?.cost ?? cost) - cost : cost - (before?.cost ?? cost);
    if (way === 0) return;
    const from = now.current?.point;
    // The best plan within a little more may be the same one: then a little more again.
    for (let k = 1; k <= FINE_PARTS; k++) {
      solve(asked, { cost: cost + (Math.sign(by) * k * way) / FINE_PARTS });
      if (now.current?.point !== from) return;
    }
  };
  const done = (): void => {
    now.current = null;
    setMoving(false);
  };
  return {
    line: () => ask()?.line ?? null,
    isMoving,
    moveTo,
    moveToPoint,
    step(by, isFine = false) {
      const asked = ask();
      if (!asked) return;
      const { shown, plan, choice, line } = asked;
      const cost = now.current?.point.cost ?? costSumOf(shown, plan, choice, part) ?? 0;
      if (isFine && !line.complete && Number.isFinite(by)) return fineStep(asked, cost, by);
      const from = spendAtMost(line, cost).index;
      // Off the line the nearest cheaper point is already one step down.
      const isOff = (line.points[from]?.cost ?? 0) < cost;
      moveToPoint(from + by + (isOff && by < 0 ? 1 : 0));
    },
    commit(label) {
      const stop = now.current;
      if (stop === null) return;
      done();
      const { plan } = document.getState();
      if (plan && countDifferences(shownNow({ facts, document }), plan, stop.plan) > 0) actions.commitPlan(stop.plan, label(stop.point));
      else actions.preview(null);
    },
    cancel() {
      if (now.current === null) return;
      done();
      actions.preview(null);
    },
  };
}
