/** Mean cross-entropy of logits [N, V] against targets [N]; the host forms each token's loss in FP64 from the row stats. */
import { stride } from '../program';
import { resource, value, type OpImplementation } from './op';

export const crossEntropy: OpImplementation = {
  fprop: (c) => {
    const stats = `stats:${c.node.id}`;
    return [{
      slot: `${c.node.id}/fprop`, variant: '', reads: [c.x(0)], writes: [stats],
      commands: [{
        kernel: 'cross_entropy_fprop', constants: { BF16: c.bf16 ? 1 : 0 }, params: [c.rows, c.vocabulary, stride(c.vocabulary) / 4],
        bindings: [value(c.x(0)), resource('targets'), value(stats)], invocations: c.rows, flops: 20 * c.rows * c.vocabulary,
      }],
    }];
  },
  // dz = (softmax(z) - onehot(target)) / N
  bprop: (c) => {
    const stats = `stats:${c.node.id}`;
    const quads = stride(c.vocabulary) / 4;
    return [{
      slot: `${c.node.id}/bprop`, variant: '', reads: [c.x(0), stats], writes: [c.dx(0)],
      commands: [{
        kernel: 'cross_entropy_bprop', constants: { BF16: c.bf16 ? 1 : 0 }, params: [c.rows, c.vocabulary, quads],
        bindings: [value(c.x(0)), resource('targets'), value(stats), value(c.dx(0))],
        invocations: c.rows * quads, flops: 20 * c.rows * c.vocabulary,
      }],
    }];
  },
};
