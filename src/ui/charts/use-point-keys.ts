/** Points of a chart by key: one tab stop for all, arrows from one to the next, Home and End, Enter and Space press. */
import { useState, type KeyboardEvent } from 'react';

/** Which of `count` points a key goes to from the one at `at`; null for a key that goes nowhere. No wrapping. */
export function pointAt(key: string, at: number, count: number): number | null {
  const last = count - 1;
  return { ArrowRight: Math.min(last, at + 1), ArrowLeft: Math.max(0, at - 1), Home: 0, End: last }[key] ?? null;
}

/** Attributes of each point by its id. `ids` in the order of the arrows; the points are siblings, each with `data-point`. */
export function usePointKeys(ids: readonly string[], onPress: (id: string) => void, onFocus: (id: string | null) => void) {
  const [stop, setStop] = useState<string | null>(null);
  const tabStop = stop !== null && ids.includes(stop) ? stop : (ids[0] ?? null);
  return (id: string) => ({
    'data-point': id,
    tabIndex: id === tabStop ? 0 : -1,
    onFocus(): void {
      setStop(id);
      onFocus(id);
    },
    onBlur: (): void => onFocus(null),
    onKeyDown(event: KeyboardEvent<SVGElement>): void {
      const to = pointAt(event.key, ids.indexOf(id), ids.length);
      if (to !== null) event.currentTarget.parentElement?.querySelector<SVGElement>(`[data-point="${CSS.escape(ids[to] ?? '')}"]`)?.focus();
      else if (event.key === 'Enter' || event.key === ' ') onPress(id);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  });
}
