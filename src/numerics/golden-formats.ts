/**
 * Reads e2e/golden/formats for the tests: the index and the arrays it locates. Only tests import this file.
 * Conventions (dtype, NaN stored as 0x7FC00000): the index itself.
 */
import { readFileSync } from 'node:fs';

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
  readonly tensor: { readonly amaxBits: string; readonly encodeBits: string; readonly decodeBits: string };
  readonly options: { readonly tensorAmax?: string };
  readonly arrays: Readonly<Record<string, ArrayPlace>>;
}
interface GoldenIndex {
  readonly inputs: readonly { readonly name: string; readonly array: ArrayPlace }[];
  readonly cases: readonly GoldenCase[];
  readonly elements: readonly { readonly name: string; readonly arrays: Readonly<Record<string, ArrayPlace>> }[];
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
