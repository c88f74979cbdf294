/** Token embedding: y[n] = table[id_n] + positions[n mod T]. */
import { stride } from '../program';
import { resource, value, type OpImplementation } from './op';

export const embed: OpImplementation = {
  fprop: (c) => {
    const quads = stride(c.node.cols) / 4;
    return [{
      slot: `${c.node.id}/fprop`, variant: '', reads: [], writes: [c.y],
      commands: [{
        kernel: 'embed_fprop', constants: { BF16: c.bf16 ? 1 : 0 },
        params: [c.rows, c.shape.tokens, quads],
        bindings: [resource('ids'), c.param('table'), c.param('positions'), value(c.y)],
        invocations: c.rows * quads, flops: c.rows * c.node.cols,
      }],
    }];
  },
  // dtable[v] = sum over tokens with id v of dy (+ the tied head's dw); dpositions[t] = sum over sequences of dy[., t]
  bprop: (c) => {
    const quads = stride(c.node.cols) / 4;
    const dtable = c.dw('table');
    const head = `dwpart:${c.node.params['table'] ?? ''}`;
    const constants = { BF16: c.bf16 ? 1 : 0 };
    return [{
      slot: `${c.node.id}/bprop-table`, variant: '', reads: c.tied ? [c.dy(), head] : [c.dy()], writes: [dtable],
      commands: [{
        kernel: 'embed_bprop_table', constants: { ...constants, TIED: c.tied ? 1 : 0 },
        params: [c.vocabulary, quads],
        bindings: [resource('starts'), resource('order'), value(c.dy()), c.tied ? value(head) : resource('nothing'), value(dtable)],
        invocations: c.vocabulary * quads, flops: (c.vocabulary + c.rows) * c.node.cols,
      }],
    }, {
      slot: `${c.node.id}/bprop-positions`, variant: '', reads: [c.dy()], writes: [c.dw('positions')],
      commands: [{
        kernel: 'embed_bprop_positions', constants,
        params: [c.shape.sequences, c.shape.tokens, quads, c.maxTokens],
        bindings: [value(c.dy()), value(c.dw('positions'))],
        invocations: c.maxTokens * quads, flops: c.rows * c.node.cols,
      }],
    }];
  },
};
