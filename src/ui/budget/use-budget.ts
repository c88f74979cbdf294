/**
 * The logic of a budget handle (ux.md 3.4): every position is one efficient plan of the solver, so a handle can only rest
 * where a cell flips. Moving shows the plan without committing it; one release is one undo step; Esc takes it back.
 */
import { useRef, useState } from 'react';
import { bendAtMost, spendAtMost, type ChoiceFrontier, type FrontierLine } from '../../allocate/frontier';
import { differences, type Plan } from '../../allocate/plan';
import type { SiteId } from '../../graph/policy';
import { costChoiceOf, costSumOf, frontierOf, shownNow, sitesOf } from '../../state';
import { useWorkbench } from '../workbench';

export interface Budget {
  readonly frontier: () => ChoiceFrontier | null;
  /** Index of the previewed point, null while nothing is moved. */
  readonly moving: number | null;
  /** Point at or below the committed plan's cost; the plan itself may lie off the line. */
  readonly committed: () => number;
  moveTo(index: number): void;
  /** One flip towards more (+1) or less (-1) high precision, or five, or to an end. */
  step(by: number): void;
  commit(label: (frontier: ChoiceFrontier, index: number) => string): void;
  cancel(): void;
}

/** `part`: the row or layer the handle belongs to; without it the whole plan. */
export function useBudget(part?: ReadonlySet<SiteId>): Budget {
  const { actions, document, facts, view } = useWorkbench();
  const [moving, setMoving] = useState<number | null>(null);
  // Gestures read the newest index before React has rendered it.
  const now = useRef<number | null>(null);
  const shown = useRef<Plan | null>(null);

  const frontier = (): ChoiceFrontier | null => {
    const { plan } = document.getState();
    return plan ? frontierOf(shownNow({ facts, document }), plan, costChoiceOf(view.getState()), part) : null;
  };
  const committedCost = (): number => {
    const { plan } = document.getState();
    return (plan && costSumOf(shownNow({ facts, document }), plan, costChoiceOf(view.getState()), part)) ?? 0;
  };
  const committed = (): number => {
    const line = frontier();
    return line ? spendAtMost(line, committedCost()).index : 0;
  };
  const moveTo = (index: number): void => {
    const line = frontier();
    if (!line) return;
    const clamped = Math.min(line.points.length - 1, Math.max(0, index));
    if (clamped === now.current) return;
    now.current = clamped;
    setMoving(clamped);
    shown.current = actions.planAtPoint(clamped, part);
    actions.preview(shown.current);
  };
  const done = (): void => {
    now.current = null;
    shown.current = null;
    setMoving(null);
  };
  return {
    frontier,
    moving,
    committed,
    moveTo,
    step(by) {
      const line = frontier();
      if (!line) return;
      let from = now.current;
      if (from === null) {
        from = committed();
        // Off the line the nearest cheaper point is already one step down.
        const isOff = (line.points[from]?.cost ?? 0) < committedCost();
        if (isOff && by < 0) by += 1;
      }
      moveTo(from + by);
    },
    commit(label) {
      const line = frontier();
      const { plan, recipe } = document.getState();
      const { graph } = facts.getState();
      if (now.current === null) return;
      const next = shown.current;
      const index = now.current;
      done();
      if (line && plan && next && graph && differences(sitesOf(graph, recipe), plan.formats, next.formats).length > 0) actions.commitPlan(next, label(line, index));
      else actions.preview(null);
    },
    cancel() {
      if (now.current === null) return;
      done();
      view.setState({ preview: null });
    },
  };
}

/** Point for a budget, as a share 0..1 of the recipe's whole cost. */
export function pointForShare(line: FrontierLine, share: number): { readonly index: number; readonly feasible: boolean } {
  return spendAtMost(line, share * line.totalCost);
}

export function pointForAngle(line: FrontierLine, angleDeg: number): { readonly index: number; readonly feasible: boolean } {
  return bendAtMost(line, angleDeg);
}
