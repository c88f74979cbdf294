/**
 * The memory ledger: bytes of a run by what they are for, predicted from the graph alone so that the page can show them
 * before Run; the engine fills the same shape from the buffers it really made, and a test holds the two together.
 */
import type { FormatName } from '../numerics/formats';

export interface Ledger {
  /** Parameters: FP32 masters and BF16 GEMM operands. */
  readonly weightBytes: number;
  /** Activations that a run keeps for its backward pass, by the format they are stored in, scales included. */
  readonly activationBytes: Readonly<Partial<Record<FormatName | 'FP32', number>>>;
  /** Activation gradients. */
  readonly gradientBytes: number;
  readonly parameterGradientBytes: number;
  /** Working buffers of single steps, partial sums, token ids. */
  readonly scratchBytes: number;
  readonly totalBytes: number;
}
