/**
 * What a check is, and how one fails: by throwing a line of text. Checks share a bench (device, one recorded model run),
 * never each other's results, so one failure hides no other.
 */
import { BendscopeError } from '../../base/errors';
import { runKernel } from '../../gpu/run-kernel';
import type { Gpu } from '../../gpu/gpu';
import { KERNELS, type KernelName } from '../kernels';
import type { Recording, Replay } from './recording';

/** The shape the page shows (src/bridge CheckResult). */
export interface CheckLike {
  readonly name: string;
  readonly passed: boolean;
  /** One line: what was compared and the worst difference, or what is wrong. */
  readonly detail: string;
}

export interface Bench {
  readonly gpu: Gpu;
  /** The reference run of the tiny model, every value read back; made once. */
  recording(): Promise<Recording>;
  /** What was run again after it: the same run, resumed runs, low-precision passes. */
  replay(): Promise<Replay>;
}

export interface Check {
  /** Short, as it stands in the refusal: `softmax backward`. */
  readonly name: string;
  /** -> one line of detail; throws to fail. */
  run(bench: Bench): Promise<string>;
}

/** Why a check failed. `consequence`: nothing but zeros or NaN arrived, so what made them is at fault, not what was checked. */
export class CheckFailure extends BendscopeError {
  readonly consequence: boolean;

  constructor(detail: string, consequence: boolean) {
    super('E-GPU-14', detail, 'Measurements are not offered on this device.');
    this.consequence = consequence;
  }
}

/** Fails the running check with this line. */
export function fail(detail: string, consequence = false): never {
  throw new CheckFailure(detail, consequence);
}

/** Runs a kernel on words; the words of its last binding come back. A number among the buffers is a byte count of zeros. */
export async function kernelWords(
  gpu: Gpu, kernel: KernelName, constants: Readonly<Record<string, number>>, params: ArrayBufferView, buffers: readonly (ArrayBufferView | number)[], invocations: number,
): Promise<Uint32Array> {
  const out = await runKernel(gpu, { row: KERNELS[kernel], constants, params, buffers, invocations });
  return new Uint32Array(out[out.length - 1] ?? new ArrayBuffer(0));
}
