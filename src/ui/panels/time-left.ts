/** Time left of the running probe in words, from the pace of its last cells: reckoned once for all who show it. */
import { formatDuration } from '../../base/units';
import type { FactsState } from '../../state';
import { addArrival, remainingMs, type Arrival } from './eta';

interface Facts {
  getState(): Pick<FactsState, 'run'>;
  subscribe(changed: (now: Pick<FactsState, 'run'>) => void): () => void;
}

export interface TimeLeft {
  /** ", 3 min left"; ", at least 3 min left" while cells left out, which take longer, are still to come; '' when not known. */
  words(): string;
  /** Called when the words may have changed; arrivals are followed while somebody listens. */
  subscribe(changed: () => void): () => void;
}

/** `now`: milliseconds of a clock. */
export function createTimeLeft(facts: Facts, now: () => number = Date.now): TimeLeft {
  const listeners = new Set<() => void>();
  let runId: string | null = null;
  let arrivals: readonly Arrival[] = [];
  let said = '';
  let stop: (() => void) | null = null;

  const follow = ({ run }: Pick<FactsState, 'run'>): void => {
    if (run !== null) {
      const next = { done: run.done, atMs: now() };
      // A pause is no pace.
      arrivals = run.runId !== runId || run.status === 'paused' ? [next] : addArrival(arrivals, next);
      runId = run.runId;
    }
    const remaining = run?.kind === 'probe' && run.status === 'running' ? remainingMs(arrivals, run.total) : null;
    const words = remaining === null || run === null ? '' : `, ${run.rounds === 2 && run.part === 'isolated' ? 'at least ' : ''}${formatDuration(remaining)} left`;
    if (words === said) return;
    said = words;
    listeners.forEach((changed) => changed());
  };
  return {
    words: () => said,
    subscribe(changed) {
      listeners.add(changed);
      stop ??= facts.subscribe(follow);
      return () => {
        listeners.delete(changed);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}
