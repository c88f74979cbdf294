/**
 * The low-precision form of a linear's pass: quantize both operands from their BF16 values along the contracted axis
 * (never from an already quantized copy), then one GEMM on packed codes (formats.md 2.6, 2.7, 3). Codes, scales and
 * alpha are integer work on the device; nothing comes back to the host in between.
 */
import type { PassScheme, PolicyOptions } from '../graph/policy';
import type { Graph, GraphNode, Pass } from '../graph/types';
import { gemmDispatch, type Gemm, type Operand } from './gemm';
import { stride, type Binding, type Clear, type Dispatch } from './program';
import type { BatchShape, Values } from './values';

export interface LowLinear {
  /** Distinguishes the step from the reference's: scheme and switches. */
  readonly variant: string;
  gemm(g: Pick<Gemm, 'rows' | 'cols' | 'depth' | 'c' | 'bias'>): (Dispatch | Clear)[];
}

/** An operand before quantization: [rows, length] with the contracted axis last, read from a tensor in natural order. */
interface Source {
  readonly data: Binding;
  /** Columns of the tensor in natural order, and its rows. */
  readonly cols: number;
  readonly sourceRows: number;
  readonly transposed: boolean;
  readonly rows: number;
  readonly length: number;
  readonly tile: boolean;
}

/** Codes are rows of 64 elements, eight words; scales one word a row of blocks (formats.md 1.6). */
const GROUP = 64;
/** Integer operations an element of the quantizer costs, roughly: what the scheduler budgets. */
const QUANTIZE_COST = 150;
/** Largest number of invocations of the amax kernel; each visits every n-th word. */
const AMAX_INVOCATIONS = 4096;

/** Operands of each pass in natural order: which tensor, and whether the contracted axis has to be brought last. */
export function passSources(pass: Pass, node: GraphNode, values: Values, options: PolicyOptions, shape: BatchShape): [Source, Source] {
  const m = shape.sequences * shape.tokens;
  const { inCols: k, cols: n, weightTransposed } = node;
  const x = { data: { value: values.y(node.inputs[0] ?? '') }, cols: k, sourceRows: m, tile: false };
  const dy = { data: { value: values.dy(node.id) }, cols: n, sourceRows: m, tile: false };
  const w = {
    data: { resource: `bf16:${node.params['weight'] ?? ''}` },
    cols: weightTransposed ? k : n, sourceRows: weightTransposed ? n : k, tile: !options.weights1d,
  };
  if (pass === 'fprop') return [{ ...x, transposed: false, rows: m, length: k }, { ...w, transposed: !weightTransposed, rows: n, length: k }];
  if (pass === 'dgrad') return [{ ...dy, transposed: false, rows: m, length: n }, { ...w, transposed: weightTransposed, rows: k, length: n }];
  const xCol: Source = { ...x, transposed: true, rows: k, length: m };
  const dyCol: Source = { ...dy, transposed: true, rows: n, length: m };
  return weightTransposed ? [dyCol, xCol] : [xCol, dyCol];
}

function quantize(source: Source, name: 'a' | 'b'): { commands: (Dispatch | Clear)[]; operand: Operand } {
  const groups = Math.ceil(source.length / GROUP);
  const blockRows = source.tile ? Math.ceil(source.rows / 16) : source.rows;
  const elements = source.rows * source.length;
  const place = (what: string): Binding => ({ resource: `low:${name}:${what}` });
  const constants = { SRC_FMT: 1, TRANSPOSED: source.transposed ? 1 : 0, TILE: source.tile ? 1 : 0 };
  const params = [source.rows, source.length, stride(source.cols), groups];
  const words = (source.sourceRows * stride(source.cols)) / 2;
  const visitors = Math.min(AMAX_INVOCATIONS, words);
  return {
    commands: [
      { clear: `low:${name}:tensor` },
      { kernel: 'amax', constants: { SRC_FMT: 1 }, params: [words, visitors], bindings: [source.data, place('tensor')], invocations: visitors, flops: 4 * elements },
      { kernel: 'nvfp4_tensor_scales', constants: {}, params: [0], bindings: [place('tensor')], invocations: 1, flops: 1 },
      {
        kernel: 'nvfp4_scales', constants, params, bindings: [source.data, place('tensor'), place('scales'), place('multipliers')],
        invocations: blockRows * groups, flops: 10 * elements,
      },
      {
        kernel: 'quantize_nvfp4', constants, params, bindings: [source.data, place('multipliers'), place('codes')],
        invocations: source.rows * groups * 8, flops: QUANTIZE_COST * elements,
      },
    ],
    operand: { data: place('codes'), format: 'e2m1', stride: groups * GROUP, scales: place('scales'), tile: source.tile },
  };
}

export function lowLinear(scheme: PassScheme, pass: Pass, values: Values, node: GraphNode, options: PolicyOptions, shape: BatchShape): LowLinear {
  return {
    variant: options.weights1d ? `${scheme} weights1d` : scheme,
    gemm: (g) => {
      const [sourceA, sourceB] = passSources(pass, node, values, options, shape);
      const a = quantize(sourceA, 'a');
      const b = quantize(sourceB, 'b');
      const alpha: Binding = { resource: 'low:alpha' };
      return [
        ...a.commands,
        ...b.commands,
        {
          kernel: 'nvfp4_alpha', constants: {}, params: [0],
          bindings: [{ resource: 'low:a:tensor' }, { resource: 'low:b:tensor' }, alpha], invocations: 1, flops: 1,
        },
        gemmDispatch({ ...g, layout: 'nt', a: a.operand, b: b.operand, alpha }),
      ];
    },
  };
}

/** Scratch of the largest low pass of any block linear. */
export function lowScratch(graph: Graph, shape: BatchShape): { key: string; bytes: number }[] {
  const m = shape.sequences * shape.tokens;
  const padded = (length: number): number => Math.ceil(length / GROUP) * GROUP;
  let elements = GROUP;
  for (const node of graph.nodes) {
    if (node.op !== 'linear' || node.layer === null) continue;
    const { inCols: k, cols: n } = node;
    for (const [rows, length] of [[m, k], [n, k], [m, n], [k, n], [k, m], [n, m]] as const) elements = Math.max(elements, rows * padded(length));
  }
  const of = (name: string): { key: string; bytes: number }[] => [
    { key: `low:${name}:codes`, bytes: elements / 2 },
    { key: `low:${name}:scales`, bytes: elements / 16 },
    { key: `low:${name}:multipliers`, bytes: elements / 4 },
    { key: `low:${name}:tensor`, bytes: 32 },
  ];
  return [...of('a'), ...of('b'), { key: 'low:alpha', bytes: 16 }];
}
