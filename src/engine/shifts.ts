/**
 * Shifts d = g - g* of variant runs, kept in shift sets, and their inner products: what a shift's persistent part is
 * estimated from (method.md 1). Partials in FP32 over 1,024 elements each, their sum in FP64 on the host (engine.md 6.2).
 */
import type { Graph } from '../graph/types';
import { whole, type BufferSlice } from '../gpu/gpu';
import type { SessionBuffers } from './buffers';
import type { ResolvedCommand } from './executor';
import { COMPARE_CHUNK, type comparePlan } from './memory';

/** d = g - r over FP32 tensors of `quads` quads. */
export function shiftCommand(param: string, g: BufferSlice, r: BufferSlice, d: GPUBuffer): ResolvedCommand {
  const quads = g.size / 16;
  return {
    label: `shift/${param}`,
    dispatch: { kernel: 'shift', constants: {}, params: [quads], bindings: [], invocations: quads, flops: 4 * quads },
    slices: [g, r, whole(d)],
  };
}

/** Partials of <d_i, d_j>, i <= j < n, of every parameter into `gram`: pairs in row order, `plan.localErrorFirst` partials each. */
export function gramCommands(graph: Graph, buffers: SessionBuffers, plan: ReturnType<typeof comparePlan>, n: number): ResolvedCommand[] {
  const gram = whole(buffers.shared('gram'));
  const commands: ResolvedCommand[] = [];
  let pair = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++, pair++) {
      for (const { name } of graph.params) {
        const [a, b] = [whole(buffers.get(`shift ${i}`, `d:${name}`)), whole(buffers.get(`shift ${j}`, `d:${name}`))];
        const quads = a.size / 16;
        const first = pair * plan.localErrorFirst + (plan.first.get(name) ?? 0);
        commands.push({
          label: `dot/${name}`,
          dispatch: { kernel: 'dot', constants: {}, params: [quads, first], bindings: [], invocations: Math.ceil((4 * quads) / COMPARE_CHUNK), flops: 8 * quads },
          slices: [a, b, gram],
        });
      }
    }
  }
  return commands;
}

/** Partials as read back -> the symmetric matrix [n, n] in FP64. perPair: partials of one pair. */
export function addGram(partials: Float32Array, n: number, perPair: number): Float64Array {
  const gram = new Float64Array(n * n);
  let at = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < perPair; k++) sum += partials[at++] ?? NaN;
      gram[i * n + j] = sum;
      gram[j * n + i] = sum;
    }
  }
  return gram;
}
