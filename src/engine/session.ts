/**
 * A model on a device: buffers allocated once from the memory plan, one batch at a time, a reference run and any number
 * of variant runs against it. A variant run executes only the steps a change can reach and compares every parameter
 * gradient it touches with the reference's while it sits in scratch. `dispose` gives every byte back.
 */
import { assert, BendscopeError } from '../base/errors';
import { REFERENCE_POLICY, type Policy } from '../graph/policy';
import type { Graph } from '../graph/types';
import { whole, type BufferSlice, type Gpu } from '../gpu/gpu';
import { compileProgram } from './compile';
import { Executor, type Checkpoint, type ResolvedCommand } from './executor';
import { addPartials, compareCommand, type TensorSums } from './comparison';
import { comparePlan, COMPARE_WORDS, localErrorBytes, planMemory, type MemoryPlan } from './memory';
import { localError } from './local-error';
import { isClear, type Binding, type Program, type Step } from './program';
import type { RunResult, Variant } from './run';
import { Values, paramBytes, type BatchShape } from './values';
import { loadParameters, unpadRows } from './parameters';
import { lossOf, orderTokens } from './batch';
import { Readback } from './readback';

interface ResidentBatch {
  readonly buffers: Map<string, GPUBuffer>;
  tokens: readonly (readonly number[])[] | null;
  run: RunResult | null;
  /** Whether `run` is of the reference policy: only then can variants be told apart from it. */
  ofBase: boolean;
}

export class Session {
  readonly graph: Graph;
  readonly shape: BatchShape;
  readonly memory: MemoryPlan;
  #gpu: Gpu;
  #executor: Executor;
  #values: Values;
  #shared = new Map<string, GPUBuffer>();
  #batches: ResidentBatch[] = [];
  #current = 0;
  #work = new Map<string, GPUBuffer>();
  #base: Program;
  #basePolicy: Policy;
  #plan: ReturnType<typeof comparePlan>;
  #readback: Readback | null = null;

  private constructor(gpu: Gpu, graph: Graph, shape: BatchShape, reference: Policy['reference'], memory: MemoryPlan, targetMs?: number) {
    this.#gpu = gpu;
    this.graph = graph;
    this.shape = shape;
    this.memory = memory;
    this.#values = new Values(graph);
    this.#executor = new Executor(gpu, targetMs);
    this.#basePolicy = { ...REFERENCE_POLICY, reference };
    this.#base = compileProgram(this.#values, this.#basePolicy, shape);
    this.#plan = comparePlan(graph, localErrorBytes(graph, shape));
  }

