/** Time left of the running probe in words, from the pace of its last cells. */
import { useEffect, useState } from 'react';
import { formatDuration } from '../../base/units';
import { useFacts, useWorkbench } from '../workbench';
import { addArrival, remainingMs, type Arrival } from './eta';

/** ", 3 min left"; ", at least 3 min left" while cells left out, which take longer, are still to come; '' when not known. */
export function useTimeLeft(): string {
  const { facts } = useWorkbench();
  const run = useFacts((f) => f.run);
  const [arrivals, setArrivals] = useState<readonly Arrival[]>([]);
  useEffect(() => {
    let runId: string | null = null;
    return facts.subscribe(({ run }) => {
      if (!run) return;
      const next = { done: run.done, atMs: Date.now() };
      // A pause is no pace.
      if (run.runId !== runId || run.status === 'paused') setArrivals([next]);
      else setArrivals((known) => addArrival(known, next));
      runId = run.runId;
    });
  }, [facts]);
  const remaining = run?.kind === 'probe' && run.status === 'running' ? remainingMs(arrivals, run.total) : null;
  return remaining === null || run === null ? '' : `, ${run.rounds === 2 && run.part === 'isolated' ? 'at least ' : ''}${formatDuration(remaining)} left`;
}
