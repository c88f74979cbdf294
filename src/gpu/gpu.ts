/**
 * The device with what everybody needs of it: labelled buffers counted in a ledger, pipelines made once per
 * (kernel, constants), bind groups over explicit layouts. Nothing here knows a model or a number format.
 * Why explicit layouts: `layout: 'auto'` drops unused bindings (engine.md 3.1).
 */
import { assert, BendscopeError } from '../base/errors';
import { linkShader } from './shaders';

/** One row of a kernel table: what binding 1, 2, .. are. Binding 0 is always the uniform Params struct. */
export interface KernelRow {
  readonly name: string;
  readonly bindings: readonly ('read' | 'write')[];
}

export type Constants = Readonly<Record<string, number>>;

export interface BufferSlice {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

export interface Pipeline {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  readonly workgroup: number;
}

/** Bytes of a dispatch's Params slot: the smallest offset alignment every device grants. */
export const PARAMS_BYTES = 256;
const MAX_GROUPS = 65535;

/** Workgroup grid for n invocations, near-square beyond 65,535 groups; kernels rebuild the linear id (lib/index). */
export function grid(invocations: number, workgroup: number): [number, number] {
  const groups = Math.ceil(invocations / workgroup);
  if (groups <= MAX_GROUPS) return [Math.max(groups, 1), 1];
  const x = Math.ceil(Math.sqrt(groups));
  return [x, Math.ceil(groups / x)];
}

export class Gpu {
  readonly device: GPUDevice;
  readonly adapterName: string;
  readonly isFallback: boolean;
  readonly facts: Readonly<Record<string, string>>;
  /** A test's injected fault: this kernel is never dispatched, so fresh outputs stay zero (start-up check, E-GPU-14). */
  faultyKernel: string | null = null;
  #live = new Map<GPUBuffer, number>();
  #liveBytes = 0;
  #peakBytes = 0;
  #pipelines = new Map<string, Promise<Pipeline>>();
  #layouts = new Map<string, GPUBindGroupLayout>();
  #lost: GPUDeviceLostInfo | null = null;

  constructor(device: GPUDevice, info: { name: string; isFallback: boolean; facts?: Readonly<Record<string, string>> }) {
    this.device = device;
    this.adapterName = info.name;
    this.isFallback = info.isFallback;
    this.facts = info.facts ?? {};
    void device.lost.then((lost) => {
      this.#lost = lost;
    });
  }

  get lost(): GPUDeviceLostInfo | null {
    return this.#lost;
  }
  get liveBytes(): number {
    return this.#liveBytes;
  }
  get liveBuffers(): number {
    return this.#live.size;
  }
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** A zero-filled storage buffer of at least `bytes`, rounded up to 16. Throws E-MEM-01 beyond the device's limits. */
  createBuffer(label: string, bytes: number, usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const limit = Math.min(this.device.limits.maxBufferSize, this.device.limits.maxStorageBufferBindingSize);
    if (size > limit) {
      throw new BendscopeError('E-MEM-01', `${label}: expected at most ${limit} bytes a buffer, got ${size}`, 'Nothing was lost. Try fewer sequences or shorter windows.');
    }
    const buffer = this.device.createBuffer({ label, size, usage });
    this.#live.set(buffer, size);
    this.#liveBytes += size;
    this.#peakBytes = Math.max(this.#peakBytes, this.#liveBytes);
    return buffer;
  }

  destroyBuffer(buffer: GPUBuffer): void {
    const size = this.#live.get(buffer);
    assert(size !== undefined, `destroyBuffer: ${buffer.label} is not live`);
    this.#live.delete(buffer);
    this.#liveBytes -= size;
    buffer.destroy();
  }

  /** Copies whole words; the source may end anywhere inside the last word. */
  write(buffer: GPUBuffer, data: ArrayBufferView, offset = 0): void {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const padded = bytes.length % 4 === 0 ? bytes : new Uint8Array(Math.ceil(bytes.length / 4) * 4);
    if (padded !== bytes) padded.set(bytes);
    const piece = 16 << 20;
    for (let at = 0; at < padded.length; at += piece) {
      const part = padded.subarray(at, Math.min(at + piece, padded.length));
      this.device.queue.writeBuffer(buffer, offset + at, part as Uint8Array<ArrayBuffer>);
    }
  }

