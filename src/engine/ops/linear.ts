/**
 * Linear: y = x w + b, three GEMMs, each of which can run low on its own. Both operands of a low pass are quantized
 * from the BF16 value along the contracted axis; of a pass that runs high in a low op group the weight alone is, and the
 * GEMM reads it back as BF16 (method.md 4). The bias is added in FP32 before y is rounded (method.md 2).
 */
import { gemmDispatch, natural } from '../gemm';
import { stride, type Step } from '../program';
import { CHUNK_ROWS, resource, value, type OpContext, type OpImplementation } from './op';

/** The output GEMM of each pass, into any buffer: the run's own values, or a scratch for the local error. */
export function linearPass(c: OpContext, pass: 'fprop' | 'dgrad' | 'wgrad', out: { data: ReturnType<typeof value>; bf16: boolean; bias: boolean }): Step['commands'] {
  const { inCols: k, cols: n, weightTransposed } = c.node;
  const m = c.rows;
  const x = natural(value(c.x(0)), k, c.bf16);
  const low = c.low(pass);
  const bias = out.bias && c.node.params['bias'] !== undefined ? { bias: c.param('bias') } : {};
  if (pass === 'fprop') {
    const output = { data: out.data, bf16: out.bf16, stride: stride(n) };
    if (low) return low.gemm({ rows: m, cols: n, depth: k, c: output, ...bias });
    const lowWeight = c.lowWeight('fprop');
    if (lowWeight) return [...lowWeight.commands, gemmDispatch({ layout: 'nt', rows: m, cols: n, depth: k, a: x, b: lowWeight.operand, c: output, ...bias })];
    const w = natural(c.gemmWeight(), weightTransposed ? k : n, c.bf16);
    return [gemmDispatch({ layout: weightTransposed ? 'nt' : 'nn', rows: m, cols: n, depth: k, a: x, b: w, c: output, ...bias })];
  }
  const dy = natural(value(c.dy()), n, c.bf16);
  if (pass === 'dgrad') {
    const output = { data: out.data, bf16: out.bf16, stride: stride(k) };
    if (low) return low.gemm({ rows: m, cols: k, depth: n, c: output });
    const lowWeight = c.lowWeight('dgrad');
    if (lowWeight) return [...lowWeight.commands, gemmDispatch({ layout: 'nt', rows: m, cols: k, depth: n, a: dy, b: lowWeight.operand, c: output })];
    const w = natural(c.gemmWeight(), weightTransposed ? k : n, c.bf16);
    return [gemmDispatch({ layout: weightTransposed ? 'nn' : 'nt', rows: m, cols: k, depth: n, a: dy, b: w, c: output })];
  }
  const [rows, cols] = weightTransposed ? [n, k] : [k, n];
  const output = { data: out.data, bf16: false, stride: stride(cols) };
  if (low) return low.gemm({ rows, cols, depth: m, c: output });
  return [gemmDispatch({ layout: 'tn', rows, cols, depth: m, a: weightTransposed ? dy : x, b: weightTransposed ? x : dy, c: output })];
}

function variantOf(c: OpContext, pass: 'fprop' | 'dgrad'): string {
  return c.low(pass)?.variant ?? c.lowWeight(pass)?.variant ?? '';
}

export const linear: OpImplementation = {
  fprop: (c) => [{
    slot: `${c.node.id}/fprop`, variant: variantOf(c, 'fprop'), reads: [c.x(0)], writes: [c.y],
    commands: linearPass(c, 'fprop', { data: value(c.y), bf16: c.bf16, bias: true }),
  }],
  // dx = dy w^T; dw = x^T dy; db = column sums of dy
  bprop: (c) => {
    const quads = stride(c.node.cols) / 4;
    const chunks = Math.ceil(c.rows / CHUNK_ROWS);
    const steps: Step[] = [{
      slot: `${c.node.id}/dgrad`, variant: variantOf(c, 'dgrad'), reads: [c.dy()], writes: [c.dx(0)],
      commands: linearPass(c, 'dgrad', { data: value(c.dx(0)), bf16: c.bf16, bias: false }),
    }, {
      slot: `${c.node.id}/wgrad`, variant: c.low('wgrad')?.variant ?? '', reads: [c.x(0), c.dy()], writes: [c.dw('weight')],
      commands: linearPass(c, 'wgrad', { data: value(c.dw('weight')), bf16: false, bias: false }),
    }];
    if (c.node.params['bias'] !== undefined) {
      steps.push({
        slot: `${c.node.id}/bias`, variant: '', reads: [c.dy()], writes: [c.dw('bias')],
        commands: [{
          kernel: 'column_sum', constants: { BF16: c.bf16 ? 1 : 0 }, params: [c.rows, quads, CHUNK_ROWS],
          bindings: [value(c.dy()), resource('scratch:partial')], invocations: chunks * quads, flops: c.rows * c.node.cols,
        }, {
          kernel: 'column_sum_final', constants: {}, params: [chunks, quads, 0, quads],
          bindings: [resource('scratch:partial'), value(c.dw('bias'))], invocations: quads, flops: chunks * c.node.cols,
        }],
      });
    }
    return steps;
  },
};
