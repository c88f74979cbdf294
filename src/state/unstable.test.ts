/**
 * Unstable cells, computed a solve at a time while the page is idle: exactly those of one call of the allocator, only after
 * plan and evidence are at rest, and nothing left over from a plan that was changed meanwhile.
 */
import { describe, expect, it } from 'vitest';
import { costChoiceOf, hashOfPlan, OWN_COST, questionOf, unstableOf, watchUnstable, withinOf, type Idle } from '.';
import { costedSites } from '../allocate/cost';
import { costTable } from '../allocate/costs';
import { offeredChoices } from '../allocate/offers';
import { withFormats } from '../allocate/plan';
import { FLIPS_TO_FLAG, noiseWidth, SOLVES } from '../allocate/unstable';
import { countFlips } from '../allocate/unstable-fixture';
import type { Limit } from '../allocate/within';
import type { SiteFormat } from '../graph/policy';
import { allMeasured, ALL_SITES, createPage, createRunningPage, FULL, GRAPH, measured } from './page-fixture';
import { REST_MS } from './unstable';

/** Time and idle slices as the test gives them. */
function handIdle() {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const slices = new Set<(hasTime: () => boolean) => void>();
  const idle: Idle = {
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    slice(run) {
      slices.add(run);
      return () => slices.delete(run);
    },
  };
  return {
    idle,
    pass(ms: number): void {
      now += ms;
      for (const timer of [...timers]) if (timer.at <= now && timers.delete(timer)) timer.run();
    },
    /** Slices that have time for `solves` solves each; how many there were until none was asked for. */
    work(solves = 1, most = Infinity): number {
      let done = 0;
      for (let next = [...slices][0]; next !== undefined && done < most; next = [...slices][0]) {
        slices.delete(next);
        let left = solves;
        next(() => --left > 0);
        done += 1;
      }
      return done;
    },
    waiting: () => timers.size + slices.size,
  };
}

function watchedPage() {
  const page = createPage({ record: FULL });
  page.actions.addStored({ ...FULL, recipe: 'mxfp8', sites: allMeasured('mxfp8', 0.12) });
  const hand = handIdle();
  const watch = watchUnstable(page, hand.idle);
  page.actions.setLocked(ALL_SITES.slice(3, 5), true);
  solve(page, { cost: 20 });
  return { ...page, ...hand, watch };
}

/** Takes the solver's plan in hand. */
function solve({ actions, document, shown }: ReturnType<typeof createPage>, limit: Limit): void {
  const plan = document.getState().plan!;
  actions.commitPlan(withFormats(plan, withinOf(shown(), plan, OWN_COST, limit)!.formats), 'budget');
}

/** All in one go, by the allocator's own parts. */
function inOneGo({ document, shown }: ReturnType<typeof watchedPage>): ReadonlyMap<string, number> {
  const { plan, second } = document.getState();
  const sites = costedSites(GRAPH, 'nvfp4');
  const { sites: results, floor, others } = shown();
  const evidence = { sites: results, floor, byFormat: { ...others, nvfp4: results } };
  const low = [...(second === null ? [] : [{ format: second, evidence }]), { format: 'nvfp4', evidence } as const];
  const locks = Object.fromEntries(Object.keys(plan!.locked).map((id): [string, SiteFormat] => [id, plan!.formats[id]!]));
  const costs = costTable(GRAPH, sites, low.map(({ format }) => format), {}, { kind: 'gemm' });
  return countFlips(offeredChoices(sites, low, costs, locks), [], plan!.formats, noiseWidth(sites, low));
}

