/**
 * Reads e2e/golden/formats for the tests: the index, the arrays it locates, and what each case asks of our quantizer.
 * Only tests import this file. Conventions (dtype, NaN stored as 0x7FC00000): the index itself.
 */
import { readFileSync } from 'node:fs';
import { fromBits } from './float-bits';
import type { FormatName } from './formats';
import { rht, rhtLength } from './hadamard';
import type { QuantizeOptions } from './quantize';
import type { OperandFormat, ScaleRuleName } from './schemes';
import type { RandomKey } from './stochastic';

interface ArrayPlace {
  readonly file: string;
  readonly byteOffset: number;
  readonly dtype: 'u8' | 'u16' | 'u32' | 'f32';
  readonly shape: readonly number[];
}
export interface GoldenCase {
  readonly name: string;
  readonly scheme: string;
  readonly input: string | null;
  readonly shape: readonly [number, number];
  readonly block: readonly [number, number];
  readonly tensor: { readonly amaxBits: string; readonly encodeBits?: string; readonly decodeBits?: string };
  readonly options: { readonly tensorAmax?: string; readonly inputDtype?: 'bf16' | 'fp32'; readonly philox?: RandomKey; readonly rht?: boolean };
  readonly arrays: Readonly<Record<string, ArrayPlace>>;
}
interface GoldenRng {
  readonly 'philox4x32-10': readonly { readonly counter: readonly string[]; readonly key: readonly string[]; readonly output: readonly string[] }[];
  readonly bytes: readonly (RandomKey & { readonly shape: readonly [number, number]; readonly array: ArrayPlace })[];
}
interface GoldenIndex {
  readonly inputs: readonly { readonly name: string; readonly array: ArrayPlace }[];
  readonly cases: readonly GoldenCase[];
  readonly elements: readonly { readonly name: string; readonly arrays: Readonly<Record<string, ArrayPlace>> }[];
  readonly rng: GoldenRng;
}

const folder = new URL('../../e2e/golden/formats/', import.meta.url);
const files = new Map<string, Buffer>();

function bytesOf(name: string): Buffer {
  let bytes = files.get(name);
  if (!bytes) {
    bytes = readFileSync(new URL(name, folder));
    files.set(name, bytes);
  }
  return bytes;
}

const index = JSON.parse(bytesOf('index.json').toString('utf8')) as GoldenIndex;
const WIDTH = { u8: 1, u16: 2, u32: 4, f32: 4 } as const;

/** The array as unsigned integers: codes, or FP32 bit patterns for f32. */
function readWords(place: ArrayPlace): Uint32Array {
  const width = WIDTH[place.dtype];
  const bytes = bytesOf(place.file);
  const count = place.shape.reduce((a, b) => a * b, 1);
  return Uint32Array.from({ length: count }, (_, i) => bytes.readUIntLE(place.byteOffset + i * width, width));
}

export const goldenCases = index.cases;
export const goldenPhilox = index.rng['philox4x32-10'];
export const goldenBytes = index.rng.bytes.map((row) => ({ ...row, bytes: Uint8Array.from(readWords(row.array)) }));

/** Our name of each golden scheme; `rht` is a transform, no scheme. A scheme that is not here fails the coverage test. */
const GOLDEN_SCHEMES: Readonly<Record<string, readonly [FormatName, ScaleRuleName]>> = {
  fp8_tensor_e4m3: ['E4M3', 'tensor'],
  fp8_tensor_e4m3_pow2: ['E4M3', 'tensor-pow2'],
  fp8_tensor_e5m2: ['E5M2', 'tensor'],
  fp8_tensor_e5m2_pow2: ['E5M2', 'tensor-pow2'],
  fp8_block_1x128_pow2: ['E4M3', 'block-pow2'],
  fp8_block_1x128_fp32scale: ['E4M3', 'block-f32'],
  fp8_block_128x128_pow2: ['E4M3', 'block-pow2'],
  fp8_block_128x128_fp32scale: ['E4M3', 'block-f32'],
  mxfp8_rceil: ['E4M3', 'mx-up'],
  mxfp8_floor: ['E4M3', 'mx-floor'],
  mxfp8_e5m2_rceil: ['E5M2', 'mx-up'],
  mxfp4_rceil: ['E2M1', 'mx-up'],
  mxfp4_floor: ['E2M1', 'mx-floor'],
  nvfp4_1d: ['E2M1', 'nvfp4'],
  nvfp4_2d: ['E2M1', 'nvfp4'],
  nvfp4_rht: ['E2M1', 'nvfp4'],
  nvfp4_sr_given: ['E2M1', 'nvfp4'],
  nvfp4_sr_philox: ['E2M1', 'nvfp4'],
  nvfp4_rht_sr_philox: ['E2M1', 'nvfp4'],
};