  /**
   * Allocates and uploads. params: FP32 values under their checkpoint names; batches: how many reference runs stay
   * resident; targetMs: see Executor. Throws E-MEM-01 when the device has no room; then nothing stays allocated.
   */
  static async create(gpu: Gpu, graph: Graph, params: ReadonlyMap<string, Float32Array>, shape: BatchShape, reference: Policy['reference'] = 'bf16', batches = 1, targetMs?: number): Promise<Session> {
    if (shape.tokens > graph.maxTokens || shape.tokens < 1 || shape.sequences < 1) {
      throw new BendscopeError('E-DATA-03', `batch: expected 1 to ${graph.maxTokens} tokens a sequence, got ${shape.sequences} x ${shape.tokens}`, 'Use shorter windows.');
    }
    const memory = planMemory(graph, shape, reference === 'bf16', batches);
    gpu.device.pushErrorScope('out-of-memory');
    let session: Session | null = null;
    let failure: unknown = null;
    try {
      session = new Session(gpu, graph, shape, reference, memory, targetMs);
      session.#allocate();
      loadParameters(gpu, graph, params, session.#shared);
    } catch (thrown) {
      failure = thrown;
    }
    const error = await gpu.device.popErrorScope().catch((cause: unknown) => {
      failure ??= gpu.lostError('allocating memory', cause);
      return null;
    });
    if (session && !error && !failure) return session;
    session?.dispose();
    if (failure) throw failure;
    throw new BendscopeError('E-MEM-01', `Not enough GPU memory for this run (${memory.totalBytes} bytes): ${error?.message ?? ''}`, 'Nothing was lost. Try half the batch, or shorter windows.');
  }

  /** Apart from the constructor, so that a buffer the device refuses leaves a session that can be disposed of. */
  #allocate(): void {
    for (const planned of this.memory.buffers) {
      const set = planned.set === 'shared' ? this.#shared : planned.set === 'work' ? this.#work : this.#resident(planned.set).buffers;
      const where = typeof planned.set === 'number' ? `batch ${planned.set}` : planned.set;
      set.set(planned.key, this.#gpu.createBuffer(`${where}/${planned.key}`, planned.bytes));
    }
    this.#readback = new Readback(this.#gpu, this.#plan.total * COMPARE_WORDS * 4, this.shape.sequences * this.shape.tokens * 16);
  }

  get longestSubmissionMs(): number {
    return this.#executor.longestSubmissionMs;
  }

  dispose(): void {
    for (const set of [this.#shared, this.#work, ...this.#batches.map((batch) => batch.buffers)]) {
      for (const buffer of set.values()) this.#gpu.destroyBuffer(buffer);
      set.clear();
    }
    this.#readback?.dispose();
    this.#executor.dispose();
  }

  /**
   * Makes a batch current in a resident place; its reference run has to follow unless `tokens` is what the place holds.
   * tokens: B rows of T + 1 ids. Throws E-DATA-02 for an id outside the vocabulary, E-DATA-03 for a wrong shape.
   */
  setBatch(tokens: readonly (readonly number[])[], place = 0): void {
    const resident = this.#batches[place];
    assert(resident, `setBatch: no resident place ${place}`);
    this.#current = place;
    if (resident.tokens === tokens) return;
    const batch = orderTokens(tokens, this.shape, this.graph.vocabulary);
    for (const [key, words] of Object.entries(batch)) this.#gpu.write(this.#buffer(resident.buffers, key), words);
    resident.tokens = tokens;
    resident.run = null;
  }

  /** The current batch's reference run, if it was made. */
  get referenceRun(): RunResult | null {
    return this.#resident(this.#current).run;
  }

  /** Runs a whole policy into the reference set; further variants are compared with it. Default: the reference policy. */
  async runReference(policy: Policy = this.#basePolicy, checkpoint?: Checkpoint): Promise<RunResult> {
    assert(policy.reference === this.#basePolicy.reference, 'runReference: the session was made for the other reference policy');
    const program = policy === this.#basePolicy ? this.#base : compileProgram(this.#values, policy, this.shape);
    const resident = this.#resident(this.#current);
    // A run that is cancelled halfway leaves no reference to compare with.
    resident.run = null;
    const commands = this.#start();
    for (const step of program.steps) commands.push(...this.#resolve(step, (key) => this.#buffer(this.#reference, key), () => false));
    for (const param of this.graph.params) commands.push(this.#compare(param.name, whole(this.#buffer(this.#reference, `dw:${param.name}`))));
    await this.#executor.run(commands, checkpoint);
    const { sums, loss, nonFiniteOperands } = await this.#collect(this.graph.params.map((p) => p.name), this.#reference, false);
    const run = { loss, sums, localError: null, nonFiniteOperands, executedSteps: program.steps.length };
    resident.run = run;
    resident.ofBase = policy === this.#basePolicy;
    return run;
  }

  /** Runs what differs from the reference. Needs runReference of the reference policy on this batch first. */
  async runVariant(variant: Variant, checkpoint?: Checkpoint): Promise<RunResult> {
    const reference = this.referenceRun;
    assert(reference && this.#resident(this.#current).ofBase, 'runVariant: run the reference policy first');
    const program = compileProgram(this.#values, variant.policy ?? this.#basePolicy, this.shape, variant.flip ?? null);
    const dirty = new Set<string>();
    const touched: string[] = [];
    const commands = this.#start();
    const baseVariants = new Map(this.#base.steps.map((step) => [step.slot, step.variant]));
    let executed = 0;
    for (const step of program.steps) {
      if (!variant.full && baseVariants.get(step.slot) === step.variant && !step.reads.some((key) => dirty.has(key))) continue;
      executed += 1;
      const scratch = new Map<string, BufferSlice>();
      let offset = 0;
      for (const key of step.writes) {
        dirty.add(key);
        if (!key.startsWith('dw:')) continue;
        const size = this.#buffer(this.#reference, key).size;
        scratch.set(key, { buffer: this.#buffer(this.#shared, 'scratch:dw'), offset, size });
        offset += Math.ceil(size / 256) * 256;
        touched.push(key.slice(3));
      }
      commands.push(...this.#resolve(step, (key) => this.#buffer(this.#work, key), (key) => !dirty.has(key), scratch));
      for (const [key, slice] of scratch) commands.push(this.#compare(key.slice(3), slice));
    }
    if (variant.localErrorOf !== undefined) {
      const local = localError(this.#values, variant.localErrorOf, variant.policy ?? this.#basePolicy, this.shape);
      for (const step of local.steps) commands.push(...this.#resolve(step, (key) => this.#buffer(this.#reference, key), () => true));
      const slice = (key: string): BufferSlice => ({ buffer: this.#buffer(this.#shared, key), offset: 0, size: local.bytes });
      commands.push(compareCommand('local-error', slice(local.low), slice(local.high), local.bytes / 16, this.#plan.localErrorFirst, whole(this.#buffer(this.#shared, 'sums'))));
    }
    await this.#executor.run(commands, checkpoint);
    const lossDirty = [...dirty].some((key) => key === `stats:${this.#lossNode()}`);
    const found = await this.#collect(touched, lossDirty ? this.#work : this.#reference, variant.localErrorOf !== undefined);
    const sums = new Map<string, TensorSums>();
    for (const param of this.graph.params) {
      const same = reference.sums.get(param.name);
      assert(same, `no reference sums of ${param.name}`);
      sums.set(param.name, found.sums.get(param.name) ?? same);
    }
    return { loss: found.loss, sums, localError: found.localError, nonFiniteOperands: found.nonFiniteOperands, executedSteps: executed };
  }

  /** The gradient of the last reference run: FP32, checkpoint names and shapes. */
  async readGradient(): Promise<Map<string, Float32Array>> {
    const out = new Map<string, Float32Array>();
    for (const param of this.graph.params) {
      const bytes = await this.#gpu.read(this.#buffer(this.#reference, `dw:${param.name}`), paramBytes(param.shape));
      out.set(param.name, unpadRows(new Float32Array(bytes), param.shape));
    }
    return out;
  }

  /** One value of the reference (or work) set as device bytes, for tests that go node by node. */
  async readValue(key: string, set: 'reference' | 'work' = 'reference'): Promise<ArrayBuffer> {
    const buffer = this.#buffer(set === 'work' ? this.#work : this.#reference, key);
    return this.#gpu.read(buffer, buffer.size);
  }

  /** Every run starts from cleared sums and a cleared count, so that no run can report another's. */
  #start(): ResolvedCommand[] {
    const alpha = this.#shared.get('low:alpha');
    return [{ clear: this.#buffer(this.#shared, 'sums') }, ...(alpha ? [{ clear: alpha }] : [])];
  }

  #resident(place: number): ResidentBatch {
    return (this.#batches[place] ??= { buffers: new Map(), tokens: null, run: null, ofBase: false });
  }

  get #reference(): Map<string, GPUBuffer> {
    return this.#resident(this.#current).buffers;
  }

  #lossNode(): string {
    return this.graph.nodes.find((node) => node.op === 'cross_entropy')?.id ?? '';
  }

  #buffer(set: Map<string, GPUBuffer>, key: string): GPUBuffer {
    const buffer = set.get(key);
    assert(buffer, `no buffer for ${key}`);
    return buffer;
  }

  #resolve(step: Step, place: (key: string) => GPUBuffer, fromReference: (key: string) => boolean, scratch = new Map<string, BufferSlice>()): ResolvedCommand[] {
    const slice = (b: Binding): BufferSlice => {
      if ('resource' in b) return whole(this.#shared.get(b.resource) ?? this.#buffer(this.#reference, b.resource));
      const moved = scratch.get(b.value);
      if (moved) return moved;
      return whole(b.from === 'reference' || fromReference(b.value) ? this.#buffer(this.#reference, b.value) : place(b.value));
    };
    return step.commands.map((command) =>
      isClear(command)
        ? { clear: this.#buffer(this.#shared, command.clear) }
        : { label: `${command.kernel}/${step.slot}`, dispatch: command, slices: command.bindings.map(slice) });
  }

  #compare(param: string, gradient: BufferSlice): ResolvedCommand {
    const reference = whole(this.#buffer(this.#reference, `dw:${param}`));
    return compareCommand(param, gradient, reference, gradient.size / 16, this.#plan.first.get(param) ?? 0, whole(this.#buffer(this.#shared, 'sums')));
  }

  async #collect(params: readonly string[], lossSet: Map<string, GPUBuffer>, withLocalError: boolean): Promise<{ sums: Map<string, TensorSums>; loss: number; localError: number | null; nonFiniteOperands: number }> {
    const rows = this.shape.sequences * this.shape.tokens;
    const alpha = this.#shared.get('low:alpha') ?? null;
    assert(this.#readback, 'the session was disposed of');
    const { sums: partials, stats, nonFiniteOperands } = await this.#readback.read(this.#buffer(this.#shared, 'sums'), this.#buffer(lossSet, `stats:${this.#lossNode()}`), rows * 16, alpha);
    const sums = new Map(params.map((name) => [name, addPartials(partials, this.#plan.first.get(name) ?? 0, this.#plan.chunks.get(name) ?? 0)]));
    let relative: number | null = null;
    if (withLocalError) {
      // Chunks past the site's own are zero. A pass whose own output is zero or overflows has no relative error: null, never a NaN that looks like a figure.
      const s = addPartials(partials, this.#plan.localErrorFirst, this.#plan.total - this.#plan.localErrorFirst);
      relative = s.rr > 0 && Number.isFinite(s.dd / s.rr) ? s.dd / s.rr : null;
    }
    return { sums, loss: lossOf(stats, rows), localError: relative, nonFiniteOperands };
  }
}
