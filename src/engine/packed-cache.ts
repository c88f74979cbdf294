/**
 * The activation cache of low op groups (method.md 3, 4): a low output is quantized once, from its BF16 value, when it
 * is written, and kept packed; every step that reads it unpacks it into a shared scratch of BF16 values first, so no op
 * knows. The gradient that arrives at a low group is quantized likewise before anything reads it.
 */
import { assert } from '../base/errors';
import { OUT_SCHEME } from '../graph/policy';
import type { GraphNode } from '../graph/types';
import type { OperandFormat } from '../numerics/schemes';
import { KERNELS } from './kernels';
import { resource, value } from './ops/op';
import { isClear, tensorBytes, type Binding, type Clear, type Dispatch, type Program, type Step, type ValueKey } from './program';
import { countCommand, dequantizeCommands, placeBytes, quantizeCommands, type Places } from './quantize-commands';
import type { BatchShape, Values } from './values';

/** Where a plan session lets the BF16 value of a low output pass through on its way to its codes. */
export const TRANSIENT_Y = 'scratch:y';
/** Where the low inputs of one step are unpacked, at most two: of a step that itself writes a low output, and of another. */
const UNPACKED_BESIDE_Y = ['scratch:x0', 'scratch:x1'] as const;
const UNPACKED = [TRANSIENT_Y, 'scratch:x0'] as const;

/** Codes that no later step reads: of a gradient, or of an output whose values are kept. */
const PASSING: Places = {
  record: resource('scratch:q:record'), codes: resource('scratch:q:codes'),
  scales: resource('scratch:q:scales'), multipliers: resource('scratch:q:multipliers'),
};

function kept(values: Values, id: string): Places {
  const { codes, record, scales } = values.packedY(id);
  return { ...PASSING, record: value(record), codes: value(codes), ...(scales === null ? {} : { scales: value(scales) }) };
}

/** A step whose reads and writes are what its commands bind; what it wrote itself it does not count as read. */
function step(slot: string, variant: string, commands: Step['commands']): Step {
  const reads = new Set<ValueKey>();
  const writes = new Set<ValueKey>();
  const note = (binding: Binding, access: 'read' | 'write' | undefined): void => {
    if (!('value' in binding)) return;
    if (access === 'write') writes.add(binding.value);
    else if (!writes.has(binding.value)) reads.add(binding.value);
  };
  for (const command of commands) {
    if (isClear(command)) note(command.clear, 'write');
    else command.bindings.forEach((binding, i) => note(binding, KERNELS[command.kernel].bindings[i]));
  }
  return { slot, variant, reads: [...reads], writes: [...writes], commands };
}

/** Blocks lie along the last axis. */
function quantized(data: ValueKey, node: GraphNode, rows: number, format: OperandFormat, places: Places): (Dispatch | Clear)[] {
  return quantizeCommands({ data: value(data), sourceFormat: 'bf16', sourceRows: rows, cols: node.cols, transposed: false, rows, length: node.cols }, format, places);
}

/** y:X -> the kept output of the low group X. */
export function outStep(values: Values, node: GraphNode, shape: BatchShape): Step {
  const rows = shape.sequences * shape.tokens;
  const packed = values.cache === 'packed';
  const places = packed ? kept(values, node.id) : PASSING;
  const commands = [...quantized(values.y(node.id), node, rows, values.outFormat, places), countCommand(places.record)];
  if (!packed) commands.push(...dequantizeCommands(values.outFormat, rows, node.cols, places, value(values.unpackedY(node.id)), 'bf16'));
  return step(`${node.id}/out`, OUT_SCHEME, commands);
}

/** The gradient that arrives at the low group X -> dyq:X. */
export function outGradientStep(values: Values, node: GraphNode, shape: BatchShape): Step {
  const rows = shape.sequences * shape.tokens;
  const format = values.outGradientFormat;
  return step(`${node.id}/out-dy`, OUT_SCHEME, [
    ...quantized(values.arriving(node.id), node, rows, format, PASSING),
    countCommand(PASSING.record),
    ...dequantizeCommands(format, rows, node.cols, PASSING, value(values.dy(node.id)), 'bf16'),
  ]);
}

