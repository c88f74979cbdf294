/**
 * Working buffers of a run, predicted from the graph: what single steps need beside the tensors that are kept. One
 * of a kind serves every step, so each is as large as the largest step that takes it.
 */
import { OUT_SCHEME, type PolicyOptions } from './policy';
import { operandFormat, packedSize, scaleBits, type OperandFormat } from '../numerics/schemes';
import type { BatchShape } from './signatures';
import type { Graph, GraphNode } from './types';

export interface ScratchOf {
  /** Variant runs: gradients are compared while they pass, and local errors taken. */
  readonly isProbe: boolean;
  /** Whether a pass may be low. */
  readonly hasPasses: boolean;
  /** Node ids of op groups that may be low, under these options. */
  readonly outs: ReadonlySet<string>;
  readonly options: PolicyOptions;
  /** Bytes of an activation's element. */
  readonly wide: number;
  readonly shifts: number;
}

/** Rows of the partial sums of a column sum; elements of those of a comparison, and bytes of one of these. */
const COLUMN_ROWS = 64;
const COMPARE_ELEMENTS = 1024;
const COMPARE_BYTES = 32;
/** Parameters of dispatches, 256 slots of 256 bytes: equal ones share a slot, so layers do, and one block mostly is enough. */
const DISPATCH_BYTES = 1 << 16;
/** Least size of the buffer that results are mapped in. */
const MAPPED_BYTES = 1 << 16;
/** Rows of a packed operand are padded to this; a Hadamard transform pads the tokens to groups. */
const PACKED_COLUMNS = 64;
const TOKEN_GROUP = 16;

/** Bytes of a row of `cols` elements, padded to four. */
export function rowBytes(cols: number, elementBytes: number): number {
  return Math.ceil(cols / 4) * 4 * elementBytes;
}
function tensorBytes(rows: number, cols: number, elementBytes: number): number {
  return rows * rowBytes(cols, elementBytes);
}
/** FP32 bytes of a parameter or its gradient. */
export function parameterBytes(dims: readonly number[]): number {
  return tensorBytes(dims.length === 2 ? (dims[0] ?? 0) : 1, dims.at(-1) ?? 0, 4);
}

export function predictScratch(graph: Graph, shape: BatchShape, of: ScratchOf): number {
  const rows = shape.sequences * shape.tokens;
  const local = of.isProbe ? localErrorBytes(graph, rows) : 0;
  const compared = of.isProbe && of.outs.size > 0 ? Math.max(local, ...graph.nodes.map(({ cols }) => tensorBytes(rows, cols, 4))) : local;
  const chunks = graph.params.reduce((sum, { shape: dims }) => sum + Math.ceil(parameterBytes(dims) / 4 / COMPARE_ELEMENTS), 0);
  const sums = COMPARE_BYTES * (chunks + Math.ceil(compared / 4 / COMPARE_ELEMENTS));
  const columns = Math.max(...graph.nodes.map(({ cols }) => cols));
  return [
    attentionBytes(graph, shape, of),
    // Sums over the rows for biases and norms: two partials, dw and db.
    Math.ceil(rows / COLUMN_ROWS) * 2 * rowBytes(columns, 4),
    // A variant's parameter gradient, or the two of a norm, while they are compared.
    of.isProbe ? Math.max(...graph.params.map(({ shape: dims }) => parameterBytes(dims) * (dims.length === 1 ? 2 : 1))) : 0,
    2 * local,
    of.hasPasses ? operandsBytes(graph, rows) : 0,
    outputsBytes(graph, rows, of),
    // Once where they are written and once where they are mapped, with the loss of each token; gradients are mapped there too.
    sums + Math.max(MAPPED_BYTES, sums + 16 * rows),
    (4 * chunks * of.shifts * (of.shifts + 1)) / 2,
    DISPATCH_BYTES,
  ].reduce((a, b) => a + b, 0);
}

/** P and dP in FP32 and the rounded P, of all heads of a batch. P's place is also that of a low group's weight, rounded to BF16. */
function attentionBytes(graph: Graph, { sequences, tokens }: BatchShape, { wide, outs }: ScratchOf): number {
  const rows = sequences * tokens * Math.max(1, ...graph.nodes.map((node) => node.heads));
  const weight = Math.max(0, ...lowWeights(graph, outs).map(([r, length]) => tensorBytes(r, length, 2)));
  return rows * rowBytes(tokens, 4 + wide) + Math.max(rows * rowBytes(tokens, 4), weight);
}

