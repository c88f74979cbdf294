/**
 * The low-precision form of a linear's pass: quantize both operands from their BF16 values along the contracted axis
 * (never from an already quantized copy), then one GEMM on packed codes (formats.md 2, 3). Codes, scales, alpha and random
 * numbers are integer work on the device; nothing comes back to the host in between.
 */
import { PASS_SCHEMES, type PassScheme, type PolicyOptions, type RandomDraw, type RecipeName } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';
import type { Graph, GraphNode, Pass } from '../graph/types';
import { rhtLength } from '../numerics/hadamard';
import { operandFormat, type OperandFormat, type OperandRole } from '../numerics/schemes';
import { streamOf, type RandomKey } from '../numerics/stochastic';
import { gemmDispatch, packed, type Gemm, type Operand } from './gemm';
import { tensorBytes, type Binding, type Clear, type Dispatch } from './program';
import { ALPHA, alphaDispatch, hadamardDispatch, hasAlpha, placeBytes, quantizeCommands, type Places, type Source } from './quantize-commands';
import type { BatchShape, Values } from './values';

export interface LowLinear {
  /** Distinguishes the step from the reference's: scheme, switches, and what its random numbers depend on. */
  readonly variant: string;
  /** depth: of the operands as they are; a Hadamard transform pads it. */
  gemm(g: Pick<Gemm, 'rows' | 'cols' | 'depth' | 'c' | 'bias'>): (Dispatch | Clear)[];
}

type PassSource = Source & { readonly role: OperandRole };

/** A transformed operand; the two of a GEMM take turns. */
const TRANSFORMED: Binding = { resource: 'low:rht' };

function places(operand: 'a' | 'b'): Places {
  const place = (what: keyof Places): Binding => ({ resource: `low:${operand}:${what}` });
  return { record: place('record'), codes: place('codes'), scales: place('scales'), multipliers: place('multipliers') };
}

/** The weight of a pass [rows, length], read from the stored BF16 parameter. */
export function weightSource(pass: 'fprop' | 'dgrad', { inCols: k, cols: n, weightTransposed, params }: GraphNode): PassSource {
  const stored = {
    role: 'w', data: { resource: `bf16:${params['weight'] ?? ''}` }, sourceFormat: 'bf16',
    cols: weightTransposed ? k : n, sourceRows: weightTransposed ? n : k,
  } as const;
  return pass === 'fprop' ? { ...stored, transposed: !weightTransposed, rows: n, length: k } : { ...stored, transposed: weightTransposed, rows: k, length: n };
}

/** Operands of each pass in natural order: which tensor, and whether the contracted axis has to be brought last. */
function passSources(pass: Pass, node: GraphNode, values: Values, shape: BatchShape): [PassSource, PassSource] {
  const m = shape.sequences * shape.tokens;
  const { inCols: k, cols: n, weightTransposed } = node;
  const x = { role: 'x', data: { value: values.y(node.inputs[0] ?? '') }, sourceFormat: 'bf16', cols: k, sourceRows: m } as const;
  const dy = { role: 'dy', data: { value: values.dy(node.id) }, sourceFormat: 'bf16', cols: n, sourceRows: m } as const;
  if (pass === 'fprop') return [{ ...x, transposed: false, rows: m, length: k }, weightSource('fprop', node)];
  if (pass === 'dgrad') return [{ ...dy, transposed: false, rows: m, length: n }, weightSource('dgrad', node)];
  const xCol: PassSource = { ...x, transposed: true, rows: k, length: m };
  const dyCol: PassSource = { ...dy, transposed: true, rows: n, length: m };
  return weightTransposed ? [dyCol, xCol] : [xCol, dyCol];
}

/** Scheme and the switches it reads, in one string: equal strings, equal bits. */
export function variantOf(recipe: RecipeName, options: PolicyOptions): string {
  return [recipe, ...Object.entries(recipeOptions(recipe, options)).map(([name, value]) => (value === true ? name : `${name}=${String(value)}`))].join(' ');
}

