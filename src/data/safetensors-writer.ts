/**
 * Writer of safetensors files, byte for byte what the Python library writes (where the metadata has at most one entry; the
 * library keeps no order of several, we sort): wide types first, then names; header padded with spaces to 8 bytes.
 */
import { assert } from '../base/errors';
import { DTYPE_BYTES, type Dtype } from './dtype';

export interface TensorToWrite {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Little-endian elements; its byte length must be that of shape and dtype. */
  readonly data: ArrayBufferView;
}

/** The safetensors library's own order of types: widest first, so that every tensor stays aligned. */
const ORDER: readonly Dtype[] = ['U64', 'I64', 'F64', 'C64', 'F32', 'U32', 'I32', 'BF16', 'F16', 'U16', 'I16', 'F8_E8M0', 'F8_E4M3', 'F8_E5M2', 'I8', 'U8', 'BOOL'];
const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The same tensors and metadata give the same bytes, in whatever order they come. */
export function writeSafetensors(tensors: readonly TensorToWrite[], metadata: Readonly<Record<string, string>> = {}): Uint8Array<ArrayBuffer> {
  const sorted = tensors.toSorted((a, b) => ORDER.indexOf(a.dtype) - ORDER.indexOf(b.dtype) || byCodeUnit(a.name, b.name));
  const notes = Object.entries(metadata).sort(([a], [b]) => byCodeUnit(a, b));
  const lines = notes.length > 0 ? [`"__metadata__":{${notes.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`] : [];
  const names = new Set(['__metadata__']);
  let at = 0;
  for (const { name, dtype, shape, data } of sorted) {
    const expected = shape.reduce((product, n) => product * n, DTYPE_BYTES[dtype]);
    assert(data.byteLength === expected, `writeSafetensors ${name}: expected ${expected} bytes for ${dtype} [${shape.join(', ')}], got ${data.byteLength}`);
    assert(!names.has(name), `writeSafetensors: expected each name once, got ${name} twice`);
    names.add(name);
    lines.push(`${JSON.stringify(name)}:{"dtype":"${dtype}","shape":[${shape.join(',')}],"data_offsets":[${at},${at + expected}]}`);
    at += expected;
  }
  const json = new TextEncoder().encode(`{${lines.join(',')}}`);
  const headerBytes = Math.ceil(json.length / 8) * 8;
  const file = new Uint8Array(8 + headerBytes + at);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.set(json, 8);
  file.fill(0x20, 8 + json.length, 8 + headerBytes);
  let place = 8 + headerBytes;
  for (const { data } of sorted) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), place);
    place += data.byteLength;
  }
  return file;
}
