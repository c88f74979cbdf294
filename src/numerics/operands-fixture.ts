/**
 * Every form an operand can have under the rows of SCHEMES and their switches, each once, two that no row need have, and
 * the tensors that go wrong first.
 */
import { operandFormat, SCHEMES, type OperandFormat, type OperandOptions, type OperandRole, type SchemeName } from './schemes';

const SWITCHES: readonly OperandOptions[] = [{}, { weights1d: true }, { pow2: true }, { floor: true }, { e5m2Grad: true }, { out: 'block' }, { out: 'mx' }];
const ROLES: readonly OperandRole[] = ['x', 'w', 'dy'];

const forms = new Map<string, OperandFormat>();
for (const scheme of Object.keys(SCHEMES) as SchemeName[]) {
  for (const options of SWITCHES) {
    for (const role of ROLES) {
      const format = operandFormat(scheme, role, options);
      forms.set(operandName(format), format);
    }
  }
}

/** FP32 block scales are in the goldens, MXFP6 has codecs (formats.md 1.1, 2.3): what a new row would use must work too. */
const UNUSED: readonly OperandFormat[] = [
  { element: 'E4M3', scale: 'block-f32', block: [1, 128] },
  { element: 'E3M2', scale: 'mx-up', block: [1, 32] },
];
for (const format of UNUSED) forms.set(operandName(format), format);

export const OPERANDS: readonly OperandFormat[] = [...forms.values()];
export function operandName({ element, scale, block }: OperandFormat): string {
  return `${element} ${scale} ${block.join('x')}`;
}

/** A BF16-valued matrix that goes wrong first. */
export interface HardTensor {
  readonly name: string;
  readonly rows: number;
  readonly cols: number;
  readonly x: Float32Array;
}

/** One element past whole blocks of 16, 32 and 128. */
const RAGGED_COLS = [17, 49, 33, 97, 129, 257] as const;
/** Huge, and still decodable under NVFP4, whose decode overflows above 7.6e35 (formats.md 2.6). */
export const HUGE = 2 ** 100;
/** The smallest BF16 number, an FP32 subnormal. */
export const SMALLEST = 2 ** -133;

/** Values around 1 with three significant bits, so exactly BF16, of either sign. */
function ordinary(rows: number, cols: number): Float32Array {
  return Float32Array.from({ length: rows * cols }, (_, i) => (i % 2 ? -1 : 1) * (1 + ((i * 5) % 8) / 8) * 2 ** ((i * 3) % 4));
}

export function hardTensors(): readonly HardTensor[] {
  const found: HardTensor[] = [];
  const add = (name: string, rows: number, cols: number, x: Float32Array): void => {
    found.push({ name: `${name}, ${rows}x${cols}`, rows, cols, x });
  };
  for (const cols of RAGGED_COLS) {
    add('all zero, some of it -0', 3, cols, Float32Array.from({ length: 3 * cols }, (_, i) => (i % 3 === 0 ? -0 : 0)));
    const last = ordinary(3, cols);
    for (let r = 0; r < 3; r++) last[r * cols + cols - 1] = HUGE * (r % 2 ? -1 : 1);
    add('a huge last value', 3, cols, last);
    add('subnormal only', 2, cols, Float32Array.from({ length: 2 * cols }, (_, i) => ((i * 7) % 128) * SMALLEST * (i % 2 ? -1 : 1)));
  }
  const outlier = ordinary(20, 257);
  outlier[10 * 257 + 130] = -HUGE;
  add('one huge outlier', 20, 257, outlier);
  add('zero blocks', 20, 257, ordinary(20, 257).map((v, i) => (i % 257 < 128 ? v * 0 : v)));
  add('subnormal blocks', 20, 257, ordinary(20, 257).map((v, i) => (i % 257 < 128 ? v * 2 ** -130 : v)));
  add('one value, the smallest', 1, 1, Float32Array.of(SMALLEST));
  add('one value, the rest zero', 17, 129, new Float32Array(17 * 129).fill(3, 2000, 2001));
  return found;
}
