/**
 * The memory ledger: bytes of a run by what they are for, predicted from the graph alone so that the page can show them
 * before Run; the engine fills the same shape from the buffers it really made, and a test holds the two together.
 * Why a second reckoning: the page has no engine, and a figure that is read off the engine's own plan proves nothing.
 */
import type { FormatName } from '../numerics/formats';
import { operandFormat, packedSize } from '../numerics/schemes';
import { parameterBytes, predictScratch, rowBytes } from './ledger-scratch';
import { OUT_SCHEME, type Policy, type PolicyOptions, type RecipeName } from './policy';
import { recipeOptions } from './recipes';
import { OP_SIGNATURES, type BatchShape } from './signatures';
import { paintableSites } from './sites';
import type { Graph, GraphNode } from './types';

export interface Ledger {
  /** Parameters: FP32 masters and BF16 GEMM operands. */
  readonly weightBytes: number;
  /** Activations that a run keeps for its backward pass, by the format they are stored in, scales included. */
  readonly activationBytes: Readonly<Partial<Record<FormatName | 'FP32', number>>>;
  /** Activation gradients. */
  readonly gradientBytes: number;
  readonly parameterGradientBytes: number;
  /** Working buffers of single steps, partial sums, token ids. */
  readonly scratchBytes: number;
  readonly totalBytes: number;
}

/** Whole runs of one policy on one batch, as `gradient` and training do. */
export interface PlanRun {
  readonly kind: 'plan';
  readonly policy: Policy;
}

/** Variant runs of a recipe against BF16 references. */
export interface ProbeRun {
  readonly kind: 'probe';
  readonly recipe: RecipeName;
  readonly options?: PolicyOptions;
  /** Options of op groups that a joint policy lowers beside the recipe of passes that is swept. */
  readonly outs?: PolicyOptions;
  /** How many batches keep their reference run on the device. */
  readonly batches: number;
  /** Shifts kept for what persists; 0 by default. */
  readonly shiftSets?: number;
}

/** Reference runs stay on the device below this; beyond it they are run again. */
export const RESIDENT_BYTES = 1 << 30;
/** Fewest batches that count as draws of a shift, and draws of the first batch under stochastic rounding (method.md 1). */
export const FEWEST_BATCHES = 8;
export const STOCHASTIC_DRAWS = 8;

/**
 * What a probe of so many batches keeps on the device: their reference runs where all fit, else one; shifts of all
 * batches where it is asked what persists and the reference runs still fit, else those of the draws.
 */
export function probeRun(graph: Graph, shape: BatchShape, batches: number, measuring: Omit<ProbeRun, 'kind' | 'batches' | 'shiftSets'> & { readonly persistent: boolean }): ProbeRun {
  const { persistent, ...swept } = measuring;
  const draws = persistent && recipeOptions(swept.recipe, swept.options ?? {}).sr ? STOCHASTIC_DRAWS : 0;
  const all: ProbeRun = { kind: 'probe', ...swept, batches, shiftSets: persistent && batches >= FEWEST_BATCHES ? Math.max(draws, batches) : draws };
  const fits = (run: ProbeRun): boolean => predictLedger(graph, shape, run).totalBytes <= RESIDENT_BYTES;
  if (fits(all)) return all;
  const fewer = { ...all, shiftSets: draws };
  return fits(fewer) ? fewer : { ...fewer, batches: 1 };
}

/** Bytes a record of a quantized tensor takes: amax, non-finite count, scales. */
const RECORD_BYTES = 32;

/** What a run will hold on the device. Rows of every tensor are padded to four elements. */
export function predictLedger(graph: Graph, shape: BatchShape, run: PlanRun | ProbeRun): Ledger {
  const rows = shape.sequences * shape.tokens;
  const readers = readersOf(graph);
  const plan = run.kind === 'plan' ? run.policy : null;
  const isBf16 = plan?.reference !== 'fp32';
  const wide = isBf16 ? 2 : 4;
  const { outs, options } = lowOutputs(graph, run);
  const [batches, shifts] = run.kind === 'probe' ? [run.batches, run.shiftSets ?? 0] : [1, 0];
  // A probe has a reference set a batch, kept wide, and one work set for what a variant changes.
  const sets = plan ? 1 : batches + 1;

  const packed = packedBytes(graph, rows, outs, options);
  const kept = wideBytes(graph, rows, plan ? outs : new Set(), wide);
  const parameters = graph.params.reduce((sum, { shape: dims }) => sum + parameterBytes(dims), 0);
  // The head's share of a tied table is a tensor of its own.
  const tied = graph.params.reduce((sum, { name, shape: dims }) => sum + ((readers.params.get(name)?.length ?? 0) > 1 ? parameterBytes(dims) : 0), 0);
  const ids = batches * 4 * (3 * rows + graph.vocabulary + 1);

  const weightBytes = weights(graph, readers, isBf16);
  const floats = sets * statisticsBytes(graph, rows);
  const activationBytes = {
    ...(isBf16 && kept > 0 ? { BF16: sets * kept } : {}),
    FP32: floats + (isBf16 ? 0 : sets * kept),
    ...(outs.size > 0 ? { [operandFormat(OUT_SCHEME, 'x', options).element]: packed } : {}),
  };
  const gradientBytes = sets * arrivingBytes(graph, readers, rows, wide) + quantizedGradients(graph, readers, rows, outs);
  const parameterGradientBytes = (plan ? 1 : batches) * parameters + sets * tied + shifts * parameters;
  const scratchBytes = ids + predictScratch(graph, shape, { isProbe: !plan, hasPasses: isBf16 && (!plan || Object.keys(plan.passes).length > 0), outs, options, wide, shifts });
  const all = [weightBytes, ...Object.values(activationBytes), gradientBytes, parameterGradientBytes, scratchBytes];
  return { weightBytes, activationBytes, gradientBytes, parameterGradientBytes, scratchBytes, totalBytes: all.reduce((a, b) => a + b, 0) };
}