  /** The bytes of a buffer, through a staging buffer that is freed again. Throws E-GPU-02 when the device is lost. */
  async read(buffer: GPUBuffer, bytes: number, offset = 0): Promise<ArrayBuffer> {
    const size = Math.ceil(bytes / 4) * 4;
    const staging = this.createBuffer(`staging/${buffer.label}`, size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    try {
      const encoder = this.device.createCommandEncoder({ label: `read/${buffer.label}` });
      encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
      this.device.queue.submit([encoder.finish()]);
      await staging.mapAsync(GPUMapMode.READ, 0, size).catch((cause: unknown) => {
        throw this.lostError(`reading ${buffer.label}`, cause);
      });
      return staging.getMappedRange(0, size).slice(0, bytes);
    } finally {
      this.destroyBuffer(staging);
    }
  }

  lostError(what: string, cause?: unknown): BendscopeError {
    const why = this.#lost ? `${this.#lost.reason || 'unknown reason'}: ${this.#lost.message}` : String(cause);
    return new BendscopeError('E-GPU-02', `The GPU stopped answering while ${what} (${why})`, 'Measured cells are kept. Reconnect and continue, or halve the batch.');
  }

  layout(bindings: readonly ('read' | 'write')[]): GPUBindGroupLayout {
    const key = bindings.join();
    let layout = this.#layouts.get(key);
    if (!layout) {
      layout = this.device.createBindGroupLayout({
        label: `layout/${key}`,
        entries: [
          { binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'uniform', hasDynamicOffset: true, minBindingSize: 0 } },
          ...bindings.map((kind, i) => ({
            binding: i + 1,
            visibility: GPUShaderStage.COMPUTE,
            buffer: { type: (kind === 'read' ? 'read-only-storage' : 'storage') as GPUBufferBindingType },
          })),
        ],
      });
      this.#layouts.set(key, layout);
    }
    return layout;
  }

  /** The pipeline of a kernel under override constants, compiled once. Throws E-GPU-15 with the compiler's message. */
  pipeline(row: KernelRow, constants: Constants = {}, workgroup = 64): Promise<Pipeline> {
    const names = Object.keys(constants).sort();
    const key = `${row.name}|${workgroup}|${names.map((n) => `${n}=${constants[n]}`).join()}`;
    let entry = this.#pipelines.get(key);
    if (!entry) {
      entry = this.#compile(row, { ...constants, WG: workgroup }, key, workgroup);
      this.#pipelines.set(key, entry);
    }
    return entry;
  }

  async #compile(row: KernelRow, constants: Record<string, number>, key: string, workgroup: number): Promise<Pipeline> {
    const code = linkShader(row.name);
    const module = this.device.createShaderModule({ label: row.name, code });
    const layout = this.layout(row.bindings);
    try {
      const pipeline = await this.device.createComputePipelineAsync({
        label: key,
        layout: this.device.createPipelineLayout({ label: row.name, bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main', constants },
      });
      return { pipeline, layout, workgroup };
    } catch (cause) {
      const info = await module.getCompilationInfo();
      const text = info.messages.map((m) => `${m.type} line ${m.lineNum}: ${m.message}`).join('; ');
      throw new BendscopeError('E-GPU-15', `pipeline ${key}: expected a valid kernel, got ${text || String(cause)}`, 'This driver cannot compile a kernel; please report it.');
    }
  }

  bindGroup(label: string, layout: GPUBindGroupLayout, params: GPUBuffer, slices: readonly BufferSlice[]): GPUBindGroup {
    return this.device.createBindGroup({
      label,
      layout,
      entries: [
        { binding: 0, resource: { buffer: params, size: PARAMS_BYTES } },
        ...slices.map((slice, i) => ({ binding: i + 1, resource: { buffer: slice.buffer, offset: slice.offset, size: slice.size } })),
      ],
    });
  }
}

export function whole(buffer: GPUBuffer): BufferSlice {
  return { buffer, offset: 0, size: buffer.size };
}