/** y:X quantized and read back into a scratch, for its local error. */
export function roundTrip(values: Values, node: GraphNode, shape: BatchShape): { readonly step: Step; readonly out: Binding } {
  const rows = shape.sequences * shape.tokens;
  const out = resource(UNPACKED[0]);
  const commands = [...quantized(values.y(node.id), node, rows, values.outFormat, PASSING), ...dequantizeCommands(values.outFormat, rows, node.cols, PASSING, out, 'bf16')];
  return { step: step(`local-error/${node.id}`, OUT_SCHEME, commands), out };
}

/** A step with every read of a low output replaced by a read of what is kept of it. */
export function readKept(values: Values, plain: Step, shape: BatchShape): Step {
  const rows = shape.sequences * shape.tokens;
  const low = values.graph.nodes.filter((node) => values.isLow(node.id) && plain.reads.includes(values.y(node.id)));
  if (low.length === 0) return plain;
  const places = values.graph.nodes.some(({ id }) => values.isLow(id) && plain.writes.includes(values.y(id))) ? UNPACKED_BESIDE_Y : UNPACKED;
  assert(low.length <= places.length, `${plain.slot}: at most ${places.length} low inputs a step are supported`);
  const readFrom = new Map<ValueKey, Binding>();
  const unpack: Dispatch[] = [];
  low.forEach((node, i) => {
    const from = values.cache === 'packed' ? resource(places[i] ?? '') : value(values.unpackedY(node.id));
    readFrom.set(values.y(node.id), from);
    if (values.cache === 'packed') unpack.push(...dequantizeCommands(values.outFormat, rows, node.cols, kept(values, node.id), from, 'bf16'));
  });
  const bind = (binding: Binding): Binding => ('value' in binding ? (readFrom.get(binding.value) ?? binding) : binding);
  const commands = plain.commands.map((command) => (isClear(command) ? command : { ...command, bindings: command.bindings.map(bind) }));
  return step(plain.slot, plain.variant, [...unpack, ...commands]);
}

/** Throws E-BUG-03 unless the raw output of each low group is read by the very next step alone: only then may all share one place. */
export function assertTransient(values: Values, { steps }: Program): void {
  for (const node of values.graph.nodes) {
    if (!values.isLow(node.id)) continue;
    const key = values.y(node.id);
    const readers = steps.filter((s) => s.reads.includes(key)).map((s) => s.slot);
    const next = steps[steps.findIndex((s) => s.writes.includes(key)) + 1];
    assert(readers.length === 1 && next?.slot === readers[0], `${key}: expected the next step to read it and no other, got ${readers.join(', ')}`);
  }
}

/** Scratch that the cache of these values needs, or of any with fewer low groups. */
export function outScratch(values: Values, shape: BatchShape): { key: string; bytes: number }[] {
  const rows = shape.sequences * shape.tokens;
  const { nodes } = values.graph;
  const low = nodes.filter((node) => values.isLow(node.id));
  if (low.length === 0) return [];
  const y = (node: GraphNode): number => tensorBytes(rows, node.cols, true);
  const widest = (list: readonly GraphNode[]): number => Math.max(0, ...list.map(y));
  /** The first or second of a node's low inputs in graph order, as `readKept` takes them. */
  const inputs = (of: readonly GraphNode[], i: number): GraphNode[] => of.flatMap((node) => low.filter(({ id }) => node.inputs.includes(id)).slice(i, i + 1));
  const codes = (what: keyof Places): { key: string; bytes: number } => ({
    key: `scratch:q:${what}`,
    bytes: Math.max(...low.flatMap((node) => [values.outFormat, values.outGradientFormat].map((format) => placeBytes(format, rows, node.cols)[what]))),
  });
  return [
    { key: TRANSIENT_Y, bytes: widest(low) },
    { key: UNPACKED_BESIDE_Y[0], bytes: widest([...inputs(low, 0), ...inputs(nodes, 1)]) },
    { key: UNPACKED_BESIDE_Y[1], bytes: widest(inputs(low, 1)) },
    ...(['record', 'codes', 'scales', 'multipliers'] as const).map(codes),
  ].filter(({ bytes }) => bytes > 0);
}
