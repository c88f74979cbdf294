/**
 * Sends resolved dispatches to the device: pipelines compiled together before the run, bind groups and Params slots made
 * once and reused, work cut into submissions of about 50 ms by a rate learnt on the device, at most two in flight.
 * Why: long submissions lose the device on slow GPUs (engine.md 3.2). Cutting never changes a bit: every output element
 * is owned by one invocation.
 */
import { BendscopeError } from '../base/errors';
import { grid, PARAMS_BYTES, type BufferSlice, type Gpu, type Pipeline } from '../gpu/gpu';
import { KERNELS } from './kernels';
import type { Dispatch, Word } from './program';

export interface ResolvedDispatch {
  readonly label: string;
  readonly dispatch: Dispatch;
  readonly slices: readonly BufferSlice[];
}
export type ResolvedCommand = ResolvedDispatch | { readonly clear: GPUBuffer };

/** Called between submissions: may wait (pause) or throw (cancel). */
export type Checkpoint = () => Promise<void> | void;

const TARGET_MS = 50;
const SLOTS_PER_CHUNK = 256;
/** Bytes of one block of the uniform arena; a session begins with one. */
export const PARAMS_BLOCK_BYTES = SLOTS_PER_CHUNK * PARAMS_BYTES;
const IN_FLIGHT = 2;
/** Invocations of a workgroup, every kernel's override WG. */
const WORKGROUP = 64;
const ERROR_FILTERS = ['validation', 'out-of-memory', 'internal'] as const;

export class Executor {
  #gpu: Gpu;
  #chunks: GPUBuffer[] = [];
  #slots = new Map<string, { chunk: GPUBuffer; offset: number }>();
  #groups = new Map<string, GPUBindGroup>();
  #pipelines = new Map<string, Pipeline>();
  #bufferIds = new Map<GPUBuffer, number>();
  /** Operations a millisecond, learnt; the first guess suits a software adapter. */
  #rate = 4e5;
  #longestMs = 0;
  #targetMs: number;

  /** targetMs: how long a submission may take; a tiny one cuts every GEMM into its smallest pieces. */
  constructor(gpu: Gpu, targetMs = TARGET_MS) {
    this.#gpu = gpu;
    this.#targetMs = targetMs;
  }

  get longestSubmissionMs(): number {
    return this.#longestMs;
  }

  /** Bytes of the uniform arena so far. */
  get paramsBytes(): number {
    return this.#chunks.reduce((sum, { size }) => sum + size, 0);
  }

  /** Room for so many Params slots: made before a run, it is counted before the run. */
  reserve(slots = 1): void {
    while (this.#chunks.length * SLOTS_PER_CHUNK < slots) {
      this.#chunks.push(this.#gpu.createBuffer('params', PARAMS_BLOCK_BYTES, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST));
    }
  }

