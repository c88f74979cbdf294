/**
 * Kernels that are subtly wrong, one mutation each: a dropped tail, a forgotten factor, a wrong tie, a float test for
 * NaN. The start-up check finds every one; this is what says its limits are tight enough, beside kernels that write nothing.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedGpu } from '../../gpu/device-fixture';
import { Gpu, type Constants, type KernelRow, type Pipeline } from '../../gpu/gpu';
import { linkShader } from '../../gpu/shaders';
import { KERNELS, type KernelName } from '../kernels';
import { runSelfCheck } from './index';

interface Mutation {
  /** The check that has to find it. */
  readonly by: string;
  readonly what: string;
  readonly from: string;
  readonly to: string;
}

const MUTATIONS: Readonly<Record<KernelName, Mutation>> = {
  gemm_nn: { by: 'linear forward', what: 'one row of a tile misses every fourth k', from: 'c0 = c0 + x0.w * y3; ', to: '' },
  gemm_nt: { by: 'GEMM nt', what: 'the ragged end of the depth is dropped', from: '(params.depth + 3u) / 4u, 0u', to: 'params.depth / 4u, 0u' },
  gemm_tn: { by: 'linear backward', what: 'the ragged end of the depth is dropped', from: 'for (var k = whole_end; k < params.depth;', to: 'for (var k = whole_end; k + 1u < params.depth;' },
  embed_fprop: { by: 'embedding forward', what: 'positions count on into the second sequence', from: '(n % params.length)', to: '(n % (params.length + 1u))' },
  embed_bprop_table: { by: 'embedding backward', what: 'a token that comes twice counts once', from: 'i < starts[v + 1u]', to: 'i < min(starts[v + 1u], starts[v] + 1u)' },
  embed_bprop_positions: { by: 'embedding backward', what: 'the last sequence is left out', from: 'b < params.sequences', to: 'b + 1u < params.sequences' },
  layernorm_fprop: { by: 'layer norm forward', what: 'unbiased variance', from: '(squares.z + squares.w)) / f32(params.cols)', to: '(squares.z + squares.w)) / f32(params.cols - 1u)' },
  layernorm_bprop: { by: 'layer norm backward', what: 'the second mean is forgotten', from: ' - normal * m2', to: '' },
  layernorm_bprop_params: { by: 'layer norm backward', what: 'the last row of a chunk is left out', from: 'min(params.rows, (chunk + 1u) * params.chunk)', to: 'min(params.rows, (chunk + 1u) * params.chunk - 1u)' },
  column_sum: { by: 'linear backward', what: 'the last row of a chunk is left out', from: 'min(params.rows, (chunk + 1u) * params.chunk)', to: 'min(params.rows, (chunk + 1u) * params.chunk - 1u)' },
  column_sum_final: { by: 'linear backward', what: 'only the first chunk counts', from: 'i < params.chunks', to: 'i < min(params.chunks, 1u)' },
  gelu_fprop: { by: 'GELU forward', what: 'another GELU, x logistic(1.702 x)', from: '1.5957691216 * (x + 0.044715 * x * x * x)', to: '1.702 * x' },
  gelu_bprop: { by: 'GELU backward', what: 'the factor 3 of the cubic term is forgotten', from: '0.134145', to: '0.044715' },
  add: { by: 'residual sum', what: 'ties away from zero', from: 'vec4<u32>(0x7fffu) + ((kept >> vec4<u32>(16u)) & vec4<u32>(1u))', to: 'vec4<u32>(0x8000u)' },
  softmax_fprop: { by: 'attention forward', what: 'one token ahead is seen', from: '<= vec4<u32>(t)', to: '<= vec4<u32>(t + 1u)' },
  softmax_bprop: { by: 'attention backward', what: 'the row sum without the probabilities', from: 'total + dp[base + q] * p[base + q]', to: 'total + dp[base + q]' },
  cross_entropy_fprop: { by: 'cross-entropy forward', what: 'the last quad of the vocabulary is left out of the sum', from: 'q < params.quads; q += 1u) {\n    let s', to: 'q + 1u < params.quads; q += 1u) {\n    let s' },
  cross_entropy_bprop: { by: 'cross-entropy backward', what: 'the mean over one token more', from: 'f32(params.rows)', to: 'f32(params.rows + 1u)' },
  gradient_compare: { by: 'gradient comparison', what: 'Inf and NaN by a float comparison', from: '(bitcast<vec4<u32>>(v) & vec4<u32>(0x7f800000u)) == vec4<u32>(0x7f800000u)', to: 'v != v' },
  flip_ulp: { by: 'flipped ulp', what: 'the carry of the lower half runs over', from: '(w & 0xffff0000u) | ((w + 1u) & 0xffffu)', to: 'w + 1u' },
  shift: { by: 'shifts and their products', what: 'a sum instead of a difference', from: 'g[id] - r[id]', to: 'g[id] + r[id]' },
  dot: { by: 'shifts and their products', what: 'the last chunk is left out', from: 'q < min(params.quads, (id + 1u) * CHUNK_QUADS)', to: 'q + CHUNK_QUADS < params.quads + 1u && q < (id + 1u) * CHUNK_QUADS' },
  first_order: { by: 'first-order error', what: 'no limit on a product', from: 'vec4<f32>(-LIMIT), vec4<f32>(LIMIT)', to: 'vec4<f32>(-1e30), vec4<f32>(1e30)' },
  out_error: { by: 'output rounding error', what: 'the lower half of a word twice', from: 'bf16x4_decode(q[i])', to: 'bf16x4_decode(q[i].xx)' },
  amax: { by: 'NVFP4 quantizer', what: 'a NaN is the largest', from: 'select(magnitude, 0u, magnitude > F32_INF)', to: 'magnitude' },
  tensor_scale: { by: 'tensor scales', what: 'divided by 6, not multiplied by fl(1/6)', from: 'mul_f32(encode, NVFP4_SIXTH)', to: 'div_f32(encode, 0x40c00000u)' },
  block_amax: { by: 'FP8 blocks quantizer', what: 'each row of a tile for itself', from: 'atomicMax(&amax', to: 'atomicStore(&amax' },
  block_scales: { by: 'NVFP4 quantizer', what: 'double rounding on the way to the scale', from: 'mul_f32(block.amax, block.encode_sixth)', to: '((mul_f32(block.amax, block.encode_sixth) + 0x8000u) & 0xffff0000u)' },
  quantize: { by: 'NVFP4 quantizer', what: 'ties away from zero', from: '(1u << (s - 1u)) - 1u + ((significand >> s) & 1u)', to: '(1u << (s - 1u))' },
  dequantize: { by: 'NVFP4 quantizer', what: 'factors in another order', from: 'mul_f32(mul_f32(decode_minifloat(E4M3, stored), amax), NVFP4_RANGE_INVERSE)', to: 'mul_f32(decode_minifloat(E4M3, stored), mul_f32(amax, NVFP4_RANGE_INVERSE))' },
  hadamard: { by: 'Hadamard transform', what: 'a zero keeps its sign', from: 'select(quarter, 0u, (quarter & 0x7fffffffu) == 0u)', to: 'quarter' },
  gemm_alpha: { by: 'tensor scales', what: 'the count of a run starts anew', from: 'alpha[1] +=', to: 'alpha[1] =' },
  codec_check: { by: 'exact multiply', what: 'a float multiply, which flushes subnormals', from: 'y = mul_f32(x, b[id]);', to: 'y = bitcast<u32>(bitcast<f32>(x) * bitcast<f32>(b[id]));' },
  function_check: { by: 'exponential', what: 'ln 2 to five digits only', from: '+ n * 2.12194440e-4', to: '+ n * 2.1e-4' },
  float_facts: { by: 'float arithmetic', what: 'a product that is not exact', from: 'vec4<f32>(x * y,', to: 'vec4<f32>(x * y * 1.0000002,' },
};

