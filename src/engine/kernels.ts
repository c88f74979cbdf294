/**
 * Every kernel with its bindings, in the order of the WGSL file; binding 0 is the Params struct. A kernel is one .wgsl
 * file and one row; a test compiles each row, and holds the rows against the files' own binding lines.
 */
import type { KernelRow } from '../gpu/gpu';

const ROWS = {
  gemm_nn: ['read', 'read', 'read', 'write'],
  gemm_nt: ['read', 'read', 'read', 'read', 'read', 'read', 'write'],
  gemm_tn: ['read', 'read', 'write'],
  embed_fprop: ['read', 'read', 'read', 'write'],
  embed_bprop_table: ['read', 'read', 'read', 'read', 'write'],
  embed_bprop_positions: ['read', 'write'],
  layernorm_fprop: ['read', 'read', 'read', 'write', 'write'],
  layernorm_bprop: ['read', 'read', 'read', 'read', 'write'],
  layernorm_bprop_params: ['read', 'read', 'read', 'write'],
  column_sum: ['read', 'write'],
  column_sum_final: ['read', 'write'],
  gelu_fprop: ['read', 'write'],
  gelu_bprop: ['read', 'read', 'write'],
  add: ['read', 'read', 'write'],
  softmax_fprop: ['write', 'write'],
  softmax_bprop: ['read', 'read', 'write'],
  cross_entropy_fprop: ['read', 'read', 'write'],
  cross_entropy_bprop: ['read', 'read', 'read', 'write'],
  gradient_compare: ['read', 'read', 'write'],
  out_error: ['read', 'read', 'write'],
  first_order: ['read', 'read', 'read', 'write'],
  shift: ['read', 'read', 'write'],
  dot: ['read', 'read', 'write'],
  flip_ulp: ['read', 'write'],
  amax: ['read', 'write'],
  tensor_scale: ['write'],
  block_amax: ['read', 'write'],
  block_scales: ['read', 'write', 'write'],
  hadamard: ['read', 'write'],
  quantize: ['read', 'read', 'write'],
  dequantize: ['read', 'read', 'read', 'write'],
  gemm_alpha: ['read', 'read', 'write'],
  codec_check: ['read', 'read', 'write'],
  function_check: ['read', 'write'],
  float_facts: ['read', 'read', 'read', 'write'],
} as const satisfies Record<string, readonly ('read' | 'write')[]>;

export type KernelName = keyof typeof ROWS;

export const KERNELS: Readonly<Record<KernelName, KernelRow>> = Object.fromEntries(
  Object.entries(ROWS).map(([name, bindings]) => [name, { name, bindings }]),
) as unknown as Record<KernelName, KernelRow>;