  dispose(): void {
    for (const chunk of this.#chunks) this.#gpu.destroyBuffer(chunk);
    this.#chunks = [];
    this.#slots.clear();
    this.#groups.clear();
  }

  static pipelineKey(d: Dispatch): string {
    return `${d.kernel}|${Object.entries(d.constants).map(([k, v]) => `${k}=${v}`).join()}`;
  }

  /** Compiles every pipeline of these dispatches, in parallel. */
  async compile(dispatches: Iterable<Dispatch>, onProgress?: (done: number, total: number) => void): Promise<void> {
    const missing = new Map<string, Dispatch>();
    for (const d of dispatches) {
      const key = Executor.pipelineKey(d);
      if (!this.#pipelines.has(key)) missing.set(key, d);
    }
    let done = 0;
    await Promise.all([...missing].map(async ([key, d]) => {
      this.#pipelines.set(key, await this.#gpu.pipeline(KERNELS[d.kernel], d.constants, WORKGROUP));
      onProgress?.(++done, missing.size);
    }));
  }

  /**
   * Runs all commands and waits for the device. Throws E-GPU-02 when the device is lost, E-GPU-16 when it refused any of
   * the work (then no result of this run counts), and what `checkpoint` throws.
   */
  async run(commands: readonly ResolvedCommand[], checkpoint: Checkpoint = () => undefined): Promise<void> {
    const { device } = this.#gpu;
    await this.compile(commands.flatMap((c) => ('clear' in c ? [] : [c.dispatch])));
    for (const filter of ERROR_FILTERS) device.pushErrorScope(filter);
    let refused: Promise<(GPUError | null)[]> = Promise.resolve([]);
    try {
      await this.#submitAll(commands, checkpoint);
    } finally {
      refused = Promise.all(ERROR_FILTERS.map(() => device.popErrorScope().catch(() => null)));
      await refused;
    }
    const error = (await refused).find((e) => e !== null);
    if (this.#gpu.lost) throw this.#gpu.lostError('computing');
    if (error) throw new BendscopeError('E-GPU-16', `The device refused work: ${error.message}`, 'Nothing was lost. Try fewer sequences or shorter windows.');
  }

  async #submitAll(commands: readonly ResolvedCommand[], checkpoint: Checkpoint): Promise<void> {
    const { device } = this.#gpu;
    const inFlight: Promise<void>[] = [];
    let encoder = device.createCommandEncoder({ label: 'run' });
    let pass: GPUComputePassEncoder | null = null;
    let budget = 0;
    let lastDone = 0;
    const submit = async (): Promise<void> => {
      pass?.end();
      pass = null;
      const work = budget;
      const submitted = performance.now();
      device.queue.submit([encoder.finish()]);
      encoder = device.createCommandEncoder({ label: 'run' });
      budget = 0;
      inFlight.push(device.queue.onSubmittedWorkDone().then(() => {
        const now = performance.now();
        const elapsed = now - Math.max(submitted, lastDone);
        lastDone = now;
        this.#longestMs = Math.max(this.#longestMs, elapsed);
        if (elapsed > 1 && work > 0) this.#rate = 0.7 * this.#rate + 0.3 * (work / elapsed);
      }, () => undefined)); // a rejection means a lost device, which is asked about below
      if (inFlight.length >= IN_FLIGHT) await inFlight.shift();
      if (this.#gpu.lost) throw this.#gpu.lostError('computing');
      await checkpoint();
    };
    for (const command of commands) {
      if ('clear' in command) {
        pass?.end();
        pass = null;
        encoder.clearBuffer(command.clear);
        continue;
      }
      if (this.#gpu.faultyKernel === command.dispatch.kernel) continue;
      for (const d of this.#cut(command.dispatch)) {
        if (budget > 0 && budget + d.flops > this.#rate * this.#targetMs) await submit();
        pass ??= encoder.beginComputePass({ label: command.label });
        this.#encode(pass, d, command);
        budget += d.flops;
      }
    }
    await submit();
    await Promise.all(inFlight);
  }

  /** A dispatch longer than a submission becomes 2^n: GEMMs over whole tiles of four rows, others over ranges of ids. */
  *#cut(d: Dispatch): Iterable<Dispatch> {
    const limit = this.#rate * this.#targetMs;
    const pieces = 2 ** Math.ceil(Math.log2(d.flops / limit));
    if (d.split && pieces > 1 && d.split.rows > 4) {
      const { rows, rowStartIndex, invocationsOf } = d.split;
      const each = Math.max(4, Math.ceil(rows / pieces / 4) * 4);
      for (let start = 0; start < rows; start += each) {
        const count = Math.min(each, rows - start);
        const params = [...d.params];
        params[rowStartIndex] = start;
        params[rowStartIndex + 1] = count;
        yield { ...d, params, invocations: invocationsOf(count), flops: (d.flops * count) / rows };
      }
    } else if (!d.split && pieces > 1 && d.invocations > WORKGROUP) {
      // Whole workgroups in one row of the grid: an id that ran twice would count twice in an atomic or in-place kernel.
      const each = Math.min(65535, Math.ceil(d.invocations / pieces / WORKGROUP)) * WORKGROUP;
      for (let start = 0; start < d.invocations; start += each) {
        const count = Math.min(each, d.invocations - start);
        yield { ...d, params: [...d.params, start], invocations: count, flops: (d.flops * count) / d.invocations };
      }
    } else {
      yield d;
    }
  }

  #encode(pass: GPUComputePassEncoder, d: Dispatch, command: ResolvedDispatch): void {
    const key = Executor.pipelineKey(d);
    const compiled = this.#pipelines.get(key);
    if (!compiled) throw new Error(`pipeline ${key} was not compiled`);
    const slot = this.#slot(d.params);
    const groupKey = `${d.kernel}|${this.#id(slot.chunk)}|${command.slices.map((s) => `${this.#id(s.buffer)}+${s.offset}:${s.size}`).join()}`;
    let group = this.#groups.get(groupKey);
    if (!group) {
      group = this.#gpu.bindGroup(command.label, compiled.layout, slot.chunk, command.slices);
      this.#groups.set(groupKey, group);
    }
    pass.setPipeline(compiled.pipeline);
    pass.setBindGroup(0, group, [slot.offset]);
    pass.dispatchWorkgroups(...grid(d.invocations, compiled.workgroup));
  }

  #id(buffer: GPUBuffer): number {
    let id = this.#bufferIds.get(buffer);
    if (id === undefined) {
      id = this.#bufferIds.size;
      this.#bufferIds.set(buffer, id);
    }
    return id;
  }

  /** A 256-byte slot of the uniform arena holding these words; equal params share one. */
  #slot(params: readonly Word[]): { chunk: GPUBuffer; offset: number } {
    const words = packWords(params);
    const key = words.join();
    let slot = this.#slots.get(key);
    if (!slot) {
      const index = this.#slots.size % SLOTS_PER_CHUNK;
      this.reserve(this.#slots.size + 1);
      const chunk = this.#chunks[this.#chunks.length - 1];
      if (!chunk) throw new Error('params arena is empty');
      slot = { chunk, offset: index * PARAMS_BYTES };
      this.#gpu.write(chunk, words, slot.offset);
      this.#slots.set(key, slot);
    }
    return slot;
  }
}

export function packWords(params: readonly Word[]): Uint32Array {
  const words = new Uint32Array(params.length);
  const floats = new Float32Array(words.buffer);
  params.forEach((word, i) => {
    if (typeof word === 'number') words[i] = word;
    else floats[i] = word.f32;
  });
  return words;
}
