/** Time left of the running probe, from the pace of its last cells. */
import { useEffect, useState } from 'react';
import { useFacts, useWorkbench } from '../workbench';
import { addArrival, remainingMs, type Arrival } from './eta';

export function useRemainingMs(): number | null {
  const { facts } = useWorkbench();
  const total = useFacts((f) => f.run?.total ?? 0);
  const isProbe = useFacts((f) => f.run?.kind === 'probe');
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
  return isProbe ? remainingMs(arrivals, total) : null;
}