export function lowLinear(scheme: PassScheme, pass: Pass, values: Values, node: GraphNode, options: PolicyOptions, shape: BatchShape, random: RandomDraw): LowLinear {
  const read = recipeOptions(scheme, options);
  const stochastic = read.sr === true && pass !== 'fprop';
  const transformed = read.rht === true && pass === 'wgrad';
  const key: RandomKey = {
    ...random, seed: read.seed ?? 0,
    stream: streamOf(values.graph.nodes.findIndex(({ id }) => id === node.id), pass === 'wgrad' ? 'col' : 'row'),
  };
  const quantized = (source: PassSource, name: 'a' | 'b'): { commands: (Dispatch | Clear)[]; operand: Operand; format: OperandFormat } => {
    const format = operandFormat(scheme, source.role, read);
    const at = places(name);
    const length = transformed ? rhtLength(source.length) : source.length;
    const from = transformed ? { ...source, data: TRANSFORMED, sourceRows: source.rows, cols: length, transposed: false, length } : source;
    return {
      commands: [
        ...(transformed ? [hadamardDispatch(source.data, source.sourceRows, source.cols, TRANSFORMED)] : []),
        ...quantizeCommands(from, format, at, stochastic && source.role === 'dy' ? key : undefined),
      ],
      operand: packed(at.codes, at.scales, format, source.rows, length),
      format,
    };
  };
  return {
    variant: stochastic ? `${variantOf(scheme, options)} step=${random.step} draw=${random.draw}` : variantOf(scheme, options),
    gemm: (g) => {
      const [sourceA, sourceB] = passSources(pass, node, values, shape);
      const a = quantized(sourceA, 'a');
      const b = quantized(sourceB, 'b');
      return [
        ...a.commands,
        ...b.commands,
        alphaDispatch(a.format, places('a').record, places('b').record),
        gemmDispatch({ ...g, depth: transformed ? rhtLength(g.depth) : g.depth, layout: 'nt', a: a.operand, b: b.operand, ...(hasAlpha(a.format) ? { alpha: ALPHA } : {}) }),
      ];
    },
  };
}

/** Every form that an operand of this role can take in a pass. */
function formatsOf(role: OperandRole): OperandFormat[] {
  return PASS_SCHEMES.flatMap((scheme) => [{}, { weights1d: true }].map((options) => operandFormat(scheme, role, options)));
}

/** Scratch of the largest low pass of any block linear in any scheme. */
export function lowScratch(graph: Graph, shape: BatchShape): { key: string; bytes: number }[] {
  const m = shape.sequences * shape.tokens;
  const sizes = new Map<string, number>();
  const atLeast = (key: string, bytes: number): void => void sizes.set(key, Math.max(sizes.get(key) ?? 16, bytes));
  const operand = (name: 'a' | 'b', role: OperandRole, rows: number, length: number): void => {
    for (const format of formatsOf(role)) {
      for (const [what, bytes] of Object.entries(placeBytes(format, rows, length))) atLeast(`low:${name}:${what}`, bytes);
    }
  };
  for (const node of graph.nodes) {
    if (node.op !== 'linear' || node.layer === null) continue;
    const { inCols: k, cols: n } = node;
    operand('a', 'x', m, k);
    operand('a', 'dy', m, n);
    for (const [rows, length] of [[n, k], [k, n]] as const) operand('b', 'w', rows, length);
    // wgrad takes either as its first operand; transformed or not, its depth is at most whole groups of tokens.
    for (const name of ['a', 'b'] as const) {
      for (const cols of [k, n]) {
        for (const role of ['x', 'dy'] as const) operand(name, role, cols, rhtLength(m));
      }
    }
    atLeast('low:rht', tensorBytes(Math.max(k, n), rhtLength(m), true));
  }
  return [...sizes].map(([key, bytes]) => ({ key, bytes }));
}
