/**
 * A model on a device: buffers allocated once from the memory plan, one batch at a time, a reference run and any number
 * of variant runs against it. A variant run executes only the steps a change can reach and compares every parameter
 * gradient it touches with the reference's while it sits in scratch. `dispose` gives every byte back.
 */
import { assert, BendscopeError } from '../base/errors';
import { REFERENCE_POLICY, type Policy, type RandomDraw, type SiteId } from '../graph/policy';
import type { Ledger } from '../graph/ledger';
import type { Graph } from '../graph/types';
import type { Gpu } from '../gpu/gpu';
import { orderTokens } from './batch';
import { SessionBuffers } from './buffers';
import type { OutputSums, TensorSums } from './comparison';
import { compileProgram } from './compile';
import { Executor, type Checkpoint } from './executor';
import { localError } from './local-error';
import { planMemory, sessionSums, sessionValues, type BufferSet, type comparePlan, type MemoryPlan, type SessionUse } from './memory';
import { assertTransient, sameOuts } from './packed-cache';
import { loadParameters } from './parameters';
import type { Program } from './program';
import type { RunResult, Variant } from './run';
import { SessionCommands } from './session-commands';
import { SessionResults } from './session-results';
import { gramCommands } from './shifts';
import { Values, type BatchShape } from './values';
import { variantSteps } from './variant-steps';

interface ResidentBatch {
  tokens: readonly (readonly number[])[] | null;
  run: RunResult | null;
  /** Whether `run` is of the base policy: only then can variants be told apart from it. */
  ofBase: boolean;
}

export class Session {
  readonly graph: Graph;
  readonly shape: BatchShape;
  readonly memory: MemoryPlan;
  #gpu: Gpu;
  #use: SessionUse;
  #executor: Executor;
  #buffers: SessionBuffers;
  #batches: ResidentBatch[] = [];
  #current = 0;
  #basePolicy: Policy;
  #values: Values;
  #base: Program;
  #plan: ReturnType<typeof comparePlan>;
  #results: SessionResults;

