/**
 * What the reference quantizes, by src/numerics and from the BF16 value: GEMM operands along the contracted axis, multiplied as
 * q or q * s with the tensor scales once in alpha (formats.md 1.5, 1.6, 3), and the tensors of low op groups, which
 * readers see as BF16 (formats.md 2.0). The accumulation is float64.
 */
import { rht, rhtLength } from '../../numerics/hadamard';
import { gemmAlpha, gemmOperand, outValues, quantize, type Quantized } from '../../numerics/quantize';
import { operandFormat, type OperandRole } from '../../numerics/schemes';
import { randomBytes, type RandomKey } from '../../numerics/stochastic';
import { OUT_SCHEME, type PassScheme, type PolicyOptions } from '../../graph/policy';
import { multiply, scale, transpose } from './matrix';

/** An operand before quantization: BF16 values [rows, length], the contracted axis last. */
export interface LowSource {
  readonly values: Float64Array;
  readonly rows: number;
  readonly role: OperandRole;
  /** Where the random bytes of stochastic rounding come from; none: nearest even. */
  readonly random?: RandomKey | undefined;
}

/**
 * a [a.rows, length], b [b.rows, length] -> a b^T [a.rows, b.rows] as the scheme computes it, in float64. transform: both
 * operands go through the random Hadamard transform first, whose padded length their random bytes then have.
 */
export function lowProduct(scheme: PassScheme, options: PolicyOptions, a: LowSource, b: LowSource, length: number, transform = false): Float64Array {
  const width = transform ? rhtLength(length) : length;
  const quantized = ({ values, rows, role, random }: LowSource): Quantized => {
    const x = Float32Array.from(values);
    return quantize(transform ? rht(x, rows, length) : x, rows, width, operandFormat(scheme, role, options), random ? { randomBytes: randomBytes(rows, width, random) } : {});
  };
  const [qa, qb] = [quantized(a), quantized(b)];
  const [left, right] = [qa, qb].map((q) => Float64Array.from(gemmOperand(q))) as [Float64Array, Float64Array];
  return scale(multiply(left, transpose(right, b.rows, width), a.rows, width, b.rows), gemmAlpha(qa, qb));
}

/** A tensor of a low op group, BF16 values [rows, cols] -> what its readers see; x its output, w its weight, dy what arrives. */
export function outTensor(values: Float64Array, rows: number, cols: number, role: OperandRole, options: PolicyOptions): Float64Array {
  return Float64Array.from(outValues(quantize(Float32Array.from(values), rows, cols, operandFormat(OUT_SCHEME, role, options))));
}
