/** What a run of a session is asked for and what it gives: plain data between the engine and the probe. */
import type { Policy, SiteId } from '../graph/policy';
import type { TensorSums } from './comparison';
import type { Flip } from './compile';

export interface RunResult {
  readonly loss: number;
  readonly sums: ReadonlyMap<string, TensorSums>;
  /** |out_q - out|^2 / |out|^2 of the pass's own output, if asked for. */
  readonly localError: number | null;
  /** Inf and NaN elements of quantized operands; their codes cannot show them, so a run that has some is void. */
  readonly nonFiniteOperands: number;
  readonly executedSteps: number;
}

export interface Variant {
  readonly policy?: Policy;
  readonly flip?: Flip;
  readonly localErrorOf?: SiteId;
  /** Execute every step instead of the dirty ones: the test of exactness. */
  readonly full?: boolean;
}
