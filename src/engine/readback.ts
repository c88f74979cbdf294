/**
 * One staging buffer, mapped once a run: partial sums, loss rows and the count of non-finite operands together, because a
 * map costs 5-15 ms (engine.md 3.2).
 */
import type { BufferSlice, Gpu } from '../gpu/gpu';

export class Readback {
  #gpu: Gpu;
  #staging: GPUBuffer;
  #sumBytes: number;

  /** staging: for the sums, the loss rows and 16 bytes at least; its owner frees it. */
  constructor(gpu: Gpu, staging: GPUBuffer, sumBytes: number) {
    this.#gpu = gpu;
    this.#staging = staging;
    this.#sumBytes = sumBytes;
  }

  /** stats: loss rows; null where the run has no loss to tell. */
  async read(sums: GPUBuffer, stats: BufferSlice | null, alpha: GPUBuffer | null): Promise<{ sums: Float32Array; stats: Float32Array; nonFiniteOperands: number }> {
    const { device } = this.#gpu;
    const statBytes = stats?.size ?? 0;
    const encoder = device.createCommandEncoder({ label: 'readback' });
    encoder.copyBufferToBuffer(sums, 0, this.#staging, 0, this.#sumBytes);
    if (stats) encoder.copyBufferToBuffer(stats.buffer, stats.offset, this.#staging, this.#sumBytes, statBytes);
    const tail = this.#sumBytes + statBytes;
    if (alpha) encoder.copyBufferToBuffer(alpha, 0, this.#staging, tail, 16);
    device.queue.submit([encoder.finish()]);
    const bytes = await this.#mapped(tail + 16, 'reading a result');
    return {
      sums: new Float32Array(bytes, 0, this.#sumBytes / 4),
      stats: new Float32Array(bytes, this.#sumBytes, statBytes / 4),
      nonFiniteOperands: alpha ? (new Uint32Array(bytes, tail, 4)[1] ?? 0) : 0,
    };
  }

  /** The first `bytes` of a buffer, in pieces of the staging buffer: a large gradient needs no second one of its size. */
  async readWhole(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    const out = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += this.#staging.size) {
      const piece = Math.min(this.#staging.size, bytes - at);
      const encoder = this.#gpu.device.createCommandEncoder({ label: `read/${buffer.label}` });
      encoder.copyBufferToBuffer(buffer, at, this.#staging, 0, piece);
      this.#gpu.device.queue.submit([encoder.finish()]);
      out.set(new Uint8Array(await this.#mapped(piece, `reading ${buffer.label}`)), at);
    }
    return out.buffer;
  }

  async #mapped(bytes: number, what: string): Promise<ArrayBuffer> {
    await this.#staging.mapAsync(GPUMapMode.READ, 0, bytes).catch((cause: unknown) => {
      throw this.#gpu.lostError(what, cause);
    });
    const copy = this.#staging.getMappedRange(0, bytes).slice(0);
    this.#staging.unmap();
    return copy;
  }
}