/** Mistakes that only some schemes, sources or shapes show. */
const MORE: readonly (readonly [KernelName, Mutation])[] = [
  ['first_order', { by: 'first-order error', what: 'BF16 outputs without their lower half', from: 'bf16x4_decode(vec2<u32>(q[2u * i], q[2u * i + 1u]))', to: 'bf16x4_decode(vec2<u32>(q[2u * i] & 0xffff0000u, q[2u * i + 1u]))' }],
  ['first_order', { by: 'first-order error', what: 'the sum before the square', from: 'gd = gd + change * change', to: 'gd = gd + change' }],
  ['first_order', { by: 'first-order error', what: 'Inf and NaN of the gradient uncounted', from: 'not_finite(low) + not_finite(arriving)', to: 'not_finite(low)' }],
  ['gemm_nt', { by: 'packed NVFP4 GEMM', what: 'subnormal FP4 codes are zero', from: 'var subnormal = m * smallest;', to: 'var subnormal = m * 0u;' }],
  ['gemm_nt', { by: 'packed FP8 GEMM', what: 'subnormal FP8 codes are zero', from: 'vec4<f32>(m) * bitcast<f32>(smallest)', to: 'vec4<f32>(m) * 0.0' }],
  ['gemm_nt', { by: 'packed FP8 GEMM', what: 'the second block of a row has the scale of the first', from: 'block / 4u] >> (8u * (block % 4u))) & 0xffu);\n  if (B_SCALE', to: 'block / 4u]) & 0xffu);\n  if (B_SCALE' }],
  ['gemm_nt', { by: 'packed NVFP4 GEMM', what: 'all rows of tiles share the first one', from: 'vec4<u32>(t.col / B_TILE)', to: 'vec4<u32>(t.col / B_TILE / 16u)' }],
  ['block_amax', { by: 'NVFP4 quantizer', what: 'the last element of a ragged block is left out', from: 'min(first + params.block_cols, params.length)', to: 'min(first + params.block_cols, params.length - 1u)' }],
  ['block_scales', { by: 'MXFP8 quantizer', what: 'a scale of a block that is a power of two times the largest value is one too large', from: 'above && field < 254u', to: 'field < 254u' }],
  ['block_scales', { by: 'MXFP4 quantizer', what: 'floor without the exponent of the largest value', from: 'max(exponent, emax) - emax', to: 'exponent' }],
  ['block_scales', { by: 'FP8 blocks quantizer', what: 'scales of blocks that are no powers of two', from: 'select(finite, finite & F32_INF, pow2)', to: 'finite' }],
  ['quantize', { by: 'stochastic rounding', what: 'every block of a row draws the same bytes', from: '(first >> 4u), params.step', to: '0u, params.step' }],
  ['quantize', { by: 'stochastic rounding', what: 'bytes of a word in the other order', from: '(8u * (place & 3u))', to: '(24u - 8u * (place & 3u))' }],
  ['quantize', { by: 'FP8 per tensor quantizer', what: 'the scale after the cast instead of before it', from: 'factors[params.factors_first', to: 'factors[params.factors_first + min(params.factors_first, 1u)' }],
  ['quantize', { by: 'FP8 per tensor quantizer', what: 'values rounded without their code', from: 'mul_f32(decode_minifloat(f, code), decode)', to: 'mul_f32(scaled, decode)' }],
  ['quantize', { by: 'FP8 blocks quantizer', what: 'in place as if elsewhere', from: 'params.form == FORM_IN_PLACE', to: 'params.form > FORM_IN_PLACE' }],
  ['dequantize', { by: 'FP8 per tensor quantizer', what: 'BF16 by truncation', from: 'encode_minifloat(BF16, value[i], false)', to: '(value[i] >> 16u)' }],
  ['hadamard', { by: 'Hadamard transform', what: 'one sign too few', from: '0xd7e8u', to: '0xd7e0u' }],
  ['hadamard', { by: 'Hadamard transform', what: 'sums rounded down', from: 'rest > 4u || (rest == 4u', to: '(rest > 4u && false) || (rest == 9u' }],
  ['gemm_alpha', { by: 'tensor scales', what: 'the scales before the cast', from: 'select(TENSOR_DECODE, TENSOR_AMAX', to: 'select(TENSOR_ENCODE, TENSOR_AMAX' }],
  ['tensor_scale', { by: 'tensor scales', what: 'power-of-two scales rounded as the others', from: 'rule == RULE_TENSOR_POW2);', to: 'false);' }],
  ['codec_check', { by: 'exact add', what: 'no sticky bit', from: '(q >> shift) | select(0u, 1u, (q & ((1u << shift) - 1u)) != 0u)', to: '(q >> shift)' }],
  ['codec_check', { by: 'random numbers', what: 'nine rounds', from: 'round < 10u', to: 'round < 9u' }],
  ['codec_check', { by: 'random numbers', what: 'the corner below 0.5', from: ' + select(0u, 1u, x < (1u << 25u))', to: '' }],
];

