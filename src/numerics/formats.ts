/**
 * FORMATS: every element and block-scale format, one row each. The CPU codecs read these rows, and a test holds the
 * constants of shaders/lib/minifloat.wgsl against them. A new format is a new row.
 * Source: formats.md 1.1 (layouts, constants) and 1.2 (saturation, NaN).
 */

/** A sign-magnitude format. Codes are `bits` wide, sign on top; magnitudes ascend with the code. */
export interface Minifloat {
  readonly kind: 'minifloat';
  readonly name: string;
  readonly bits: number;
  readonly mantissaBits: number;
  readonly bias: number;
  /** Magnitude code of the largest finite value. */
  readonly maxCode: number;
  /** Magnitude code a too large value becomes in a cast that does not saturate; maxCode where there is no such code. */
  readonly overflowCode: number;
  /** Code a NaN becomes, its sign dropped (E2M1 has none: +6, as the hardware conversion; E2M3 and E3M2 alike). */
  readonly nanCode: number;
  /** Whether Bendscope's casts to it saturate. */
  readonly saturates: boolean;
}

/** A power-of-two scale: code c is 2^(c - bias); no sign, no zero. */
export interface ExponentFormat {
  readonly kind: 'exponent';
  readonly name: string;
  readonly bits: number;
  readonly bias: number;
  readonly maxCode: number;
  readonly nanCode: number;
}

export type NumberFormat = Minifloat | ExponentFormat;

export const FORMATS = {
  BF16: { kind: 'minifloat', name: 'BF16', bits: 16, mantissaBits: 7, bias: 127, maxCode: 0x7f7f, overflowCode: 0x7f80, nanCode: 0x7fc0, saturates: false },
  E4M3: { kind: 'minifloat', name: 'E4M3', bits: 8, mantissaBits: 3, bias: 7, maxCode: 0x7e, overflowCode: 0x7f, nanCode: 0x7f, saturates: true },
  E5M2: { kind: 'minifloat', name: 'E5M2', bits: 8, mantissaBits: 2, bias: 15, maxCode: 0x7b, overflowCode: 0x7c, nanCode: 0x7f, saturates: true },
  E2M1: { kind: 'minifloat', name: 'E2M1', bits: 4, mantissaBits: 1, bias: 1, maxCode: 0x7, overflowCode: 0x7, nanCode: 0x7, saturates: true },
  E2M3: { kind: 'minifloat', name: 'E2M3', bits: 6, mantissaBits: 3, bias: 1, maxCode: 0x1f, overflowCode: 0x1f, nanCode: 0x1f, saturates: true },
  E3M2: { kind: 'minifloat', name: 'E3M2', bits: 6, mantissaBits: 2, bias: 3, maxCode: 0x1f, overflowCode: 0x1f, nanCode: 0x1f, saturates: true },
  E8M0: { kind: 'exponent', name: 'E8M0', bits: 8, bias: 127, maxCode: 0xfe, nanCode: 0xff },
} as const satisfies Record<string, NumberFormat>;

export type FormatName = keyof typeof FORMATS;
