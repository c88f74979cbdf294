/**
 * Low-precision GEMM operands of the reference: quantized by src/numerics from the BF16 value along the contracted axis,
 * multiplied as q * s, the tensor scales once in alpha (formats.md 1.5, 3). The accumulation is float64.
 */
import { nvfp4Alpha, nvfp4GemmOperand, quantizeNvfp4 } from '../../numerics/nvfp4';
import { operandFormat, type BlockShape, type OperandRole } from '../../numerics/schemes';
import type { PassScheme, PolicyOptions } from '../../graph/policy';
import { multiply, scale, transpose } from './matrix';

/** An operand before quantization: BF16 values [rows, length], the contracted axis last. */
export interface LowSource {
  readonly values: Float64Array;
  readonly rows: number;
  readonly role: OperandRole;
}

interface LowOperand {
  /** [rows, length], decoded without the tensor scale. */
  readonly values: Float64Array;
  readonly amax: number;
}

interface LowScheme {
  quantize(values: Float32Array, rows: number, length: number, block: BlockShape): LowOperand;
  alpha(amaxA: number, amaxB: number): number;
}

const LOW_SCHEMES: Readonly<Record<PassScheme, LowScheme>> = {
  nvfp4: {
    quantize: (values, rows, length, block) => {
      const q = quantizeNvfp4(values, rows, length, block);
      return { values: Float64Array.from(nvfp4GemmOperand(q)), amax: q.tensor.amax };
    },
    alpha: nvfp4Alpha,
  },
};

/** a [a.rows, length], b [b.rows, length] -> a b^T [a.rows, b.rows] as the scheme computes it, in float64. */
export function lowProduct(scheme: PassScheme, options: PolicyOptions, a: LowSource, b: LowSource, length: number): Float64Array {
  const row = LOW_SCHEMES[scheme];
  const quantized = ({ values, rows, role }: LowSource): LowOperand =>
    row.quantize(Float32Array.from(values), rows, length, operandFormat(scheme, role, options.weights1d ?? false).block);
  const [qa, qb] = [quantized(a), quantized(b)];
  return scale(multiply(qa.values, transpose(qb.values, b.rows, length), a.rows, length, b.rows), row.alpha(qa.amax, qb.amax));
}