/** What a case asks of the quantizer: x [rows, cols] as handed to it (after an RHT), its format and options. */
export interface GoldenTask {
  readonly x: Float32Array;
  readonly rows: number;
  readonly cols: number;
  readonly format: OperandFormat;
  readonly options: QuantizeOptions;
}

/** null: the case is a transform, not a quantization. Throws for a scheme that has no name of ours. */
export function goldenTask(golden: GoldenCase): GoldenTask | null {
  if (golden.scheme === 'rht') return null;
  const named = GOLDEN_SCHEMES[golden.scheme];
  if (!named) throw new Error(`golden case ${golden.name}: unknown scheme`);
  const [element, scale] = named;
  const [rows, cols] = golden.shape;
  const { tensorAmax, inputDtype, rht: transformed } = golden.options;
  // Without blocks the golden's one block is the tensor.
  const block = scale.startsWith('tensor') ? ([1, 1] as const) : golden.block;
  const input = caseInput(golden);
  return {
    x: transformed ? rht(input, rows, cols) : input, rows, cols: transformed ? rhtLength(cols) : cols,
    format: { element, scale, block },
    options: {
      ...(tensorAmax === undefined ? {} : { amax: fromBits(Number(golden.tensor.amaxBits)) }),
      ...(golden.arrays['random'] ? { randomBytes: Uint8Array.from(caseArray(golden, 'random')) } : {}),
      ...(inputDtype === undefined ? {} : { inputDtype }),
    },
  };
}

/** Stored block scales of a case as we store them: FP8 blocks with power-of-two scales hold the E8M0 byte; empty without blocks. */
export function goldenScales(golden: GoldenCase): Uint32Array {
  const rule = GOLDEN_SCHEMES[golden.scheme]?.[1];
  if (rule?.startsWith('tensor')) return new Uint32Array();
  const scales = caseArray(golden, 'scale');
  return rule === 'block-pow2' ? scales.map((bits) => bits >>> 23) : scales;
}

/** One array of a format's element goldens; throws if the golden has no such array. */
export function elementArray(format: string, array: string): Uint32Array {
  const place = index.elements.find((e) => e.name === format)?.arrays[array];
  if (!place) throw new Error(`golden elements: no ${format}/${array}`);
  return readWords(place);
}

export function hasElementArray(format: string, array: string): boolean {
  return index.elements.some((e) => e.name === format && array in e.arrays);
}

export function caseArray(golden: GoldenCase, array: string): Uint32Array {
  const place = golden.arrays[array];
  if (!place) throw new Error(`golden case ${golden.name}: no ${array}`);
  return readWords(place);
}

/** The tensor a case quantizes. */
export function caseInput(golden: GoldenCase): Float32Array {
  const place = golden.arrays['x'] ?? index.inputs.find((i) => i.name === golden.input)?.array;
  if (!place) throw new Error(`golden case ${golden.name}: no input`);
  return new Float32Array(readWords(place).buffer);
}

const isNaNBits = (bits: number): boolean => (bits & 0x7fffffff) > 0x7f800000;

/** Entries that differ; as FP32 bits, all NaNs are one. Lengths must agree. */
export function countDifferent(actual: ArrayLike<number>, expected: ArrayLike<number>, float: boolean): number {
  if (actual.length !== expected.length) throw new Error(`expected ${expected.length} entries, got ${actual.length}`);
  let different = 0;
  for (let i = 0; i < expected.length; i++) {
    const a = actual[i] ?? 0;
    const b = expected[i] ?? 0;
    if (a !== b && !(float && isNaNBits(a) && isNaNBits(b))) different += 1;
  }
  return different;
}
