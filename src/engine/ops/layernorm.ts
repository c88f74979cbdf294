/** Layer norm: y = (x - mean) / sqrt(var + eps) * gain + bias over each row, biased variance. */
import { stride } from '../program';
import { CHUNK_ROWS, resource, value, type OpImplementation } from './op';

export const layernorm: OpImplementation = {
  fprop: (c) => {
    const stats = `stats:${c.node.id}`;
    return [{
      slot: `${c.node.id}/fprop`, variant: '', reads: [c.x(0)], writes: [c.y, stats],
      commands: [{
        kernel: 'layernorm_fprop', constants: { BF16: c.bf16 ? 1 : 0 },
        params: [c.rows, c.node.cols, stride(c.node.cols) / 4, { f32: c.node.eps }],
        bindings: [value(c.x(0)), c.param('weight'), c.param('bias'), value(c.y), value(stats)],
        invocations: c.rows, flops: 10 * c.rows * c.node.cols,
      }],
    }];
  },
  // a = dy gain, n = (x - mean) rstd: dx = rstd (a - mean a - n mean(a n)); dgain = sum dy n; dbias = sum dy
  bprop: (c) => {
    const stats = `stats:${c.node.id}`;
    const quads = stride(c.node.cols) / 4;
    const chunks = Math.ceil(c.rows / CHUNK_ROWS);
    const constants = { BF16: c.bf16 ? 1 : 0 };
    const final = (first: number, role: string) => ({
      kernel: 'column_sum_final' as const, constants: {}, params: [chunks, quads, first, 2 * quads],
      bindings: [resource('scratch:partial'), value(c.dw(role))], invocations: quads, flops: chunks * c.node.cols,
    });
    return [{
      slot: `${c.node.id}/bprop`, variant: '', reads: [c.x(0), c.dy(), stats], writes: [c.dx(0)],
      commands: [{
        kernel: 'layernorm_bprop', constants, params: [c.rows, c.node.cols, quads, 0],
        bindings: [value(c.x(0)), value(c.dy()), c.param('weight'), value(stats), value(c.dx(0))],
        invocations: c.rows, flops: 14 * c.rows * c.node.cols,
      }],
    }, {
      slot: `${c.node.id}/bprop-params`, variant: '', reads: [c.x(0), c.dy(), stats], writes: [c.dw('weight'), c.dw('bias')],
      commands: [{
        kernel: 'layernorm_bprop_params', constants, params: [c.rows, quads, CHUNK_ROWS],
        bindings: [value(c.x(0)), value(c.dy()), value(stats), resource('scratch:partial')],
        invocations: chunks * quads, flops: 6 * c.rows * c.node.cols,
      }, final(0, 'weight'), final(quads, 'bias')],
    }];
  },
};
