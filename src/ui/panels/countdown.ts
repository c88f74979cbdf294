/** A notice's time to live, which stands still while it is pointed at or has the focus. */
export interface Countdown {
  /** Stands still until `release`. Held twice, it must be released twice. */
  hold(): void;
  release(): void;
  stop(): void;
}

/** A reader who has just let go is not cut off: at least this is left. */
const LEAST_LEFT_MS = 1500;

/** Calls `done` once `afterMs` have run. */
export function countdown(afterMs: number, done: () => void): Countdown {
  let left = afterMs;
  let holds = 0;
  let startedAt = Date.now();
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const run = (): void => {
    startedAt = Date.now();
    timer = setTimeout(() => {
      isOver = true;
      done();
    }, left);
  };
  const rest = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  run();
  return {
    hold() {
      holds += 1;
      if (holds > 1) return;
      rest();
      left = Math.max(LEAST_LEFT_MS, left - (Date.now() - startedAt));
    },
    release() {
      holds = Math.max(0, holds - 1);
      if (holds === 0 && timer === null && !isOver) run();
    },
    stop() {
      isOver = true;
      rest();
    },
  };
}