describe('unstable cells', () => {
  it('are those of one call, however the work is cut, and no cell before the last solve', () => {
    for (const solves of [1, 7, 1000]) {
      const page = watchedPage();
      expect([page.work(), page.facts.getState().unstable]).toEqual([0, null]);
      page.pass(REST_MS - 1);
      expect(page.work()).toBe(0);
      page.pass(1);
      expect(page.work(solves, Math.ceil(SOLVES / solves) - 1)).toBe(Math.ceil(SOLVES / solves) - 1);
      expect(unstableOf(page.shown(), page.view.getState()).size).toBe(0);
      page.work(solves);
      const expected = inOneGo(page);
      expect(page.facts.getState().unstable).toEqual({ ofHash: hashOfPlan(page.shown(), page.document.getState().plan!), flips: expected });
      const flagged = [...expected].filter(([, flips]) => flips >= FLIPS_TO_FLAG).map(([id]) => id);
      expect(flagged.length).toBeGreaterThan(0);
      expect(flagged.length).toBeLessThan(ALL_SITES.length);
      expect([...unstableOf(page.shown(), page.view.getState())]).toEqual(flagged);
      expect(unstableOf(page.shown(), page.view.getState())).toBe(unstableOf(page.shown(), page.view.getState()));
      expect(page.waiting()).toBe(0);
    }
  });

  it('of two formats a cell take each format\'s own angles and errors', () => {
    const page = watchedPage();
    page.actions.setSecond('mxfp8');
    solve(page, { angleDeg: 2 });
    page.pass(REST_MS);
    page.work(3);
    expect(page.facts.getState().unstable?.flips).toEqual(inOneGo(page));
    expect(page.facts.getState().unstable!.flips.size).toBeGreaterThan(0);
  });

  it('are unknown as soon as plan, locks, costs or evidence change, and work on the old ones ends', () => {
    const page = watchedPage();
    const { actions, facts } = page;
    const changes: readonly (() => void)[] = [
      () => actions.setFormats([ALL_SITES[0]!], 'bf16'), () => actions.setLocked([ALL_SITES[1]!], true), () => actions.setCost('time'), () => actions.undo(),
      () => actions.setRecipe('nvfp4', { rht: true }), () => actions.setRecipe('nvfp4', {}),
    ];
    const known = changes.map((change) => {
      page.pass(REST_MS);
      page.work(50);
      const before = facts.getState().unstable;
      change();
      expect(facts.getState().unstable).toBeNull();
      page.pass(REST_MS / 2);
      expect(page.work()).toBe(0);
      page.pass(REST_MS / 2);
      page.work(1, 3);
      return before !== null;
    });
    // Under the Hadamard transform nothing is measured.
    expect(known).toEqual([true, true, true, true, true, false]);
    // In mid-work: nothing of it is left.
    actions.setFormats([ALL_SITES[2]!], 'bf16');
    expect([page.work(), facts.getState().unstable]).toEqual([0, null]);
  });

  it('stay while what is looked at changes, and wait while a plan is under the hand', () => {
    const page = watchedPage();
    page.pass(REST_MS);
    page.work(10, 2);
    page.actions.preview({ ...page.document.getState().plan! });
    expect([page.work(10), page.facts.getState().unstable]).toEqual([1, null]);
    page.actions.preview(null);
    page.pass(REST_MS);
    page.work(10);
    const { unstable } = page.facts.getState();
    expect(unstable?.flips).toEqual(inOneGo(page));
    page.view.setState({ hovered: ALL_SITES[0]!, dock: 'log' });
    page.actions.tell('a word');
    page.actions.rename('another name');
    expect(page.facts.getState().unstable).toBe(unstable);
    page.actions.preview({ ...page.document.getState().plan! });
    expect(unstableOf(page.shown(), page.view.getState()).size).toBe(0);
  });

  it('are not asked for while nothing is measured, while cells come in, and after the watch has ended', async () => {
    const page = await createRunningPage({ record: { ...FULL, sites: {} } });
    const hand = handIdle();
    const watch = watchUnstable(page, hand.idle);
    expect([questionOf(page.shown(), costChoiceOf(page.view.getState())) === null, hand.waiting()]).toEqual([false, 0]);
    for (const id of ALL_SITES) {
      page.run().say({ kind: 'site', site: id, result: measured(1), done: 1, total: 24 });
      hand.pass(REST_MS - 1);
      expect(hand.work()).toBe(0);
    }
    watch.stop();
    hand.pass(REST_MS);
    page.actions.setFormats([ALL_SITES[0]!], 'bf16');
    expect([hand.work(), hand.waiting(), page.facts.getState().unstable]).toEqual([0, 0, null]);
  });
});
