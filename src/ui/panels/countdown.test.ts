/** A notice's time, by a clock that the test moves. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { countdown } from './countdown';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('runs out once, and not after it was stopped', () => {
  const done = vi.fn();
  countdown(6000, done);
  const stopped = countdown(6000, done);
  vi.advanceTimersByTime(5999);
  stopped.stop();
  stopped.release();
  expect(done).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(done).toHaveBeenCalledOnce();
});

it('stands still while it is pointed at or has the focus, and then has what was left', () => {
  const done = vi.fn();
  const time = countdown(6000, done);
  vi.advanceTimersByTime(2000);
  time.hold();
  vi.advanceTimersByTime(60_000);
  time.hold();
  time.release();
  vi.advanceTimersByTime(60_000);
  expect(done).not.toHaveBeenCalled();
  time.release();
  vi.advanceTimersByTime(3999);
  expect(done).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(done).toHaveBeenCalledOnce();
});

it('leaves a moment to a reader who let go at its very end', () => {
  const done = vi.fn();
  const time = countdown(6000, done);
  vi.advanceTimersByTime(5990);
  time.hold();
  time.release();
  vi.advanceTimersByTime(1499);
  expect(done).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(done).toHaveBeenCalledOnce();
});
