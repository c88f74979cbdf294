/**
 * The newest of many asks, once a frame: a mouse may report a thousand moves a second, and a move costs a solve and a
 * drawing. What is asked last is what counts; a release must `flush`, so that nothing is drawn after it.
 */
export interface Frame {
  /** Runs with the next frame, unless something newer is asked before. */
  ask(run: () => void): void;
  /** Runs at once what waits. */
  flush(): void;
  /** Forgets what waits. */
  drop(): void;
}

/** `request` and `cancel` are the browser's by default. A hidden tab has no frames: what waits then waits for `flush`. */
export function createFrame(request: (run: () => void) => number = (run) => requestAnimationFrame(run), cancel: (frame: number) => void = (frame) => cancelAnimationFrame(frame)): Frame {
  let waiting: (() => void) | null = null;
  let frame = 0;
  const flush = (): void => {
    const run = waiting;
    drop();
    run?.();
  };
  const drop = (): void => {
    if (waiting !== null) cancel(frame);
    waiting = null;
  };
  return {
    ask(run) {
      const isAsked = waiting !== null;
      waiting = run;
      if (!isAsked) frame = request(flush);
    },
    flush,
    drop,
  };
}
