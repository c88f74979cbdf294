/**
 * How long a run still takes, from the pace of its last cells. Cells that come back from the store arrive at once and say
 * nothing about this GPU, so the pace is that of recent arrivals, not of the whole run.
 */
export interface Arrival {
  readonly done: number;
  readonly atMs: number;
}

/** Arrivals kept: the pace follows a GPU that other work slows down. */
const WINDOW = 12;
/** Cells closer together than this came from the store. */
const STORED_GAP_MS = 4;

/** The arrivals with one more; a count that does not grow starts anew (another run). */
export function addArrival(arrivals: readonly Arrival[], next: Arrival): readonly Arrival[] {
  const last = arrivals.at(-1);
  if (!last || next.done < last.done) return [next];
  if (next.done === last.done) return arrivals;
  const perCell = (next.atMs - last.atMs) / (next.done - last.done);
  if (perCell < STORED_GAP_MS) return [next];
  return [...arrivals, next].slice(-WINDOW);
}

/** Milliseconds left at that pace; null until two measured cells have arrived. */
export function remainingMs(arrivals: readonly Arrival[], total: number): number | null {
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (!first || !last || last.done <= first.done) return null;
  return ((last.atMs - first.atMs) / (last.done - first.done)) * Math.max(0, total - last.done);
}
