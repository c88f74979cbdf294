/** Time left of the running probe, for the components that show it. */
import { useSyncExternalStore } from 'react';
import { useWorkbench, type Workbench } from '../workbench';
import { createTimeLeft, type TimeLeft } from './time-left';

/** One for each page. */
const KNOWN = new WeakMap<Workbench['facts'], TimeLeft>();

function timeLeftOf(facts: Workbench['facts']): TimeLeft {
  const known = KNOWN.get(facts) ?? createTimeLeft(facts);
  KNOWN.set(facts, known);
  return known;
}

/** ", 3 min left", or '' where it is not known (time-left.ts). */
export function useTimeLeft(): string {
  const timeLeft = timeLeftOf(useWorkbench().facts);
  return useSyncExternalStore(timeLeft.subscribe, timeLeft.words);
}
