/** Time that the page has to spare: what the browser gives where it says so, else short slices between its tasks. */

/** Each call returns what takes it back. */
export interface Idle {
  after(ms: number, run: () => void): () => void;
  /** `hasTime`: whether the slice may go on. */
  slice(run: (hasTime: () => boolean) => void): () => void;
}

/** Of a slice where the browser does not say how long it may be. */
const SLICE_MS = 6;

export function browserIdle(): Idle {
  const after = (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  };
  if (typeof requestIdleCallback === 'undefined') {
    return { after, slice: (run) => after(1, () => { const end = performance.now() + SLICE_MS; run(() => performance.now() < end); }) };
  }
  return {
    after,
    slice(run) {
      const handle = requestIdleCallback((deadline) => run(() => deadline.timeRemaining() > 1));
      return () => cancelIdleCallback(handle);
    },
  };
}
