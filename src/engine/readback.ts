/**
 * One staging buffer, mapped once a run: partial sums, loss rows and the count of non-finite operands together, because a
 * map costs 5-15 ms (engine.md 3.2).
 */
import type { Gpu } from '../gpu/gpu';

export class Readback {
  #gpu: Gpu;
  #staging: GPUBuffer;
  #sumBytes: number;

  /** staging: for the sums, the loss rows and 16 bytes; its owner frees it. */
  constructor(gpu: Gpu, staging: GPUBuffer, sumBytes: number) {
    this.#gpu = gpu;
    this.#staging = staging;
    this.#sumBytes = sumBytes;
  }

  async read(sums: GPUBuffer, stats: GPUBuffer, statBytes: number, alpha: GPUBuffer | null): Promise<{ sums: Float32Array; stats: Float32Array; nonFiniteOperands: number }> {
    const { device } = this.#gpu;
    const encoder = device.createCommandEncoder({ label: 'readback' });
    encoder.copyBufferToBuffer(sums, 0, this.#staging, 0, this.#sumBytes);
    encoder.copyBufferToBuffer(stats, 0, this.#staging, this.#sumBytes, statBytes);
    const tail = this.#sumBytes + statBytes;
    if (alpha) encoder.copyBufferToBuffer(alpha, 0, this.#staging, tail, 16);
    device.queue.submit([encoder.finish()]);
    await this.#staging.mapAsync(GPUMapMode.READ).catch((cause: unknown) => {
      throw this.#gpu.lostError('reading a result', cause);
    });
    const bytes = this.#staging.getMappedRange().slice(0);
    this.#staging.unmap();
    return {
      sums: new Float32Array(bytes, 0, this.#sumBytes / 4),
      stats: new Float32Array(bytes, this.#sumBytes, statBytes / 4),
      nonFiniteOperands: alpha ? (new Uint32Array(bytes, tail, 4)[1] ?? 0) : 0,
    };
  }
}
