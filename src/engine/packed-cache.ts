/**
 * The activation cache of low op groups (method.md 3, 4): a low output is quantized once, from its BF16 value, when it
 * is written, and kept packed; every step that reads it unpacks it into a shared scratch of BF16 values first, so no op
 * knows. The gradient that arrives at a low group, and the weight its GEMM reads, are rounded likewise and never packed.
 */
import { canonicalJson } from '../base/canonical-json';
import { assert } from '../base/errors';
import { OUT_SCHEME, type Policy, type PolicyOptions } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';
import type { GraphNode } from '../graph/types';
import { operandFormat } from '../numerics/schemes';
import { natural, type Operand } from './gemm';
import { KERNELS } from './kernels';
import { variantOf, weightSource } from './low-linear';
import { resource, value } from './ops/op';
import { isClear, tensorBytes, type Binding, type Clear, type Dispatch, type Program, type Step, type ValueKey } from './program';
import { countCommand, dequantizeCommands, placeBytes, qdqCommands, quantizeCommands, type Places, type Scaled, type Source } from './quantize-commands';
import type { BatchShape, Values } from './values';

/** Where a plan session lets the BF16 value of a low output pass through on its way to its codes. */
export const TRANSIENT_Y = 'scratch:y';
/** Where the rounded gradient of a low group passes to the group's own steps, if what arrived is needed by others as it was. */
export const TRANSIENT_DY = 'scratch:dy';
/** Where the low inputs of one step are unpacked, at most two: of a step that itself writes a low output, and of another. */
const UNPACKED_BESIDE_Y = ['scratch:x0', 'scratch:x1'] as const;
const UNPACKED = [TRANSIENT_Y, 'scratch:x0'] as const;

/** Scales that no later step reads, of what is only rounded: a gradient, a weight, an output whose values are kept. */
const PASSING: Scaled = { record: resource('scratch:q:record'), scales: resource('scratch:q:scales'), multipliers: resource('scratch:q:multipliers') };
/** A low group's weight as its GEMM reads it, in the step that makes it: where attention has its probabilities, which it writes anew each step. */
const WEIGHT_KEY = 'scratch:p';
const OUT_WEIGHT = resource(WEIGHT_KEY);

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
function sourceOf(data: ValueKey, { cols }: GraphNode, rows: number): Source {
  return { data: value(data), sourceFormat: 'bf16', sourceRows: rows, cols, transposed: false, rows, length: cols };
}

/** y:X -> the kept output of the low group X. */
export function outStep(values: Values, node: GraphNode, shape: BatchShape): Step {
  const rows = shape.sequences * shape.tokens;
  const source = sourceOf(values.y(node.id), node, rows);
  const places = kept(values, node.id);
  return step(`${node.id}/out`, OUT_SCHEME, values.cache === 'packed'
    ? [...quantizeCommands(source, values.outFormat, places), countCommand(places.record)]
    : [...qdqCommands(source, values.outFormat, PASSING, value(values.unpackedY(node.id))), countCommand(PASSING.record)]);
}

/**
 * The gradient that arrives at the low group X -> dyq:X. Where X owns it, in its place: of a variant both are in the work
 * set, because a low output moves the loss and the loss every gradient.
 */
export function outGradientStep(values: Values, node: GraphNode, shape: BatchShape): Step {
  const source = sourceOf(values.arriving(node.id), node, shape.sequences * shape.tokens);
  return step(`${node.id}/out-dy`, OUT_SCHEME, [
    ...qdqCommands(source, values.outGradientFormat, PASSING, value(values.dy(node.id)), values.ownsArriving(node.id)),
    countCommand(PASSING.record),
  ]);
}

/** What a high GEMM reads as its weight, contracted axis last, and the commands that make it. */
export interface OutWeight {
  readonly variant: string;
  readonly commands: readonly (Dispatch | Clear)[];
  readonly operand: Operand;
}

/** The weight of a pass that runs high in a low op group: quantized, and decoded to BF16 (formats.md 1.6, method.md 4). */
export function outWeight(pass: 'fprop' | 'dgrad', node: GraphNode, options: PolicyOptions): OutWeight {
  const source = weightSource(pass, node);
  return {
    variant: variantOf(OUT_SCHEME, options),
    commands: [...qdqCommands(source, operandFormat(OUT_SCHEME, 'w', options), PASSING, OUT_WEIGHT), countCommand(PASSING.record)],
    operand: natural(OUT_WEIGHT, source.length, true),
  };
}