  private constructor(gpu: Gpu, graph: Graph, shape: BatchShape, use: SessionUse, memory: MemoryPlan, targetMs?: number) {
    this.#gpu = gpu;
    this.graph = graph;
    this.shape = shape;
    this.memory = memory;
    this.#use = use;
    this.#executor = new Executor(gpu, targetMs);
    this.#buffers = new SessionBuffers(gpu, memory);
    this.#basePolicy = use.plan ?? REFERENCE_POLICY;
    this.#values = sessionValues(graph, use).own;
    this.#base = compileProgram(this.#values, this.#basePolicy, shape);
    assertTransient(this.#values, this.#base);
    this.#plan = sessionSums(graph, shape, use);
    this.#results = new SessionResults(gpu, this.#buffers, this.#plan, shape.sequences * shape.tokens);
    for (let k = 0; k < (use.batches ?? 1); k++) this.#batches.push({ tokens: null, run: null, ofBase: false });
  }

  /**
   * Allocates and uploads. params: FP32 values under their checkpoint names; use: what the session is for; targetMs: see
   * Executor. Throws E-MEM-01 when the device has no room; then nothing stays allocated.
   */
  static async create(gpu: Gpu, graph: Graph, params: ReadonlyMap<string, Float32Array>, shape: BatchShape, use: SessionUse = {}, targetMs?: number): Promise<Session> {
    if (shape.tokens > graph.maxTokens || shape.tokens < 1 || shape.sequences < 1) {
      throw new BendscopeError('E-DATA-03', `batch: expected 1 to ${graph.maxTokens} tokens a sequence, got ${shape.sequences} x ${shape.tokens}`, 'Use shorter windows.');
    }
    const memory = planMemory(graph, shape, use);
    gpu.device.pushErrorScope('out-of-memory');
    let session: Session | null = null;
    let failure: unknown = null;
    try {
      session = new Session(gpu, graph, shape, use, memory, targetMs);
      const buffers = session.#buffers;
      buffers.allocate();
      session.#executor.reserve();
      loadParameters(gpu, graph, params, (key) => buffers.find('shared', key));
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

  get longestSubmissionMs(): number {
    return this.#executor.longestSubmissionMs;
  }

  /** What the session's buffers really take now; the uniform arena of its runs counts as scratch. */
  get allocated(): Ledger {
    return this.#buffers.ledger(this.#executor.paramsBytes);
  }

  dispose(): void {
    this.#buffers.dispose();
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
    for (const [key, words] of Object.entries(batch)) this.#gpu.write(this.#buffers.get(this.#reference, key), words);
    resident.tokens = tokens;
    resident.run = null;
  }

  /** The current batch's reference run, if it was made. */
  get referenceRun(): RunResult | null {
    return this.#resident.run;
  }

  /**
   * Runs a whole policy into the reference set; variants are compared with the base policy's run only. Default: the policy
   * the session was made for, else the reference policy; another one must have the same low op groups.
   */
  async runReference(policy: Policy = this.#basePolicy, checkpoint?: Checkpoint, random?: RandomDraw): Promise<RunResult> {
    assert(policy.reference === this.#basePolicy.reference, 'runReference: the session was made for the other reference policy');
    // Outputs of other groups, or of another form, would land in buffers that are shared or too small for them.
    assert(sameOuts(policy, this.#basePolicy), 'runReference: the session was made for other low op groups');
    const values = new Values(this.graph, policy, this.#use.cache);
    const program = policy === this.#basePolicy && !random ? this.#base : compileProgram(values, policy, this.shape, { ...(random ? { random } : {}) });
    const resident = this.#resident;
    // A run that is cancelled halfway leaves no reference to compare with.
    resident.run = null;
    const on = this.#commands();
    const commands = [...on.start(), ...program.steps.flatMap((step) => on.step(step, null)), ...this.graph.params.map(({ name }) => on.compare(name))];
    await this.#executor.run(commands, checkpoint);
    const found = await this.#results.ofRun(this.graph.params.map((p) => p.name), this.#buffers.get(this.#reference, this.#loss), null);
    resident.run = { ...found, executedSteps: program.steps.length };
    resident.ofBase = policy === this.#basePolicy;
    return resident.run;
  }

  /** Runs what differs from the reference. Needs runReference of the reference policy on this batch first. */
  async runVariant(variant: Variant, checkpoint?: Checkpoint): Promise<RunResult> {
    const reference = this.referenceRun;
    assert(!this.#use.plan, 'runVariant: the session was made for whole runs of one policy');
    assert(reference && this.#resident.ofBase, 'runVariant: run the reference policy first');
    const { policy = this.#basePolicy, flip, random, localErrorOf, keepShift } = variant;
    const settings = { ...(flip ? { flip } : {}), ...(random ? { random } : {}) };
    const program = compileProgram(new Values(this.graph, policy, this.#use.cache), policy, this.shape, settings);
    const { steps, dirty } = variantSteps(program, this.#base, variant.full ?? false);
    const on = this.#commands();
    const commands = on.start();
    const touched = new Set<string>();
    for (const step of steps) {
      const gradients = on.scratchGradients(step);
      commands.push(...on.step(step, dirty, gradients));
      for (const [key, slice] of gradients) {
        const param = key.slice(3);
        touched.add(param);
        commands.push(on.compare(param, slice), ...(keepShift === undefined ? [] : [on.keepShift(keepShift, param, slice)]));
      }
    }
    const untouched = this.graph.params.filter(({ name }) => !touched.has(name));
    if (keepShift !== undefined) commands.push(...untouched.map(({ name }) => on.keepShift(keepShift, name, null)));
    const output = localErrorOf === undefined ? null : localError(this.#values, localErrorOf, policy, this.shape, settings);
    if (output) commands.push(...on.localError(output));
    await this.#executor.run(commands, checkpoint);
    const lossRows = this.#buffers.get(dirty.has(this.#loss) ? 'work' : this.#reference, this.#loss);
    const found = await this.#results.ofRun([...touched], lossRows, output);
    const sums = new Map<string, TensorSums>();
    for (const { name } of this.graph.params) {
      const known = found.sums.get(name) ?? reference.sums.get(name);
      assert(known, `no sums of ${name}`);
      sums.set(name, known);
    }
    return { ...found, sums, executedSteps: steps.length };
  }

  /**
   * Sums over a site's own output, low against the reference's, on the current batch: no run is made. policy: lowers the
   * site; random: as of a variant. Needs runReference of the reference policy on this batch first.
   */
  async measureOutput(site: SiteId, policy: Policy, random?: RandomDraw, checkpoint?: Checkpoint): Promise<OutputSums> {
    assert(!this.#use.plan && this.referenceRun && this.#resident.ofBase, 'measureOutput: run the reference policy first');
    const output = localError(this.#values, site, policy, this.shape, random ? { random } : {});
    const on = this.#commands();
    await this.#executor.run([...on.start(), ...on.localError(output)], checkpoint);
    return this.#results.ofOutput(output);
  }

  /** Inner products of the first n kept shifts, [n, n] in FP64. */
  async readGram(n: number): Promise<Float64Array> {
    assert(n <= (this.#use.shiftSets ?? 0), `readGram: expected at most ${this.#use.shiftSets ?? 0} shifts, got ${n}`);
    await this.#executor.run(gramCommands(this.graph, this.#buffers, this.#plan, n));
    return this.#results.gram(n);
  }

  /** The gradient of the last reference run: FP32, checkpoint names and shapes. */
  async readGradient(): Promise<Map<string, Float32Array>> {
    return this.#results.gradient(this.graph, this.#reference);
  }

  /** One value of the reference (or work) set as device bytes, for tests that go node by node. */
  async readValue(key: string, set: 'reference' | 'work' = 'reference'): Promise<ArrayBuffer> {
    const buffer = this.#buffers.get(set === 'work' ? 'work' : this.#reference, key);
    return this.#gpu.read(buffer, buffer.size);
  }

  #commands(): SessionCommands {
    return new SessionCommands(this.#buffers, this.#plan, this.#reference);
  }

  get #reference(): BufferSet {
    return `batch ${this.#current}`;
  }

  get #resident(): ResidentBatch {
    const resident = this.#batches[this.#current];
    assert(resident, 'the session has no such place');
    return resident;
  }

  /** The value that holds the loss rows. */
  get #loss(): string {
    return `stats:${this.graph.nodes.find((node) => node.op === 'cross_entropy')?.id ?? ''}`;
  }
}