/** Op groups that are low, of a probe all that may be, and the options that say how they are stored. */
function lowOutputs(graph: Graph, run: PlanRun | ProbeRun): { readonly outs: ReadonlySet<string>; readonly options: PolicyOptions } {
  if (run.kind === 'plan') return { outs: new Set(run.policy.outs), options: run.policy.options };
  const options = run.recipe === OUT_SCHEME ? (run.options ?? {}) : run.outs;
  return { outs: new Set(options ? paintableSites(graph, OUT_SCHEME).map(({ node }) => node) : []), options: options ?? {} };
}

interface Readers {
  /** Node id -> the nodes that read its output, once a port. */
  readonly outputs: ReadonlyMap<string, readonly GraphNode[]>;
  /** Parameter -> for each reading node whether it reads it as a GEMM weight. */
  readonly params: ReadonlyMap<string, readonly boolean[]>;
}

function readersOf(graph: Graph): Readers {
  const outputs = new Map<string, GraphNode[]>(graph.nodes.map(({ id }) => [id, []]));
  const params = new Map<string, boolean[]>(graph.params.map(({ name }) => [name, []]));
  for (const node of graph.nodes) {
    for (const input of node.inputs) outputs.get(input)?.push(node);
    for (const [role, name] of Object.entries(node.params)) params.get(name)?.push(node.op === 'linear' && role === 'weight');
  }
  return { outputs, params };
}

/** FP32 where a float op reads a parameter, BF16 where a GEMM does; a tied table is both. */
function weights(graph: Graph, { params }: Readers, isBf16: boolean): number {
  return graph.params.reduce((sum, { name, shape: dims }) => {
    const byGemm = params.get(name) ?? [];
    const masters = !isBf16 || byGemm.includes(false) ? parameterBytes(dims) : 0;
    return sum + masters + (isBf16 && byGemm.includes(true) ? parameterBytes(dims) / 2 : 0);
  }, 0);
}

/** Outputs in the wide format, those that are kept packed only left out. The loss is in its statistics. */
function wideBytes(graph: Graph, rows: number, packedOnly: ReadonlySet<string>, wide: number): number {
  return graph.nodes.reduce((sum, node) => sum + (node.op === 'cross_entropy' || packedOnly.has(node.id) ? 0 : rowBytes(node.cols, wide) * rows), 0);
}

function packedBytes(graph: Graph, rows: number, outs: ReadonlySet<string>, options: PolicyOptions): number {
  const format = operandFormat(OUT_SCHEME, 'x', options);
  return graph.nodes.reduce((sum, node) => sum + (outs.has(node.id) ? packedSize(format, rows, node.cols).bytes + RECORD_BYTES : 0), 0);
}

/** FP32 values that ops keep beside their output. */
function statisticsBytes(graph: Graph, rows: number): number {
  const floats = graph.nodes.flatMap(({ op }) => OP_SIGNATURES[op].saved.map((value) => ('made' in value ? value.floatsPerRow : 0)));
  return 4 * rows * floats.reduce((a, b) => a + b, 0);
}

/** A gradient for every input of every node but sums, which pass theirs on, and one where several consumers meet. */
function arrivingBytes(graph: Graph, { outputs }: Readers, rows: number, wide: number): number {
  const columns = new Map(graph.nodes.map(({ id, cols }) => [id, cols]));
  return graph.nodes.reduce((sum, node) => {
    const sent = node.op === 'add' ? 0 : node.inputs.reduce((total, id) => total + rowBytes(columns.get(id) ?? 0, wide), 0);
    const summed = (outputs.get(node.id)?.length ?? 0) > 1 ? rowBytes(node.cols, wide) : 0;
    return sum + (sent + summed) * rows;
  }, 0);
}

/** A low group's rounded gradient takes the arriving one's place or passes; a sum's that feeds a sum is read by others later. */
function quantizedGradients(graph: Graph, { outputs }: Readers, rows: number, outs: ReadonlySet<string>): number {
  return graph.nodes.reduce((sum, node) => {
    const readers = outs.has(node.id) && node.op === 'add' ? (outputs.get(node.id) ?? []) : [];
    return sum + (readers.length === 1 && readers[0]?.op === 'add' ? rowBytes(node.cols, 2) * rows : 0);
  }, 0);
}