/** y:X quantized and read back into a scratch, for its local error. */
export function roundTrip(values: Values, node: GraphNode, shape: BatchShape): { readonly step: Step; readonly out: Binding } {
  const rows = shape.sequences * shape.tokens;
  const out = resource(UNPACKED[0]);
  const commands = qdqCommands(sourceOf(values.y(node.id), node, rows), values.outFormat, PASSING, out);
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

/**
 * Values of low groups that have no buffer of their own -> the key of the place they take. keepsOutputs: raw outputs are
 * wanted after the run, as a probe's references are, and only gradients pass.
 */
export function transientPlaces(values: Values, keepsOutputs: boolean): Map<ValueKey, string> {
  const low = values.graph.nodes.filter(({ id }) => values.isLow(id));
  return new Map(low.flatMap(({ id }) => {
    const gradient = values.ownsArriving(id) ? values.arriving(id) : values.endsHere(id) ? TRANSIENT_DY : null;
    return [...(gradient === null ? [] : [[values.dy(id), gradient] as const]), ...(keepsOutputs ? [] : [[values.y(id), TRANSIENT_Y] as const])];
  }));
}

/**
 * Throws E-BUG-01 unless only steps of its own group come between a value in a shared place and its last reader: of a raw
 * output none at all, since other steps unpack into that place.
 */
export function assertTransient(values: Values, { steps }: Program): void {
  for (const [key, place] of transientPlaces(values, false)) {
    if (place !== TRANSIENT_Y && place !== TRANSIENT_DY) continue;
    const written = steps.findIndex((s) => s.writes.includes(key));
    const last = steps.findLastIndex((s) => s.reads.includes(key));
    const node = key.slice(key.indexOf(':') + 1);
    const between = steps.slice(written, last + 1).map(({ slot }) => slot);
    assert(written >= 0 && last > written && (place === TRANSIENT_DY || last === written + 1) && between.every((slot) => slot.startsWith(`${node}/`)), `${key}: expected no step but of ${node} until its last reader, of a raw output the next, got ${between.join(', ')}`);
  }
}

/** Scratch that the cache of these values needs, or of any with fewer low groups; `scratch:p` is others' too. */
export function outScratch(values: Values, shape: BatchShape): { key: string; bytes: number }[] {
  const rows = shape.sequences * shape.tokens;
  const { nodes } = values.graph;
  const low = nodes.filter((node) => values.isLow(node.id));
  if (low.length === 0) return [];
  const y = (node: GraphNode): number => tensorBytes(rows, node.cols, true);
  const widest = (list: readonly GraphNode[]): number => Math.max(0, ...list.map(y));
  /** The first or second of a node's low inputs in graph order, as `readKept` takes them. */
  const inputs = (of: readonly GraphNode[], i: number): GraphNode[] => of.flatMap((node) => low.filter(({ id }) => node.inputs.includes(id)).slice(i, i + 1));
  /** A low group's weight [rows, length], contracted axis last, of either pass. */
  const weights = low.filter(({ op }) => op === 'linear').flatMap(({ inCols, cols }) => [[cols, inCols], [inCols, cols]] as const);
  const passing = [
    ...low.flatMap(({ cols }) => [values.outFormat, values.outGradientFormat].map((format) => placeBytes(format, rows, cols))),
    ...weights.map(([r, length]) => placeBytes(values.outWeightFormat, r, length)),
  ];
  return [
    { key: TRANSIENT_Y, bytes: widest(low) },
    { key: TRANSIENT_DY, bytes: widest(low.filter(({ id }) => transientPlaces(values, true).get(values.dy(id)) === TRANSIENT_DY)) },
    { key: UNPACKED_BESIDE_Y[0], bytes: widest([...inputs(low, 0), ...inputs(nodes, 1)]) },
    { key: UNPACKED_BESIDE_Y[1], bytes: widest(inputs(low, 1)) },
    { key: WEIGHT_KEY, bytes: Math.max(0, ...weights.map(([r, length]) => tensorBytes(r, length, true))) },
    ...(['record', 'scales', 'multipliers'] as const).map((what) => ({ key: `scratch:q:${what}`, bytes: Math.max(...passing.map((bytes) => bytes[what])) })),
  ].filter(({ bytes }) => bytes > 0);
}

/** Whether two policies keep the same outputs low, in the same form. */
export function sameOuts(a: Policy, b: Policy): boolean {
  const form = ({ outs = [], options }: Policy): string => canonicalJson(outs.length === 0 ? [] : [[...outs].sort(), recipeOptions(OUT_SCHEME, options)]);
  return form(a) === form(b);
}
