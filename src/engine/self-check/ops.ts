/**
 * Each op forward and backward against its float64 reference, node by node on the device's own inputs: outputs, input
 * gradients, parameter gradients (ux.md 7, report 1: a backward kernel that writes zeros must not go unseen).
 */
import type { GraphNode, OpName } from '../../graph/types';
import { REFERENCE_OPS, type ReferenceGradients } from '../reference';
import { roundInPlace } from '../reference/rounding';
import type { Check } from './check';
import { expectBf16, expectF32, expectWithin, type Seen } from './compare';
import type { Recording } from './recording';
import { TINY_GRAPH } from './tiny-model';

/** Relative error of the two device numbers a token's loss is made of; exp is good to 2 ulp. */
const LOSS_SHARE = 2 ** -18;

const nodesOf = (op: OpName): readonly GraphNode[] => TINY_GRAPH.nodes.filter((node) => node.op === op);

function summary(seen: readonly Seen[]): string {
  const elements = seen.reduce((sum, s) => sum + s.elements, 0);
  const different = seen.reduce((sum, s) => sum + s.different, 0);
  return `${elements} elements like the float64 reference, ${different} rounded to the neighbour`;
}

export function checkForward(recording: Recording, node: GraphNode): Seen[] {
  return [expectBf16(node.id, recording.y(node.id), REFERENCE_OPS[node.op].fprop(recording.call(node)), node.cols)];
}

export function checkBackward(recording: Recording, node: GraphNode): Seen[] {
  const { dx, dparams } = REFERENCE_OPS[node.op].bprop(recording.call(node), recording.dy(node.id));
  const inputs = dx.map((expected, port) => expectBf16(`${node.id} dx`, recording.dx(node, port), expected, recording.values.node(node.inputs[port] ?? '').cols));
  return [...inputs, ...checkParameters(recording, node, dparams)];
}

function checkParameters(recording: Recording, node: GraphNode, dparams: ReferenceGradients['dparams']): Seen[] {
  return Object.entries(dparams).map(([role, expected]) => {
    const head = nodesOf('linear').find((other) => other !== node && other.params['weight'] === node.params[role]);
    // The table's gradient is the embedding's and the head's: the device's own share, which the head's check covers.
    const share = head ? recording.dw(head, 'weight') : null;
    return expectF32(`${node.id} d${role}`, recording.dw(node, role), share ? expected.map((x, i) => x + (share[i] ?? NaN)) : expected);
  });
}

const opCheck = (name: string, op: OpName, check: (recording: Recording, node: GraphNode) => Seen[]): Check => ({
  name,
  run: async (bench) => {
    const recording = await bench.recording();
    return summary(nodesOf(op).flatMap((node) => check(recording, node)));
  },
});

const lossForward: Check = {
  name: 'cross-entropy forward',
  run: async (bench) => {
    const recording = await bench.recording();
    let rows = 0;
    for (const node of nodesOf('cross_entropy')) {
      const expected = REFERENCE_OPS.cross_entropy.fprop(recording.call(node));
      const stats = recording.lossStats(node);
      const got = expected.map((_, i) => (stats[4 * i] ?? NaN) + Math.log(stats[4 * i + 1] ?? NaN) - (stats[4 * i + 2] ?? NaN));
      expectWithin(`${node.id} of each token`, got, expected, expected.map((x) => LOSS_SHARE * (1 + Math.abs(x))));
      const mean = expected.reduce((a, b) => a + b, 0) / expected.length;
      expectWithin(`${node.id}, the mean`, [recording.run.loss], [mean], [LOSS_SHARE * (1 + mean)]);
      rows += expected.length;
    }
    return `loss of ${rows} tokens like the float64 reference`;
  },
};

/** Where a value is read twice, the two gradients that come back are summed and rounded once. */
const gradientSum: Check = {
  name: 'gradient sum',
  run: async (bench) => {
    const recording = await bench.recording();
    const seen: Seen[] = [];
    for (const node of TINY_GRAPH.nodes) {
      const [first, second] = recording.values.consumers(node.id);
      if (!first || !second) continue;
      const [a, b] = [recording.dx(first.node, first.port), recording.dx(second.node, second.port)];
      seen.push(expectBf16(`${node.id} dy`, recording.dy(node.id), roundInPlace(a.map((x, i) => x + (b[i] ?? NaN)), 'bf16'), node.cols));
    }
    return summary(seen);
  },
};

export const OP_CHECKS: readonly Check[] = [
  opCheck('embedding forward', 'embed', checkForward),
  opCheck('embedding backward', 'embed', checkBackward),
  opCheck('layer norm forward', 'layernorm', checkForward),
  opCheck('layer norm backward', 'layernorm', checkBackward),
  opCheck('linear forward', 'linear', checkForward),
  opCheck('linear backward', 'linear', checkBackward),
  opCheck('attention forward', 'attention', checkForward),
  opCheck('attention backward', 'attention', checkBackward),
  opCheck('GELU forward', 'gelu', checkForward),
  opCheck('GELU backward', 'gelu', checkBackward),
  opCheck('residual sum', 'add', checkForward),
  gradientSum,
  lossForward,
  opCheck('cross-entropy backward', 'cross_entropy', checkBackward),
  {
    name: 'linear in NVFP4',
    run: async (bench) => {
      const { low, lowNode } = await bench.replay();
      return `fprop, dgrad and wgrad low: ${summary([...checkForward(low, lowNode), ...checkBackward(low, lowNode)])}`;
    },
  },
];
