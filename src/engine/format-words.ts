/**
 * Rows of FORMATS and SCALE_RULES as the words that kernels take in Params or override constants, so that a new format
 * is a row of the table and no WGSL. Counterpart: shaders/lib/minifloat.wgsl `element_of`, shaders/lib/scales.wgsl.
 */
import { assert } from '../base/errors';
import { bitsOf } from '../numerics/float-bits';
import { FORMATS, type FormatName, type Minifloat } from '../numerics/formats';
import { decode } from '../numerics/minifloat';
import { SCALE_RULES, type OperandFormat } from '../numerics/schemes';

/** The row of an element format; a power-of-two scale is no element. */
export function elementFormat(name: FormatName): Minifloat {
  const format = FORMATS[name];
  assert(format.kind === 'minifloat', `${name} is no element format`);
  return format;
}

/** A format of at most 8 bits in one word: bits, mantissa bits (4 each), bias, largest code, NaN code (8 each), from bit 0. */
export function elementWord(name: FormatName): number {
  const f = elementFormat(name);
  const overflow = Math.min(f.maxCode + 1, f.nanCode);
  assert(f.bits <= 8 && f.overflowCode === overflow, `elementWord: ${name} does not fit the kernels' word`);
  return (f.bits | (f.mantissaBits << 4) | (f.bias << 8) | (f.maxCode << 16) | (f.nanCode << 24)) >>> 0;
}

/** FP32 bits of the largest finite value. */
export function maxBits(name: FormatName): number {
  const f = elementFormat(name);
  return bitsOf(decode(f, f.maxCode));
}

export function ruleCode(format: OperandFormat): number {
  return SCALE_RULES[format.scale].code;
}
