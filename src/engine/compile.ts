/**
 * graph + policy + batch shape -> Program: forward steps in graph order, backward steps in reverse, each node's arriving
 * gradient summed before its backward pass. Programs of different policies have the same slots in the same order, those
 * of low op groups some more, which is what makes an incremental run equal to a full one bit for bit.
 */
import { assert } from '../base/errors';
import type { GraphNode } from '../graph/types';
import { FIRST_DRAW, type Policy, type RandomDraw } from '../graph/policy';
import { lowLinear } from './low-linear';
import { OPS } from './ops';
import { addDispatch } from './ops/add';
import { resource, value, type OpContext } from './ops/op';
import { outGradientStep, outStep, outWeight, readKept } from './packed-cache';
import { stride, tensorBytes, type Program, type Step } from './program';
import type { BatchShape, Values } from './values';

/** One BF16 ulp added to element `index` (modulo the tensor's size) of a node's output or arriving gradient. */
export interface Flip {
  readonly node: string;
  readonly what: 'y' | 'dy';
  readonly index: number;
}

/** Beside the policy: what one run of it draws at random, and what is disturbed. */
export interface RunSettings {
  readonly random?: RandomDraw;
  readonly flip?: Flip;
}

/** values: of this policy. */
export function opContext(values: Values, node: GraphNode, policy: Policy, shape: BatchShape, random: RandomDraw = FIRST_DRAW): OpContext {
  const bf16 = policy.reference === 'bf16';
  const name = (role: string): string => {
    const param = node.params[role];
    assert(param !== undefined, `${node.id}: no parameter in role ${role}`);
    return param;
  };
  return {
    node,
    shape,
    rows: shape.sequences * shape.tokens,
    bf16,
    vocabulary: values.graph.vocabulary,
    maxTokens: values.graph.maxTokens,
    x: (port) => values.y(node.inputs[port] ?? ''),
    y: values.y(node.id),
    dy: () => values.dy(node.id),
    dx: (port) => values.dx(node, port),
    dw: (role) => values.dw(node, name(role)),
    param: (role) => resource(`param:${name(role)}`),
    gemmWeight: () => resource(`${bf16 ? 'bf16' : 'param'}:${name('weight')}`),
    tied: Object.values(node.params).some((param) => values.isTied(param)),
    low: (pass) => {
      const scheme = policy.passes[`${node.id}:${pass}`];
      return scheme === undefined ? null : lowLinear(scheme, pass, values, node, policy.options, shape, random);
    },
    lowWeight: (pass) => (values.isLow(node.id) ? outWeight(pass, node, policy.options) : null),
  };
}

/** values: of this policy. A flip is a disturbance of the reference: of no low op group. */
export function compileProgram(values: Values, policy: Policy, shape: BatchShape, { random, flip }: RunSettings = {}): Program {
  const steps: Step[] = [];
  const flipKey = flip ? (flip.what === 'y' ? values.y(flip.node) : values.arriving(flip.node)) : null;
  const push = (step: Step): void => {
    steps.push(readKept(values, step, shape));
    if (flip && flipKey !== null && step.writes.includes(flipKey)) steps.push(flipStep(values, flip, flipKey, shape));
  };
  const contexts = new Map(values.graph.nodes.map((node) => [node.id, opContext(values, node, policy, shape, random)]));
  const context = (node: GraphNode): OpContext => {
    const c = contexts.get(node.id);
    assert(c, `compileProgram: no context for ${node.id}`);
    return c;
  };
  for (const node of values.graph.nodes) {
    for (const step of OPS[node.op].fprop(context(node))) push(step);
    if (values.isLow(node.id)) steps.push(outStep(values, node, shape));
  }
  for (const node of [...values.graph.nodes].reverse()) {
    const c = context(node);
    const [first, second, ...more] = values.consumers(node.id);
    assert(more.length === 0, `${node.id}: at most two consumers of a value are supported`);
    if (first && second) {
      const a = values.dx(first.node, first.port);
      const b = values.dx(second.node, second.port);
      const sum = values.arriving(node.id);
      push({ slot: `${node.id}/dy`, variant: '', reads: [a, b], writes: [sum], commands: [addDispatch(a, b, sum, c.rows, node.cols, c.bf16)] });
    }
    if (values.isLow(node.id)) steps.push(outGradientStep(values, node, shape));
    for (const step of OPS[node.op].bprop(c)) push(step);
  }
  return { steps };
}

function flipStep(values: Values, flip: Flip, key: string, shape: BatchShape): Step {
  const rows = shape.sequences * shape.tokens;
  const { cols } = values.node(flip.node);
  const element = flip.index % (rows * cols);
  const at = Math.floor(element / cols) * stride(cols) + (element % cols);
  const words = tensorBytes(rows, cols, true) / 4;
  return {
    slot: `flip/${key}`, variant: 'flip', reads: [], writes: [key],
    commands: [{
      kernel: 'flip_ulp', constants: {}, params: [words, at >> 1, at & 1],
      bindings: [{ value: key, from: 'reference' }, value(key)], invocations: words, flops: words,
    }],
  };
}
