/** What tests of whole runs share: gpt2-nano on a small ragged batch, and a run's result as bits, so that equal means equal. */
import { builtIn } from '../cli/golden';
import { bitsOf } from '../numerics/float-bits';
import { unpackBf16, unpadRows } from './parameters';
import type { RunResult } from './run';
import type { BatchShape } from './values';

/** 26 tokens: no multiple of 4, 16 or 64 along any axis that a wgrad or the attention contracts. */
export const SHAPE: BatchShape = { sequences: 2, tokens: 13 };

export const { graph, params, batches } = builtIn('nano');

/** Batch k, cut to SHAPE. */
export function tokensOf(k: number): number[][] {
  return (batches[k] ?? []).slice(0, SHAPE.sequences).map((row) => row.slice(0, SHAPE.tokens + 1));
}

const f64 = new Float64Array(1);
const words = new Uint32Array(f64.buffer);
/** A float64 as its 16 hexadecimal digits: -0 and 0, and one NaN and another, are told apart. */
function hex(x: number): string {
  f64[0] = x;
  return [words[1] ?? 0, words[0] ?? 0].map((word) => word.toString(16).padStart(8, '0')).join('');
}

/** Everything a run reports but how many steps it took. */
export function bitsOfRun(run: RunResult): Record<string, string> {
  const out: Record<string, string> = { loss: hex(run.loss), localError: run.localError === null ? 'none' : hex(run.localError), nonFiniteOperands: `${run.nonFiniteOperands}`, output: JSON.stringify(run.output) };
  for (const [name, s] of run.sums) out[name] = [s.gg, s.rr, s.dd, s.dr, s.nonFinite].map(hex).join(' ');
  return out;
}

export function bitsOfGradient(gradient: ReadonlyMap<string, Float32Array>): Record<string, number[]> {
  return Object.fromEntries([...gradient].map(([name, values]) => [name, Array.from(values, bitsOf)]));
}

/** Device bytes of an activation under the BF16 reference -> FP32 values [N, cols]. */
export function bf16Tensor(bytes: ArrayBuffer, cols: number): Float32Array {
  return unpadRows(unpackBf16(new Uint32Array(bytes)), [SHAPE.sequences * SHAPE.tokens, cols]);
}
