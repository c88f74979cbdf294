/** What a run of a session is asked for and what it gives: plain data between the engine and the probe. */
import type { Policy, RandomDraw, SiteId } from '../graph/policy';
import type { OutputSums, TensorSums } from './comparison';
import type { Flip } from './compile';

export interface RunResult {
  readonly loss: number;
  readonly sums: ReadonlyMap<string, TensorSums>;
  /** |out_q - out|^2 / |out|^2 of the pass's own output, if asked for. */
  readonly localError: number | null;
  /** The sums it is of, and with the gradient that arrives there. */
  readonly output: OutputSums | null;
  /** Inf and NaN elements of quantized operands; their codes cannot show them, so a run that has some is void. */
  readonly nonFiniteOperands: number;
  readonly executedSteps: number;
}

export interface Variant {
  readonly policy?: Policy;
  readonly flip?: Flip;
  /** Which random numbers stochastic rounding takes; the first draw of step 0 by default. */
  readonly random?: RandomDraw;
  readonly localErrorOf?: SiteId;
  /** Keep the shift g - g* of this run in this shift set, for `Session.readGram`. */
  readonly keepShift?: number;
  /** Execute every step instead of the dirty ones: the test of exactness. */
  readonly full?: boolean;
}
