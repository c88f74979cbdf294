/**
 * What a session reads back: the sums of a run, of one site's output, of kept shifts, and whole gradients. All of it
 * through one staging buffer; partial sums are added in FP64 on the host (engine.md 6.2).
 */
import type { Graph } from '../graph/types';
import type { BufferSlice, Gpu } from '../gpu/gpu';
import { lossOf } from './batch';
import { part, type SessionBuffers } from './buffers';
import { addOutput, addPartials, type OutputSums } from './comparison';
import type { LocalError } from './local-error';
import { COMPARE_WORDS, STAGING, type BufferSet, type comparePlan } from './memory';
import { unpadRows } from './parameters';
import { Readback } from './readback';
import type { RunResult } from './run';
import { addGram } from './shifts';
import { paramBytes } from './values';

export class SessionResults {
  #gpu: Gpu;
  #buffers: SessionBuffers;
  #plan: ReturnType<typeof comparePlan>;
  #rows: number;

  /** rows: tokens of a batch. */
  constructor(gpu: Gpu, buffers: SessionBuffers, plan: ReturnType<typeof comparePlan>, rows: number) {
    this.#gpu = gpu;
    this.#buffers = buffers;
    this.#plan = plan;
    this.#rows = rows;
  }

  /** Sums of these parameters; stats: the buffer of the run's loss rows; withLocalError: the run has taken one. */
  async ofRun(params: readonly string[], stats: GPUBuffer, withLocalError: boolean): Promise<Omit<RunResult, 'executedSteps'>> {
    const read = await this.#read(part(stats, 0, this.#rows * 16));
    const sums = new Map(params.map((name) => [name, addPartials(read.sums, this.#plan.first.get(name) ?? 0, this.#plan.chunks.get(name) ?? 0)]));
    let localError: number | null = null;
    if (withLocalError) {
      // A tensor that is zero or overflows has no relative error: null, never a NaN that looks like a figure.
      const { dd, rr } = this.#output(read.sums);
      localError = rr > 0 && Number.isFinite(dd / rr) ? dd / rr : null;
    }
    return { sums, loss: lossOf(read.stats, this.#rows), localError, nonFiniteOperands: read.nonFiniteOperands };
  }

  async ofOutput({ elements, arriving }: Pick<LocalError, 'elements' | 'arriving'>): Promise<OutputSums> {
    const read = await this.#read(null);
    const { dd, rr, gd, gg, nonFinite } = this.#output(read.sums);
    return { dd, rr, arriving: arriving === null ? null : { gd, gg }, elements, nonFinite: nonFinite + read.nonFiniteOperands };
  }

  /** Inner products of the first n kept shifts, [n, n]. */
  async gram(n: number): Promise<Float64Array> {
    const perPair = this.#plan.localErrorFirst;
    return addGram(new Float32Array(await this.#gpu.read(this.#buffers.shared('gram'), 2 * n * (n + 1) * perPair)), n, perPair);
  }

  /** Gradients of a set: FP32, checkpoint names and shapes. */
  async gradient(graph: Graph, set: BufferSet): Promise<Map<string, Float32Array>> {
    const out = new Map<string, Float32Array>();
    for (const { name, shape } of graph.params) {
      const bytes = await this.#readback.readWhole(this.#buffers.get(set, `dw:${name}`), paramBytes(shape));
      out.set(name, unpadRows(new Float32Array(bytes), shape));
    }
    return out;
  }

  /** Of the tensor that a local error was taken of; chunks past its own are zero. */
  #output(sums: Float32Array): ReturnType<typeof addOutput> {
    return addOutput(sums, this.#plan.localErrorFirst, this.#plan.total - this.#plan.localErrorFirst);
  }

  #read(stats: BufferSlice | null): ReturnType<Readback['read']> {
    return this.#readback.read(this.#buffers.shared('sums'), stats, this.#buffers.find('shared', 'low:alpha'));
  }

  get #readback(): Readback {
    return new Readback(this.#gpu, this.#buffers.shared(STAGING), 4 * COMPARE_WORDS * this.#plan.total);
  }
}
