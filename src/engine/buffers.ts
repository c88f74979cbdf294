/**
 * The buffers of a session, made from its memory plan and found by set and key; and the ledger of what they really take,
 * read from the buffers themselves, so that a plan that is wrong cannot vouch for itself.
 */
import { assert } from '../base/errors';
import type { Ledger } from '../graph/ledger';
import type { BufferSlice, Gpu } from '../gpu/gpu';
import { STAGING, type BufferSet, type MemoryPlan, type PlannedBuffer } from './memory';
import type { StoredFormat } from './program';

interface Made {
  readonly buffer: GPUBuffer;
  readonly role: PlannedBuffer['role'];
  readonly format: StoredFormat | null;
}

export class SessionBuffers {
  #gpu: Gpu;
  #plan: MemoryPlan;
  #sets = new Map<BufferSet, Map<string, GPUBuffer>>();
  #made: Made[] = [];

  constructor(gpu: Gpu, plan: MemoryPlan) {
    this.#gpu = gpu;
    this.#plan = plan;
  }

  /** Apart from the constructor, so that a buffer the device refuses leaves something that can be disposed of. */
  allocate(): void {
    for (const { set, key, role, format, bytes } of this.#plan.buffers) {
      const usage = key === STAGING ? GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST : undefined;
      const buffer = this.#gpu.createBuffer(`${set}/${key}`, bytes, usage);
      this.#made.push({ buffer, role, format });
      const found = this.#sets.get(set) ?? new Map<string, GPUBuffer>();
      this.#sets.set(set, found.set(key, buffer));
    }
  }

  /** The buffer of a key in a set, or the one that all sets share; null where there is none. */
  find(set: BufferSet, key: string): GPUBuffer | null {
    const place = this.#plan.places.get(key) ?? key;
    return this.#sets.get(set)?.get(place) ?? this.#sets.get('shared')?.get(place) ?? null;
  }

  /** Throws E-BUG-01 for a key that the session was not made for. */
  get(set: BufferSet, key: string): GPUBuffer {
    const buffer = this.find(set, key);
    assert(buffer, `no buffer for ${key} in ${set}`);
    return buffer;
  }

  shared(key: string): GPUBuffer {
    return this.get('shared', key);
  }

  /** Bytes of the live buffers by what they are for. otherScratch: what else the session holds. */
  ledger(otherScratch = 0): Ledger {
    const sum = (wanted: (made: Made) => boolean): number => this.#made.filter(wanted).reduce((total, { buffer }) => total + buffer.size, 0);
    const activationBytes: Partial<Record<StoredFormat, number>> = {};
    for (const { role, format, buffer } of this.#made) {
      if (role === 'activation' && format) activationBytes[format] = (activationBytes[format] ?? 0) + buffer.size;
    }
    return {
      weightBytes: sum(({ role }) => role === 'parameter'),
      activationBytes,
      gradientBytes: sum(({ role }) => role === 'gradient'),
      parameterGradientBytes: sum(({ role }) => role === 'parameter gradient'),
      scratchBytes: sum(({ role }) => role === 'scratch' || role === 'batch') + otherScratch,
      totalBytes: sum(() => true) + otherScratch,
    };
  }

  dispose(): void {
    for (const { buffer } of this.#made) this.#gpu.destroyBuffer(buffer);
    this.#made = [];
    this.#sets.clear();
  }
}

/** `size` bytes of a buffer from `offset` on. */
export function part(buffer: GPUBuffer, offset: number, size: number): BufferSlice {
  return { buffer, offset, size };
}
