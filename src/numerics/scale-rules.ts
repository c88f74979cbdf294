/**
 * The arithmetic behind SCALE_RULES: how a scale comes from an amax and what it multiplies. Each Math.fround is one FP32
 * rounding, and every quotient is a true division: a reciprocal changes codes wherever data sit on ties.
 * Source: formats.md 2.1 (tensor), 2.3 (blocks), 2.4 and 2.5 (MX), 2.6 (NVFP4, in nvfp4.ts).
 */
import { BendscopeError } from '../base/errors';
import { decodeE8m0, encodeE8m0, reciprocalE8m0 } from './e8m0';
import { bitsOf, F32_MAX, fromBits } from './float-bits';
import { FORMATS, type Minifloat } from './formats';
import { decode } from './minifloat';
import { nvfp4BlockScale, nvfp4DecodedScale, nvfp4Multiplier, nvfp4OperandScale, nvfp4TensorScales } from './nvfp4';
import type { OperandFormat, ScaleRuleName } from './schemes';

const { fround } = Math;

/** FP32 scalars of a whole tensor: encode multiplies before the cast, decode after; both 1 where the rule has none. */
export interface TensorScales {
  readonly amax: number;
  readonly encode: number;
  readonly decode: number;
}

/** One block: its stored scale (E8M0 or E4M3 code, FP32 bits; 0 without blocks) and the FP32 factor before the cast. */
export interface BlockScale {
  readonly stored: number;
  readonly multiplier: number;
}

export interface RuleArithmetic {
  tensor(amax: number, element: Minifloat): TensorScales;
  /** `inputMax`: the largest finite value of the tensor's type, which replaces an overflowing quotient of a block. */
  block(amax: number, element: Minifloat, tensor: TensorScales, inputMax: number): BlockScale;
  /** Stored scale -> FP32 factor after the cast. */
  decoded(stored: number, tensor: TensorScales): number;
  /** Stored scale -> what a GEMM multiplies the element by; the rest goes into alpha (formats.md 1.6). */
  operand(stored: number): number;
}

/** Largest finite value. */
export function largest(format: Minifloat): number {
  return decode(format, format.maxCode);
}

/** Exponent of the largest finite value: what the MX rules subtract. */
export function largestExponent(format: Minifloat): number {
  return (format.maxCode >> format.mantissaBits) - format.bias;
}

/** The element format of an operand. Throws E-BUG-01 for a scale format, which has no sign. */
export function elementOf({ element }: OperandFormat): Minifloat {
  const format = FORMATS[element];
  if (format.kind !== 'minifloat') throw new BendscopeError('E-BUG-01', `operand: expected an element format, got ${element}`);
  return format;
}

/** amax -> fl(max / amax); 1 for amax 0, Inf or NaN; `overflow` where the quotient is Inf; pow2: rounded down (2.1). */
export function currentScale(amax: number, element: Minifloat, pow2: boolean, overflow: number): number {
  if (amax === 0 || !Number.isFinite(amax)) return 1;
  const quotient = fround(largest(element) / amax);
  const scale = quotient === Infinity ? overflow : quotient;
  return pow2 ? fromBits((bitsOf(scale) & 0xff800000) >>> 0) : scale;
}

/** MX, round-up: block amax -> E8M0 code of fl(amax * fl(1 / max)) rounded up (TransformerEngine's `float_to_e8m0`). */
export function mxScaleUp(amax: number, element: Minifloat): number {
  return encodeE8m0(bitsOf(fround(amax * fround(1 / largest(element)))), 'up');
}

/** MX, floor: exponent of amax minus that of the largest element, not below code 0; 0xFF for Inf (OCP text). */
export function mxScaleFloor(amax: number, element: Minifloat): number {
  const exponent = encodeE8m0(bitsOf(amax), 'down');
  return exponent === FORMATS.E8M0.nanCode ? exponent : Math.max(exponent - largestExponent(element), 0);
}

const plain = (amax: number): TensorScales => ({ amax, encode: 1, decode: 1 });

function perTensor(pow2: boolean): RuleArithmetic {
  return {
    tensor: (amax, element) => {
      const encode = currentScale(amax, element, pow2, F32_MAX);
      return { amax, encode, decode: fround(1 / encode) };
    },
    block: (_amax, _element, tensor) => ({ stored: 0, multiplier: tensor.encode }),
    decoded: (_stored, tensor) => tensor.decode,
    operand: () => 1,
  };
}

function mx(scale: (amax: number, element: Minifloat) => number): RuleArithmetic {
  return {
    tensor: plain,
    block: (amax, element) => {
      const stored = scale(amax, element);
      return { stored, multiplier: reciprocalE8m0(stored) };
    },
    decoded: decodeE8m0,
    operand: decodeE8m0,
  };
}

export const RULE_ARITHMETIC: Readonly<Record<Exclude<ScaleRuleName, 'none'>, RuleArithmetic>> = {
  tensor: perTensor(false),
  'tensor-pow2': perTensor(true),
  'block-f32': {
    tensor: plain,
    block: (amax, element, _tensor, inputMax) => {
      const multiplier = currentScale(amax, element, false, inputMax);
      return { stored: bitsOf(fround(1 / multiplier)), multiplier };
    },
    decoded: fromBits,
    operand: fromBits,
  },
  'block-pow2': {
    tensor: plain,
    block: (amax, element, _tensor, inputMax) => {
      const multiplier = currentScale(amax, element, true, inputMax);
      // The decode scale is 2^(c - 127), exact; 2^-127 is the FP32 subnormal of code 0.
      return { stored: bitsOf(1 / multiplier) >>> 23, multiplier };
    },
    decoded: decodeE8m0,
    operand: decodeE8m0,
  },
  'mx-up': mx(mxScaleUp),
  'mx-floor': mx(mxScaleFloor),
  nvfp4: {
    tensor: nvfp4TensorScales,
    block: (amax, _element, tensor) => {
      const stored = nvfp4BlockScale(amax, tensor.encode);
      return { stored, multiplier: nvfp4Multiplier(stored, tensor.decode) };
    },
    decoded: (stored, tensor) => nvfp4DecodedScale(stored, tensor.amax),
    operand: nvfp4OperandScale,
  },
};
