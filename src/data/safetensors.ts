/**
 * Reader of safetensors files: u64 header length, JSON header, one byte buffer without holes. Own code, because files in
 * the wild are odd (ux.md 7, fault 15) and each oddity wants its named error. Never reads outside the file, never hangs.
 * Format: github.com/huggingface/safetensors, README "Format". What else a file may be is told by foreign-file.ts.
 */
import { BendscopeError, type PlainError } from '../base/errors';
import { DTYPE_BYTES, decodeFloats, isDtype, type Dtype } from './dtype';
import { refuseForeignFile } from './foreign-file';
import { headerObject } from './header-json';

export interface TensorInfo {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Bytes [begin, end) of the file, not of its buffer. */
  readonly begin: number;
  readonly end: number;
}

export interface Safetensors {
  readonly file: string;
  readonly bytes: Uint8Array;
  /** By name, in the order of their bytes. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly metadata: ReadonlyMap<string, string>;
  /** E-FILE-06 when the header was padded with zero bytes. */
  readonly warnings: readonly PlainError[];
}

/** The reference reader's own limit. */
const MAX_HEADER_BYTES = 100_000_000;
const RELOAD = 'Nothing was loaded. Download or export the file again.';

function damaged(file: string, what: string, byte: number): BendscopeError {
  return new BendscopeError('E-FILE-07', `${file} is damaged: ${what} at byte ${byte}.`, RELOAD);
}

/**
 * Checks a whole file and lists its tensors; copies nothing.
 * Throws E-FILE-07 (damaged), E-FILE-04 (Git LFS pointer), E-FILE-01 (pickle), E-FILE-08 (another format, by name).
 */
export function openSafetensors(data: ArrayBuffer | Uint8Array, file = 'model.safetensors'): Safetensors {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (bytes[8] !== 0x7b) refuseForeignFile(bytes, file);
  if (bytes.length < 8) throw damaged(file, `expected a header length of 8 bytes, got ${bytes.length} bytes`, 0);
  const claimed = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  if (claimed > BigInt(MAX_HEADER_BYTES)) throw damaged(file, `expected a header of at most ${MAX_HEADER_BYTES} bytes, got ${claimed}`, 0);
  const headerBytes = Number(claimed);
  const dataBegin = 8 + headerBytes;
  if (dataBegin > bytes.length) throw damaged(file, `expected a header of ${headerBytes} bytes, got ${bytes.length - 8} (the file is cut off)`, 8);
  const { header, padded } = headerObject(bytes.subarray(8, dataBegin), (what, at) => damaged(file, what, 8 + at));

  const metadata = new Map<string, string>();
  const infos: TensorInfo[] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') {
      for (const [key, value] of Object.entries(asObject(entry, file, '__metadata__'))) {
        if (typeof value !== 'string') throw damaged(file, `__metadata__ ${key}: expected a string, got ${typeof value}`, 8);
        metadata.set(key, value);
      }
    } else {
      infos.push(tensorInfo(name, asObject(entry, file, name), file, dataBegin, bytes.length));
    }
  }
  checkCoverage(infos, file, dataBegin, bytes.length);
  const warnings = padded
    ? [{ name: 'E-FILE-06', message: `${file}: the header was padded with zero bytes; we read it anyway.`, hint: 'Saving it again with a current safetensors library repairs it.' }]
    : [];
  return { file, bytes, tensors: new Map(infos.map((info) => [info.name, info])), metadata, warnings };
}

function asObject(value: unknown, file: string, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged(file, `${name}: expected an object, got ${Array.isArray(value) ? 'a list' : String(value)}`, 8);
  return value as Record<string, unknown>;
}

function wholeNumbers(value: unknown, file: string, what: string): number[] {
  if (!Array.isArray(value)) throw damaged(file, `${what}: expected a list, got ${typeof value}`, 8);
  for (const n of value) {
    if (!Number.isSafeInteger(n) || n < 0) throw damaged(file, `${what}: expected whole numbers from 0, got ${JSON.stringify(n)}`, 8);
  }
  return value as number[];
}

function tensorInfo(name: string, entry: Record<string, unknown>, file: string, dataBegin: number, fileBytes: number): TensorInfo {
  const { dtype } = entry;
  if (!isDtype(dtype)) throw damaged(file, `${name}: expected a known dtype, got ${JSON.stringify(dtype)}`, 8);
  const shape = wholeNumbers(entry['shape'], file, `${name} shape`);
  const [from, to, ...rest] = wholeNumbers(entry['data_offsets'], file, `${name} data_offsets`);
  if (from === undefined || to === undefined || rest.length > 0) throw damaged(file, `${name} data_offsets: expected two numbers, got another count`, 8);
  const [begin, end] = [dataBegin + from, dataBegin + to];
  if (to < from) throw damaged(file, `${name}: expected a range that ends after it begins, got [${from}, ${to}]`, begin);
  if (end > fileBytes) throw damaged(file, `${name}: expected its data to end at byte ${end}, got a file of ${fileBytes} bytes (cut off?)`, fileBytes);
  const expected = shape.reduce((product, n) => product * n, DTYPE_BYTES[dtype]);
  if (expected !== to - from) throw damaged(file, `${name}: expected ${expected} bytes for ${dtype} [${shape.join(', ')}], got ${to - from}`, begin);
  return { name, dtype, shape, begin, end };
}

/** The tensors tile the byte buffer: no overlap, no hole, nothing after the last. Sorts them by place. */
function checkCoverage(infos: TensorInfo[], file: string, dataBegin: number, fileBytes: number): void {
  infos.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let at = dataBegin;
  for (const info of infos) {
    if (info.begin < at) throw damaged(file, `${info.name}: expected its own bytes, got a range that overlaps another tensor`, info.begin);
    if (info.begin > at) throw damaged(file, `${info.name}: expected to begin where the last tensor ends, got ${info.begin - at} bytes of no tensor`, at);
    at = info.end;
  }
  if (at !== fileBytes) throw damaged(file, `expected the last tensor to end the file, got ${fileBytes - at} bytes more`, at);
}

function infoOf(source: Safetensors, name: string): TensorInfo {
  const info = source.tensors.get(name);
  if (info === undefined) throw new BendscopeError('E-FILE-03', `${source.file}: expected a tensor ${name}, got none of that name.`, 'Is this the right file?');
  return info;
}

/** The bytes of a tensor as they lie in the file: a fresh copy, so an odd offset is no matter. Throws E-FILE-03. */
export function tensorBytes(source: Safetensors, name: string): Uint8Array<ArrayBuffer> {
  const { begin, end } = infoOf(source, name);
  return new Uint8Array(source.bytes.subarray(begin, end));
}

/** A floating-point tensor as FP32, row-major in its own shape; F64 is rounded to nearest. Throws E-FILE-03, E-FILE-08. */
export function tensorFloats(source: Safetensors, name: string): Float32Array<ArrayBuffer> {
  const { dtype } = infoOf(source, name);
  const values = decodeFloats(dtype, tensorBytes(source, name));
  if (values === null) throw new BendscopeError('E-FILE-08', `${source.file} ${name}: expected F32, F16, BF16 or F64, got ${dtype}.`, 'Save the weights in one of those types.');
  return values;
}
