/**
 * One node of a model at a time on a device: values are written by hand, the steps of chosen slots run exactly as a
 * session runs them, values are read back. What the node-by-node goldens use (method.md 2). Not for measuring.
 */
import { REFERENCE_POLICY, type Policy } from '../graph/policy';
import type { Graph } from '../graph/types';
import { whole, type BufferSlice, type Gpu } from '../gpu/gpu';
import { orderTokens } from './batch';
import { SessionBuffers } from './buffers';
import { compileProgram } from './compile';
import { Executor, type ResolvedCommand } from './executor';
import { planMemory } from './memory';
import { loadParameters, packBf16, padRows, unpackBf16, unpadRows } from './parameters';
import { isClear, type Binding, type Program } from './program';
import { Values, type BatchShape } from './values';

export class NodeHarness {
  readonly values: Values;
  readonly shape: BatchShape;
  readonly bf16: boolean;
  #gpu: Gpu;
  #graph: Graph;
  #program: Program;
  #executor: Executor;
  #buffers: SessionBuffers;

  /** Allocates one set of values and uploads the parameters. */
  constructor(gpu: Gpu, graph: Graph, params: ReadonlyMap<string, Float32Array>, shape: BatchShape, policy: Policy = REFERENCE_POLICY) {
    this.#gpu = gpu;
    this.#graph = graph;
    this.shape = shape;
    this.bf16 = policy.reference === 'bf16';
    this.values = new Values(graph, policy);
    this.#program = compileProgram(this.values, policy, shape);
    this.#executor = new Executor(gpu);
    this.#buffers = new SessionBuffers(gpu, planMemory(graph, shape, { plan: policy }));
    try {
      this.#buffers.allocate();
      loadParameters(gpu, graph, params, (key) => this.#buffers.find('shared', key));
    } catch (thrown) {
      this.dispose();
      throw thrown;
    }
  }

  dispose(): void {
    this.#buffers.dispose();
    this.#executor.dispose();
  }

  /** Slots of a node in program order: `fprop`, then `dy` where two gradients arrive, `bprop`, `dgrad`, `wgrad`, ... */
  slots(node: string): string[] {
    return this.#program.steps.map((step) => step.slot).filter((slot) => slot.slice(0, slot.lastIndexOf('/')) === node);
  }

  /** tokens: B rows of T + 1 ids. */
  setTokens(tokens: readonly (readonly number[])[]): void {
    for (const [key, words] of Object.entries(orderTokens(tokens, this.shape, this.#graph.vocabulary))) this.#gpu.write(this.#buffer(key), words);
  }

  /** x [N, cols] into an activation or gradient; under `bf16` it must hold BF16 values. */
  write(key: string, x: Float32Array, cols: number): void {
    const padded = padRows(x, [x.length / cols, cols]);
    this.#gpu.write(this.#buffer(key), this.bf16 ? packBf16(padded) : padded);
  }

  /** Runs the steps of these slots, in program order. */
  async run(slots: readonly string[]): Promise<void> {
    const slice = (b: Binding): BufferSlice => whole(this.#buffer('resource' in b ? b.resource : b.value));
    const commands = this.#program.steps.filter((step) => slots.includes(step.slot)).flatMap((step) =>
      step.commands.map((command): ResolvedCommand =>
        isClear(command)
          ? { clear: slice(command.clear).buffer }
          : { label: `${command.kernel}/${step.slot}`, dispatch: command, slices: command.bindings.map(slice) }));
    await this.#executor.run(commands);
  }

  /** An activation or gradient as FP32 values [N, cols], without its padding. */
  async read(key: string, cols: number): Promise<Float32Array> {
    const buffer = this.#buffer(key);
    const words = new Uint32Array(await this.#gpu.read(buffer, buffer.size));
    return unpadRows(this.bf16 ? unpackBf16(words) : new Float32Array(words.buffer), [this.shape.sequences * this.shape.tokens, cols]);
  }

  /** A parameter's gradient, FP32, in the checkpoint's shape. */
  async readGradient(param: string): Promise<Float32Array> {
    const shape = this.#graph.params.find(({ name }) => name === param)?.shape ?? [];
    const buffer = this.#buffer(`dw:${param}`);
    return unpadRows(new Float32Array(await this.#gpu.read(buffer, buffer.size)), shape);
  }

  #buffer(key: string): GPUBuffer {
    return this.#buffers.get('batch 0', key);
  }
}
