/** Pause, resume and cancel of one run, heard between submissions: the executor awaits `checkpoint`. */
import { BendscopeError } from '../base/errors';

export const CANCELLED = 'E-RUN-03';

export class RunControl {
  #cancelled = false;
  #resume: (() => void) | null = null;
  #paused: Promise<void> | null = null;

  readonly checkpoint = async (): Promise<void> => {
    if (this.#paused) await this.#paused;
    if (this.#cancelled) throw new BendscopeError(CANCELLED, 'The run was stopped.', 'Measured cells are kept; run again to continue.');
  };

  pause(): void {
    this.#paused ??= new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resume?.();
    this.#paused = null;
    this.#resume = null;
  }

  cancel(): void {
    this.#cancelled = true;
    this.resume();
  }
}
