/**
 * A whole model in float64: loss and the gradient of every parameter under any policy, node by node. The oracle of the
 * engine's gradients, of incremental runs and of finite differences; minutes on a real model, so for tests and tiny shapes.
 */
import { assert, BendscopeError } from '../../base/errors';
import { FIRST_DRAW, OUT_SCHEME, type Policy, type RandomDraw } from '../../graph/policy';
import { recipeOptions } from '../../graph/recipes';
import { formatSiteId } from '../../graph/sites';
import { PASSES, type Graph, type GraphNode } from '../../graph/types';
import { REFERENCE_OPS } from './index';
import { outTensor } from './low-operand';
import type { ReferenceCall } from './op';
import { roundBf16, roundInPlace } from './rounding';

/** One BF16 ulp added to an element of a node's output or arriving gradient: the noise floor's probe (method.md 1). */
export interface ReferenceFlip {
  readonly node: string;
  readonly what: 'y' | 'dy';
  /** Modulo the tensor's size. */
  readonly index: number;
}

export interface ReferenceRun {
  /** Mean cross-entropy over the batch. */
  readonly loss: number;
  /** By parameter name, in the checkpoint's shape; a tied table holds the sum of its contributions. */
  readonly gradient: ReadonlyMap<string, Float64Array>;
  /** `<node>/y`, `<node>/dy`, `<node>/x0`, `<node>/dx0`, ... as in the golden nodes; empty unless asked for. */
  readonly trace: ReadonlyMap<string, Float64Array>;
}

export interface ReferenceSettings {
  readonly trace?: boolean;
  readonly flip?: ReferenceFlip;
  /** Which random numbers `sr` draws; the first batch's first draw unless given. */
  readonly draw?: RandomDraw;
}

/**
 * tokens: B rows of T + 1 ids; inputs are all but the last, targets all but the first. params: FP32 or float64 values by
 * checkpoint name. Throws E-DATA-03 on ragged rows,
 * E-DATA-02 on ids outside the vocabulary.
 */
export function referenceGradient(
  graph: Graph,
  params: ReadonlyMap<string, ArrayLike<number>>,
  tokens: readonly (readonly number[])[],
  policy: Policy,
  settings: ReferenceSettings = {},
): ReferenceRun {
  const T = (tokens[0]?.length ?? 0) - 1;
  if (T < 1 || tokens.some((row) => row.length !== T + 1)) {
    throw new BendscopeError('E-DATA-03', 'reference: expected rows of one length, at least 2 ids', 'Give every sequence the same length.');
  }
  const outside = tokens.flat().find((id) => !(Number.isInteger(id) && id >= 0 && id < graph.vocabulary));
  if (outside !== undefined) {
    throw new BendscopeError('E-DATA-02', `Token ${outside} is outside the vocabulary of ${graph.vocabulary}.`, 'Use the tokenizer that belongs to this model.');
  }
  const rows = tokens.length * T;
  const rounding = policy.reference === 'bf16' ? 'bf16' : 'none';
  const outs = new Set(policy.outs ?? []);
  assert(rounding === 'bf16' || outs.size === 0, 'reference: low op groups need the bf16 policy');
  const outOptions = recipeOptions(OUT_SCHEME, policy.options);
  const ids = Uint32Array.from(tokens.flatMap((row) => row.slice(0, -1)));
  const targets = Uint32Array.from(tokens.flatMap((row) => row.slice(1)));
  const trace = new Map<string, Float64Array>();
  const wide = new Map(graph.params.map(({ name }) => {
    const values = params.get(name);
    assert(values, `reference: expected a parameter ${name}`);
    return [name, Float64Array.from(values)];
  }));
  const note = (node: string, what: string, x: Float64Array): Float64Array => {
    if (settings.trace) trace.set(`${node}/${what}`, x.slice());
    if (settings.flip?.node !== node || settings.flip.what !== what) return x;
    const out = x.slice();
    const i = settings.flip.index % out.length;
    out[i] = nextBf16(out[i] as number);
    return out;
  };

  const y = new Map<string, Float64Array>();
  const calls = new Map<string, ReferenceCall>();
  for (const [tensorNumber, node] of graph.nodes.entries()) {
    const inputs = node.inputs.map((id, port) => {
      const x = y.get(id);
      assert(x, `reference: ${node.id} reads ${id} before it is there`);
      return note(node.id, `x${port}`, x);
    });
    const low = Object.fromEntries(PASSES.flatMap((pass) => {
      const scheme = policy.passes[formatSiteId(node.id, pass)];
      return scheme === undefined ? [] : [[pass, scheme]];
    }));
    const call: ReferenceCall = {
      attrs: node, sequences: tokens.length, tokens: T, inputs, rounding, ids, targets, low, options: policy.options,
      lowGroup: outs.has(node.id), tensorNumber, draw: settings.draw ?? FIRST_DRAW,
      params: Object.fromEntries(Object.entries(node.params).map(([role, name]) => [role, wide.get(name) ?? new Float64Array()])),
    };
    calls.set(node.id, call);
    const out = REFERENCE_OPS[node.op].fprop(call);
    // The output of a low op group is quantized once; every reader gets that copy.
    y.set(node.id, note(node.id, 'y', outs.has(node.id) ? outTensor(out, rows, node.cols, 'x', outOptions) : out));
  }

  const last = graph.nodes.at(-1);
  const losses = last && y.get(last.id);
  assert(last && losses, 'reference: expected a graph that ends with its loss');
  const loss = losses.reduce((a, b) => a + b, 0) / rows;
  const gradient = new Map(graph.params.map(({ name }) => [name, new Float64Array(wide.get(name)?.length ?? 0)]));
  const arriving = new Map<string, Float64Array>([[last.id, new Float64Array(rows).fill(1 / rows)]]);
  for (const node of [...graph.nodes].reverse()) {
    const sum = arriving.get(node.id);
    const call = calls.get(node.id);
    assert(sum && call, `reference: nobody reads ${node.id}`);
    // A node rounds the gradient that arrives; 1 / N, which arrives at the loss, is FP32 in method.md 2 and stays.
    const arrived = node === last ? sum : roundInPlace(sum, rounding);
    const dy = note(node.id, 'dy', outs.has(node.id) ? outTensor(arrived, rows, node.cols, 'dy', outOptions) : arrived);
    const { dx, dparams } = REFERENCE_OPS[node.op].bprop(call, dy);
    node.inputs.forEach((id, port) => accumulate(arriving, id, note(node.id, `dx${port}`, dx[port] ?? new Float64Array())));
    addParams(gradient, node, dparams);
  }
  return { loss, gradient, trace };
}

function accumulate(sums: Map<string, Float64Array>, key: string, part: Float64Array): void {
  const sum = sums.get(key);
  if (!sum) sums.set(key, part.slice());
  else for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (part[i] as number);
}

function addParams(gradient: Map<string, Float64Array>, node: GraphNode, dparams: Readonly<Record<string, Float64Array>>): void {
  for (const [role, part] of Object.entries(dparams)) {
    const name = node.params[role];
    if (name !== undefined) accumulate(gradient, name, part);
  }
}

/** The BF16 value whose bit pattern is one higher: away from zero. */
function nextBf16(x: number): number {
  const bits = new Uint32Array(1);
  const value = new Float32Array(bits.buffer);
  value[0] = roundBf16(x);
  bits[0] = (bits[0] ?? 0) + 0x10000;
  return value[0];
}