/** Weights of low groups, contracted axis last, of either pass: rows and length. */
function lowWeights(graph: Graph, outs: ReadonlySet<string>): (readonly [number, number])[] {
  return graph.nodes.filter(({ id, op }) => op === 'linear' && outs.has(id)).flatMap(({ cols, inCols }) => [[cols, inCols], [inCols, cols]] as const);
}

function blockLinears(graph: Graph): GraphNode[] {
  return graph.nodes.filter((node) => node.op === 'linear' && node.layer !== null);
}

/** The largest FP32 output of a pass: y, dx or dw. */
function localErrorBytes(graph: Graph, rows: number): number {
  return Math.max(...blockLinears(graph).map(({ cols, inCols }) => Math.max(tensorBytes(rows, cols, 4), tensorBytes(rows, inCols, 4), tensorBytes(inCols, cols, 4))));
}

/** Codes of a byte, one-byte scales and FP32 factors of blocks of `block` elements. */
function quantizedBytes(rows: number, length: number, block: number): number {
  return rows * Math.ceil(length / PACKED_COLUMNS) * PACKED_COLUMNS * (1 + 5 / block);
}

/** Both operands of the largest low pass, in the widest codes and the finest blocks of any scheme, and one transformed. */
function operandsBytes(graph: Graph, rows: number): number {
  const depth = Math.ceil(rows / TOKEN_GROUP) * TOKEN_GROUP;
  const largest = (size: (node: GraphNode) => number): number => Math.max(...blockLinears(graph).map(size));
  const activation = largest(({ cols, inCols }) => Math.max(...[cols, inCols].map((c) => Math.max(quantizedBytes(rows, c, 16), quantizedBytes(c, depth, 16)))));
  const weight = largest(({ cols, inCols }) => Math.max(quantizedBytes(cols, inCols, 16), quantizedBytes(inCols, cols, 16)));
  return activation + Math.max(activation, weight) + largest(({ cols, inCols }) => tensorBytes(Math.max(cols, inCols), depth, 2));
}

/** One-byte or FP32 scales and FP32 factors of the blocks of [rows, length]; what is only rounded has no codes. */
function scaleBytes(format: OperandFormat, rows: number, length: number): number {
  const { scaleWords } = packedSize(format, rows, length);
  return 4 * scaleWords * (1 + (scaleBits(format) === 0 ? 0 : 32 / scaleBits(format)));
}

/** Where low outputs pass: their value on its way to codes, two unpacked inputs of a step, a rounded gradient, scales. */
function outputsBytes(graph: Graph, rows: number, { outs, options }: ScratchOf): number {
  const low = graph.nodes.filter((node) => outs.has(node.id));
  if (low.length === 0) return 0;
  const widest = (nodes: readonly GraphNode[]): number => Math.max(0, ...nodes.map(({ cols }) => tensorBytes(rows, cols, 2)));
  const byId = new Map(low.map((node) => [node.id, node]));
  /** The first or second low input of each of these nodes. */
  const input = (nodes: readonly GraphNode[], i: number): GraphNode[] => nodes.flatMap(({ inputs }) => inputs.flatMap((id) => byId.get(id) ?? []).slice(i, i + 1));
  const readers = (id: string): GraphNode[] => graph.nodes.flatMap((node) => node.inputs.filter((input) => input === id).map(() => node));
  // The gradient at a sum is its inputs' too: what one of them rounds is apart from it.
  const besideSum = low.filter(({ id, op }) => op !== 'add' && readers(id).every((node, _, all) => all.length === 1 && node.op === 'add'));
  const scales = Math.max(
    ...low.flatMap(({ cols }) => (['x', 'dy'] as const).map((role) => scaleBytes(operandFormat(OUT_SCHEME, role, options), rows, cols))),
    ...lowWeights(graph, outs).map(([r, length]) => scaleBytes(operandFormat(OUT_SCHEME, 'w', options), r, length)),
  );
  return widest(low) + widest([...input(low, 0), ...input(graph.nodes, 1)]) + widest(input(low, 1)) + widest(besideSum) + scales;
}
