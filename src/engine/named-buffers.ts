/**
 * Buffers under the names that commands bind, for work outside a session: one tensor quantized, a check, a test. Freed
 * together. A value and a resource of one name are one buffer here.
 */
import { BendscopeError } from '../base/errors';
import { whole, type Gpu } from '../gpu/gpu';
import { Executor, type ResolvedCommand } from './executor';
import { isClear, type Binding, type Clear, type Dispatch } from './program';

export class NamedBuffers {
  #gpu: Gpu;
  #executor: Executor;
  #buffers = new Map<string, GPUBuffer>();

  /** content: what a buffer holds at first, or a byte count of zeros. `nothing` is always there. */
  constructor(gpu: Gpu, content: Readonly<Record<string, ArrayBufferView | number>>) {
    this.#gpu = gpu;
    this.#executor = new Executor(gpu);
    const all: Readonly<Record<string, ArrayBufferView | number>> = { nothing: 16, ...content };
    for (const [name, given] of Object.entries(all)) {
      this.#buffers.set(name, gpu.createBuffer(name, typeof given === 'number' ? given : given.byteLength));
      if (typeof given !== 'number') this.write(name, given);
    }
  }

  #find(binding: Binding | string): GPUBuffer {
    const name = typeof binding === 'string' ? binding : 'resource' in binding ? binding.resource : binding.value;
    const buffer = this.#buffers.get(name);
    if (!buffer) throw new BendscopeError('E-BUG-03', `named buffers: expected one of ${[...this.#buffers.keys()].join(', ')}, got ${name}`);
    return buffer;
  }

  write(name: string, content: ArrayBufferView): void {
    this.#gpu.write(this.#find(name), content);
  }

  /** The first `words` u32 of a buffer, all of it unless given. */
  async read(name: string, words?: number): Promise<Uint32Array> {
    const buffer = this.#find(name);
    return new Uint32Array(await this.#gpu.read(buffer, words === undefined ? buffer.size : 4 * words));
  }

  /** Throws what Executor.run throws. */
  async run(commands: readonly (Dispatch | Clear)[]): Promise<void> {
    await this.#executor.run(commands.map((command): ResolvedCommand =>
      isClear(command)
        ? { clear: this.#find(command.clear) }
        : { label: command.kernel, dispatch: command, slices: command.bindings.map((binding) => whole(this.#find(binding))) }));
  }

  dispose(): void {
    this.#executor.dispose();
    for (const buffer of this.#buffers.values()) this.#gpu.destroyBuffer(buffer);
    this.#buffers.clear();
  }
}
