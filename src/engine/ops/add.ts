/** Residual sum: y = round(a + b). */
import { stride, type Dispatch, type ValueKey } from '../program';
import { value, type OpImplementation } from './op';

/** y = round(a + b) over whole tensors: also the sum of the gradients that two consumers send back. */
export function addDispatch(a: ValueKey, b: ValueKey, y: ValueKey, rows: number, cols: number, bf16: boolean): Dispatch {
  const quads = (rows * stride(cols)) / 4;
  return {
    kernel: 'add', constants: { BF16: bf16 ? 1 : 0 }, params: [quads],
    bindings: [value(a), value(b), value(y)], invocations: quads, flops: rows * cols,
  };
}

export const add: OpImplementation = {
  fprop: (c) => [{
    slot: `${c.node.id}/fprop`, variant: '', reads: [c.x(0), c.x(1)], writes: [c.y],
    commands: [addDispatch(c.x(0), c.x(1), c.y, c.rows, c.node.cols, c.bf16)],
  }],
  // da = db = dy, already rounded: aliases (values.ts), no work
  bprop: () => [],
};
