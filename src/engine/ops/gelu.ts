/** gelu_new: y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */
import { stride } from '../program';
import { value, type OpImplementation } from './op';

export const gelu: OpImplementation = {
  fprop: (c) => {
    const quads = (c.rows * stride(c.node.cols)) / 4;
    return [{
      slot: `${c.node.id}/fprop`, variant: '', reads: [c.x(0)], writes: [c.y],
      commands: [{
        kernel: 'gelu_fprop', constants: { BF16: c.bf16 ? 1 : 0 }, params: [quads],
        bindings: [value(c.x(0)), value(c.y)], invocations: quads, flops: 30 * c.rows * c.node.cols,
      }],
    }];
  },
  // dx = dy (s + x s (1 - s) 2u'), s = logistic(2u)
  bprop: (c) => {
    const quads = (c.rows * stride(c.node.cols)) / 4;
    return [{
      slot: `${c.node.id}/bprop`, variant: '', reads: [c.x(0), c.dy()], writes: [c.dx(0)],
      commands: [{
        kernel: 'gelu_bprop', constants: { BF16: c.bf16 ? 1 : 0 }, params: [quads],
        bindings: [value(c.x(0)), value(c.dy()), value(c.dx(0))], invocations: quads, flops: 50 * c.rows * c.node.cols,
      }],
    }];
  },
};