/** A device with one kernel replaced; the others are those of the right device. */
class MutatedGpu extends Gpu {
  mutation: { readonly kernel: KernelName; readonly code: string } | null = null;
  readonly #right: Gpu;

  constructor(right: Gpu) {
    super(right.device, { name: right.adapterName, isFallback: right.isFallback });
    this.#right = right;
  }

  override async pipeline(row: KernelRow, constants: Constants = {}, workgroup = 64): Promise<Pipeline> {
    if (this.mutation?.kernel !== row.name) return this.#right.pipeline(row, constants, workgroup);
    const layout = this.layout(row.bindings);
    const pipeline = await this.device.createComputePipelineAsync({
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: this.device.createShaderModule({ code: this.mutation.code }), entryPoint: 'main', constants: { ...constants, WG: workgroup } },
    });
    return { pipeline, layout, workgroup };
  }
}

let gpu: MutatedGpu;
beforeAll(async () => {
  gpu = new MutatedGpu(await sharedGpu());
  // None of the right kernels is refused.
  const checks = await runSelfCheck(gpu);
  for (const { by } of [...Object.values(MUTATIONS), ...MORE.map(([, mutation]) => mutation)]) expect(checks.find((check) => check.name === by)?.passed, by).toBe(true);
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

async function find(kernel: KernelName, { by, what, from, to }: Mutation): Promise<void> {
  const right = linkShader(kernel);
  expect(right.split(from).length, `${kernel}: ${from}`).toBe(2);
  gpu.mutation = { kernel, code: right.replace(from, to) };
  const checks = await runSelfCheck(gpu, undefined, { only: (name) => name === by });
  gpu.mutation = null;
  expect(checks.map((check) => check.passed), `${what}: ${by}`).toEqual([false]);
  expect(gpu.liveBuffers).toBe(0);
}

it.each(Object.keys(KERNELS) as KernelName[])('%s', (kernel) => find(kernel, MUTATIONS[kernel]));
it.each(MORE.map(([kernel, mutation]) => [kernel, mutation.what, mutation] as const))('%s: %s', (kernel, _what, mutation) => find(kernel, mutation));
