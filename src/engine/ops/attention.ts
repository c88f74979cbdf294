/**
 * Causal attention over heads: S = scale q k^T, P = softmax(S) in FP32, context = round(P) v (method.md 2). The input is
 * [N, 3C] (q, k, v side by side). Probabilities are not kept: the backward pass makes the same bits with the same
 * kernels. Batches are (sequence, head); the triangles that are exactly zero are skipped.
 */
import { gemmDispatch, type Gemm, type Operand } from '../gemm';
import { stride, type Dispatch } from '../program';
import { resource, value, type OpContext, type OpImplementation } from './op';

function parts(c: OpContext) {
  const { tokens: t, sequences } = c.shape;
  const { cols, heads } = c.node;
  const hs = cols / heads;
  const ts = stride(t);
  const format = c.bf16 ? ('bf16' as const) : ('f32' as const);
  const batch = { sequences, heads };
  const wide = (data: Operand['data'], which: number): Operand => ({ data, format, stride: 3 * cols, base: which * cols, sequence: t * 3 * cols, head: hs });
  const narrow = (data: Operand['data']): Operand => ({ data, format, stride: cols, sequence: t * cols, head: hs });
  const square = (name: string, f: 'f32' | 'bf16'): Operand => ({ data: resource(name), format: f, stride: ts, sequence: heads * t * ts, head: t * ts });
  const out = (o: Operand): Gemm['c'] => ({ data: o.data, bf16: o.format === 'bf16', stride: o.stride, base: o.base ?? 0, sequence: o.sequence ?? 0, head: o.head ?? 0 });
  const q = wide(value(c.x(0)), 0);
  const k = wide(value(c.x(0)), 1);
  const v = wide(value(c.x(0)), 2);
  const scale = 1 / Math.sqrt(hs);
  const p = square('scratch:p', 'f32');
  const pr = square('scratch:pr', format);
  const rowCount = sequences * heads * t;
  const probabilities: Dispatch[] = [
    gemmDispatch({ layout: 'nt', ...batch, rows: t, cols: t, depth: hs, a: q, b: k, c: out(p), scale, causal: 1 }),
    {
      kernel: 'softmax_fprop', constants: { BF16: c.bf16 ? 1 : 0 }, params: [rowCount, t, ts / 4],
      bindings: [p.data, pr.data], invocations: rowCount, flops: (15 * rowCount * t) / 2,
    },
  ];
  return { t, hs, ts, batch, scale, wide, narrow, square, out, q, k, v, p, pr, rowCount, probabilities };
}

export const attention: OpImplementation = {
  fprop: (c) => {
    const a = parts(c);
    return [{
      slot: `${c.node.id}/fprop`, variant: '', reads: [c.x(0)], writes: [c.y],
      commands: [
        ...a.probabilities,
        gemmDispatch({ layout: 'nn', ...a.batch, rows: a.t, cols: a.hs, depth: a.t, a: a.pr, b: a.v, c: a.out(a.narrow(value(c.y))), causal: 2 }),
      ],
    }];
  },
  // dv = round(P)^T do; dP = do v^T; dS = P (dP - rowsum(dP P)); dq = scale dS k; dk = scale dS^T q
  bprop: (c) => {
    const a = parts(c);
    const dout = a.narrow(value(c.dy()));
    const dp = a.square('scratch:dp', 'f32');
    const dx = (which: number) => a.out(a.wide(value(c.dx(0)), which));
    return [{
      slot: `${c.node.id}/bprop`, variant: '', reads: [c.x(0), c.dy()], writes: [c.dx(0)],
      commands: [
        ...a.probabilities,
        gemmDispatch({ layout: 'tn', ...a.batch, rows: a.t, cols: a.hs, depth: a.t, a: a.pr, b: dout, c: dx(2), causal: 3 }),
        gemmDispatch({ layout: 'nt', ...a.batch, rows: a.t, cols: a.t, depth: a.hs, a: dout, b: a.v, c: a.out(dp), causal: 1 }),
        {
          kernel: 'softmax_bprop', constants: { BF16: c.bf16 ? 1 : 0 }, params: [a.rowCount, a.t, a.ts / 4],
          bindings: [a.p.data, dp.data, a.pr.data], invocations: a.rowCount, flops: (4 * a.rowCount * a.t) / 2,
        },
        gemmDispatch({ layout: 'nn', ...a.batch, rows: a.t, cols: a.hs, depth: a.t, a: a.pr, b: a.k, c: dx(0), scale: a.scale, causal: 2 }),
        gemmDispatch({ layout: 'tn', ...a.batch, rows: a.t, cols: a.hs, depth: a.t, a: a.pr, b: a.q, c: dx(1), scale: a.scale, causal: 3 }),
      ],
    }];
  },
};
