/** Time left, by a clock and facts that the test moves: one reckoning, however many show it. */
import { expect, it } from 'vitest';
import { createFactsStore, type FactsState } from '../../state';
import { createTimeLeft } from './time-left';

type Run = NonNullable<FactsState['run']>;
const RUN: Run = { kind: 'probe', what: 'NVFP4', runId: 'r', status: 'running', phase: '', recipe: 'nvfp4', key: { text: '', recipe: '' }, measuring: null, part: 'isolated', rounds: 1, done: 0, total: 10, startedAtMs: 0 };

function clocked() {
  const facts = createFactsStore();
  let atMs = 0;
  const timeLeft = createTimeLeft(facts, () => atMs);
  const at = (ms: number, part: Partial<Run> | null): string => {
    atMs = ms;
    facts.setState({ run: part === null ? null : { ...RUN, ...part } });
    return timeLeft.words();
  };
  return { facts, timeLeft, at };
}

it('is known after two cells, is that of their pace, and ends with the run', () => {
  const { timeLeft, at } = clocked();
  timeLeft.subscribe(() => undefined);
  expect([at(0, { done: 0 }), at(2000, { done: 1 }), at(4000, { done: 2, rounds: 2 }), at(4100, { done: 2, status: 'paused' }), at(5000, null)]).toEqual([
    '', ', 18.0 s left', ', at least 16.0 s left', '', '',
  ]);
});

it('starts anew with another run, and says nothing of a joint one', () => {
  const { timeLeft, at } = clocked();
  timeLeft.subscribe(() => undefined);
  at(0, { done: 0 });
  at(2000, { done: 1 });
  expect([at(2001, { runId: 's', done: 5 }), at(3001, { runId: 's', done: 6 }), at(4000, { runId: 't', kind: 'joint', done: 1 })]).toEqual(['', ', 4.00 s left', '']);
});

it('is followed once for all who listen, and by nobody without one', () => {
  const { facts, timeLeft, at } = clocked();
  let [followers, told] = [0, 0];
  const subscribe = facts.subscribe;
  facts.subscribe = (listener) => {
    followers += 1;
    const stop = subscribe(listener);
    return () => {
      followers -= 1;
      stop();
    };
  };
  const stops = [timeLeft.subscribe(() => (told += 1)), timeLeft.subscribe(() => (told += 1))];
  expect(followers).toBe(1);
  at(0, { done: 0 });
  at(2000, { done: 1 });
  expect(told).toBe(2);
  stops.forEach((stop) => stop());
  expect(followers).toBe(0);
});
