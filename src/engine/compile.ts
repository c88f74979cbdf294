/**
 * graph + policy + batch shape -> Program: forward steps in graph order, backward steps in reverse, each node's arriving
 * gradient summed before its backward pass. Programs of different policies have the same slots in the same order, which
 * is what makes an incremental run equal to a full one bit for bit.
 */
import { assert } from '../base/errors';
import type { GraphNode } from '../graph/types';
import type { Policy } from '../graph/policy';
import { lowLinear } from './low-linear';
import { OPS } from './ops';
import { addDispatch } from './ops/add';
import { resource, value, type OpContext } from './ops/op';
import { stride, tensorBytes, type Program, type Step } from './program';
import type { Values} from './values';
import { type BatchShape } from './values';

/** One BF16 ulp added to element `index` (modulo the tensor's size) of a node's output or arriving gradient. */
export interface Flip {
  readonly node: string;
  readonly what: 'y' | 'dy';
  readonly index: number;
}

export function opContext(values: Values, node: GraphNode, policy: Policy, shape: BatchShape): OpContext {
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
      return scheme === undefined ? null : lowLinear(scheme, pass, values, node, policy.options, shape);
    },
  };
}

export function compileProgram(values: Values, policy: Policy, shape: BatchShape, flip: Flip | null = null): Program {
  const steps: Step[] = [];
  const flipKey = flip ? (flip.what === 'y' ? values.y(flip.node) : values.dy(flip.node)) : null;
  const push = (step: Step): void => {
    steps.push(step);
    if (flip && flipKey !== null && step.writes.includes(flipKey)) steps.push(flipStep(values, flip, flipKey, shape));
  };
  const contexts = new Map(values.graph.nodes.map((node) => [node.id, opContext(values, node, policy, shape)]));
  const context = (node: GraphNode): OpContext => {
    const c = contexts.get(node.id);
    assert(c, `compileProgram: no context for ${node.id}`);
    return c;
  };
  for (const node of values.graph.nodes) for (const step of OPS[node.op].fprop(context(node))) push(step);
  for (const node of [...values.graph.nodes].reverse()) {
    const c = context(node);
    const [first, second, ...more] = values.consumers(node.id);
    assert(more.length === 0, `${node.id}: at most two consumers of a value are supported`);
    if (first && second) {
      const a = values.dx(first.node, first.port);
      const b = values.dx(second.node, second.port);
      const sum = values.dy(node.id);
      push({ slot: `${node.id}/dy`, variant: '', reads: [a, b], writes: [sum], commands: [addDispatch(a, b, sum, c.rows, node.cols, c.bf16)] });
    }
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
