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

type Read = Awaited<ReturnType<Readback['read']>>;

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

  /** Sums of these parameters; stats: the buffer of the run's loss rows; output: of which the run has taken a local error. */
  async ofRun(params: readonly string[], stats: GPUBuffer, output: LocalError | null): Promise<Omit<RunResult, 'executedSteps'>> {
    const read = await this.#read(part(stats, 0, this.#rows * 16));
    const sums = new Map(params.map((name) => [name, addPartials(read.sums, this.#plan.first.get(name) ?? 0, this.#plan.chunks.get(name) ?? 0)]));
    const found = output ? this.#output(read, output) : null;
    // A tensor that is zero or overflows has no relative error: null, never a NaN that looks like a figure.
    const localError = found && found.rr > 0 && Number.isFinite(found.dd / found.rr) ? found.dd / found.rr : null;
    return { sums, loss: lossOf(read.stats, this.#rows), localError, output: found, nonFiniteOperands: read.nonFiniteOperands };
  }

  async ofOutput(output: LocalError): Promise<OutputSums> {
    return this.#output(await this.#read(null), output);
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
  #output({ sums, nonFiniteOperands }: Read, { site, elements, arriving }: LocalError): OutputSums {
    const { dd, rr, gd, gg, nonFinite } = addOutput(sums, this.#plan.localErrorFirst, this.#plan.total - this.#plan.localErrorFirst);
    return { site, dd, rr, arriving: arriving === null ? null : { gd, gg }, elements, nonFinite: nonFinite + nonFiniteOperands };
  }

  #read(stats: BufferSlice | null): Promise<Read> {
    return this.#readback.read(this.#buffers.shared('sums'), stats, this.#buffers.find('shared', 'low:alpha'));
  }

  get #readback(): Readback {
    return new Readback(this.#gpu, this.#buffers.shared(STAGING), 4 * COMPARE_WORDS * this.#plan.total);
  }
}
