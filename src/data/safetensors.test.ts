/**
 * The reader against files of the Python safetensors library, the writer byte for byte against the same, and the reader
 * against every oddity of ux.md 7, fault 15, each with its named error.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BendscopeError } from '../base/errors';
import { DTYPE_BYTES, type Dtype } from './dtype';
import { openSafetensors, tensorBytes, tensorFloats, type Safetensors } from './safetensors';
import { writeSafetensors } from './safetensors-writer';

const golden = (name: string): Uint8Array => readFileSync(new URL(`../../e2e/golden/${name}`, import.meta.url));
const MIXED = golden('safetensors/mixed.safetensors');
const bitsOf = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer, values.byteOffset, values.length);

/** A file from header text and data bytes; `length` overrides the header length. */
function file(header: string | Uint8Array, data: Uint8Array | number = 0, length?: bigint): Uint8Array {
  const head = typeof header === 'string' ? new TextEncoder().encode(header) : header;
  const body = typeof data === 'number' ? new Uint8Array(data) : data;
  const bytes = new Uint8Array(8 + head.length + body.length);
  new DataView(bytes.buffer).setBigUint64(0, length ?? BigInt(head.length), true);
  bytes.set(head, 8);
  bytes.set(body, 8 + head.length);
  return bytes;
}

function fails(bytes: Uint8Array, name = 'w.safetensors'): BendscopeError {
  try {
    openSafetensors(bytes, name);
  } catch (error) {
    if (error instanceof BendscopeError) return error;
    throw error;
  }
  throw new Error('expected the file to be refused');
}

function rewrite(source: Safetensors): Uint8Array {
  const tensors = [...source.tensors.values()].map(({ name, dtype, shape }) => ({ name, dtype, shape, data: tensorBytes(source, name) }));
  return writeSafetensors(tensors.reverse(), Object.fromEntries(source.metadata));
}

describe('files of the Python library', () => {
  test('every floating-point type decodes to the bits of NumPy and PyTorch', () => {
    const mixed = openSafetensors(MIXED);
    const decoded = openSafetensors(golden('safetensors/decoded.safetensors'));
    expect([...decoded.tensors.keys()].sort()).toEqual(['brain', 'double', 'empty', 'half', 'scalar', 'single']);
    for (const name of decoded.tensors.keys()) {
      expect(mixed.tensors.get(name)?.shape).toEqual(decoded.tensors.get(name)?.shape);
      expect(bitsOf(tensorFloats(mixed, name))).toEqual(bitsOf(tensorFloats(decoded, name)));
    }
    expect(mixed.warnings).toEqual([]);
    expect(mixed.metadata.get('note')).toBe('quote " slash / unicode é tab \t');
    expect(mixed.tensors.get('scalar')?.shape).toEqual([]);
    expect([...tensorBytes(mixed, 'byte')]).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(() => tensorFloats(mixed, 'long')).toThrow(/long: expected F32, F16, BF16 or F64, got I64/);
    expect(() => tensorFloats(mixed, 'nothing')).toThrow(/expected a tensor nothing/);
  });

  test.each(['safetensors/mixed', 'safetensors/decoded', 'nano/gradient-bf16', 'nano/nodes', 'nano/nodes-gradient', 'mini/gradient-fp32'])(
    'read and written again, %s has the same bytes',
    (name) => {
      const bytes = golden(`${name}.safetensors`);
      expect(Buffer.compare(rewrite(openSafetensors(bytes)), bytes)).toBe(0);
    },
  );

  test('a view at an odd place of a larger buffer reads the same', () => {
    const larger = new Uint8Array(MIXED.length + 3);
    larger.set(MIXED, 3);
    const moved = openSafetensors(larger.subarray(3));
    expect(tensorFloats(moved, 'double')).toEqual(tensorFloats(openSafetensors(MIXED), 'double'));
  });
});

describe('odd but readable', () => {
  test('F32 at an odd offset', () => {
    const values = Float32Array.of(1.5, -2.25);
    const data = new Uint8Array(9);
    data.set(new Uint8Array(values.buffer), 1);
    const header = '{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}';
    expect(tensorFloats(openSafetensors(file(header, data)), 'w')).toEqual(values);
  });

  test('a header padded with zero bytes is read, with E-FILE-06', () => {
    const opened = openSafetensors(file('{"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}\0\0\0 \0', 2));
    expect(opened.warnings.map(({ name }) => name)).toEqual(['E-FILE-06']);
    expect(opened.tensors.size).toBe(1);
  });

  test('empty tensors, no tensors, names like __proto__', () => {
    expect(openSafetensors(file('{}')).tensors.size).toBe(0);
    const header = '{"__proto__":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}';
    const opened = openSafetensors(file(header, 4));
    expect(tensorFloats(opened, '__proto__').length).toBe(0);
    expect(tensorFloats(opened, 'w').length).toBe(1);
  });

  test('a header of 30 MB', () => {
    const lines = Array.from({ length: 330_000 }, (_, i) => `"layer.${i}.${'n'.repeat(30)}":{"dtype":"U8","shape":[1],"data_offsets":[${i},${i + 1}]}`);
    const header = `{${lines.join(',')}}`;
    expect(header.length).toBeGreaterThan(30_000_000);
    const began = performance.now();
    expect(openSafetensors(file(header, 330_000)).tensors.size).toBe(330_000);
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

const W = '"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}';
const REFUSED: readonly (readonly [string, Uint8Array, string, RegExp])[] = [
  ['an empty file', new Uint8Array(0), 'E-FILE-07', /expected a header length of 8 bytes, got 0 bytes at byte 0/],
  ['five bytes', new Uint8Array(5), 'E-FILE-07', /got 5 bytes/],
  ['a header length of 2^63', file('{}', 0, 1n << 63n), 'E-FILE-07', /at most 100000000 bytes, got 9223372036854775808/],
  ['a header longer than the file', file('{}', 0, 3n), 'E-FILE-07', /cut off/],
  ['a header of no bytes', file('', 4), 'E-FILE-07', /begins with/],
  ['a cut-off file', file(`{${W}}`, 7), 'E-FILE-07', /cut off/],
  ['bytes after the last tensor', file(`{${W}}`, 9), 'E-FILE-07', /1 bytes more/],
  ['a list for a header', file('[1,2]'), 'E-FILE-07', /begins with \{, got \[/],
  ['broken JSON', file('{"w":'), 'E-FILE-07', /syntax error/],
  ['not UTF-8', file(Uint8Array.of(0x7b, 0xff, 0x7d)), 'E-FILE-07', /UTF-8/],
  ['a tensor that is a number', file('{"w":3}'), 'E-FILE-07', /expected an object, got 3/],
  ['metadata that is not text', file('{"__metadata__":{"loss":3}}'), 'E-FILE-07', /expected a string/],
  ['an unknown dtype', file('{"w":{"dtype":"F7","shape":[8],"data_offsets":[0,8]}}', 8), 'E-FILE-07', /known dtype, got "F7"/],
  ['a dtype of Object.prototype', file('{"w":{"dtype":"toString","shape":[8],"data_offsets":[0,8]}}', 8), 'E-FILE-07', /known dtype/],
  ['a shape that does not fit', file('{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}', 8), 'E-FILE-07', /expected 12 bytes for F32 \[3\], got 8/],
  ['a shape that overflows', file('{"w":{"dtype":"F32","shape":[9007199254740991,9007199254740991],"data_offsets":[0,8]}}', 8), 'E-FILE-07', /expected 3\.2/],
  ['a negative shape', file('{"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}', 8), 'E-FILE-07', /whole numbers from 0, got -2/],
  ['an offset of a fraction', file('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0.5,1.5]}}', 2), 'E-FILE-07', /whole numbers/],
  ['three offsets', file('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}}', 2), 'E-FILE-07', /two numbers/],
  ['a range that runs backwards', file('{"w":{"dtype":"U8","shape":[0],"data_offsets":[2,1]}}', 2), 'E-FILE-07', /ends after it begins/],
  ['a range past 2^53', file('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1e300]}}', 2), 'E-FILE-07', /whole numbers/],
  ['overlapping ranges', file(`{${W},"v":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), 'E-FILE-07', /overlaps/],
  ['a hole', file(`{${W},"v":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}`, 16), 'E-FILE-07', /4 bytes of no tensor/],
  ['a duplicate name', file(`{${W},${W}}`, 8), 'E-FILE-07', /each name once, got "w" twice/],
  ['a duplicate name, escaped', file(`{${W},"\\u0077":{"dtype":"U8","shape":[0],"data_offsets":[8,8]}}`, 8), 'E-FILE-07', /twice/],
  ['a duplicate field', file('{"w":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}}', 1), 'E-FILE-07', /twice/],
  ['deep nesting', file(`{"w":${'['.repeat(100_000)}`), 'E-FILE-07', /nested levels/],
  ['text', new TextEncoder().encode('this is no model at all, it is text'), 'E-FILE-07', /header of at most/],
  ['a Git LFS pointer', new TextEncoder().encode('version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'), 'E-FILE-04', /Git LFS pointer/],
  ['a zipped pickle', Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 8, 8, 0, 0, 0, 0), 'E-FILE-01', /PyTorch pickle/],
  ['a bare pickle', Uint8Array.of(0x80, 2, 0x7d, 0x71, 0, 0x58, 1, 0, 0, 0), 'E-FILE-01', /w\.safetensors is a PyTorch pickle/],
  ['GGUF', new TextEncoder().encode('GGUF\x03\0\0\0\0\0\0\0'), 'E-FILE-08', /GGUF/],
  ['TFLite', new TextEncoder().encode('\x1c\0\0\0TFL3\0\0\0\0'), 'E-FILE-08', /TFLite/],
  ['a web page', new TextEncoder().encode('<!DOCTYPE html><html>'), 'E-FILE-08', /web page/],
  ['config.json', new TextEncoder().encode('{\n "architectures": ["GPT2LMHeadModel"]}'), 'E-FILE-08', /JSON text/],
];

test.each(REFUSED)('%s is refused by name', (_, bytes, code, message) => {
  const error = fails(bytes);
  expect(error.name).toBe(code);
  expect(error.message).toMatch(message);
  expect(error.hint.length).toBeGreaterThan(10);
});

test('a header length that looks like another format is still a header length', () => {
  // 0x0280 little end first is the opening of a pickle.
  const header = '{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'.padEnd(0x0280);
  expect(openSafetensors(file(header, 1)).tensors.has('w')).toBe(true);
});

test('2,000 mutations of a good file: always a named error or a readable file, never a slow one', () => {
  const good = writeSafetensors([
    { name: 'a', dtype: 'F32', shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
    { name: 'b', dtype: 'U8', shape: [3], data: Uint8Array.of(1, 2, 3) },
  ], { note: 'x' });
  const edit = fc.record({ at: fc.nat(good.length - 1), value: fc.nat(255), kind: fc.constantFrom('set', 'cut', 'insert', 'delete', 'copy') });
  const codes = new Set<string>();
  let readable = 0;
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      let bytes = [...good];
      for (const { at, value, kind } of edits) {
        if (kind === 'set') bytes[Math.min(at, bytes.length - 1)] = value;
        if (kind === 'cut') bytes = bytes.slice(0, Math.max(1, at));
        if (kind === 'insert') bytes.splice(at, 0, value);
        if (kind === 'delete') bytes.splice(Math.min(at, bytes.length - 2), 1);
        if (kind === 'copy') bytes.splice(at, 0, ...bytes.slice(at, at + (value % 64)));
      }
      const began = performance.now();
      try {
        const opened = openSafetensors(Uint8Array.from(bytes));
        for (const name of opened.tensors.keys()) expect(tensorBytes(opened, name).length).toBeLessThanOrEqual(bytes.length);
        readable += 1;
      } catch (error) {
        if (!(error instanceof BendscopeError)) throw error;
        expect(error.name).toMatch(/^E-FILE-0[1478]$/);
        codes.add(error.name);
      }
      expect(performance.now() - began).toBeLessThan(1000);
    }),
    { numRuns: 2000, seed: 20 },
  );
  expect(readable).toBeGreaterThan(20);
  expect(codes.has('E-FILE-07')).toBe(true);
});

test('written tensors and metadata come back, whatever they are', () => {
  const tensor = fc.record({
    name: fc.string({ unit: 'grapheme', maxLength: 12 }).filter((name) => name !== '__metadata__'),
    dtype: fc.constantFrom(...(Object.keys(DTYPE_BYTES) as Dtype[])),
    shape: fc.array(fc.nat(4), { maxLength: 3 }),
    fill: fc.nat(255),
  });
  fc.assert(
    fc.property(fc.uniqueArray(tensor, { selector: ({ name }) => name, maxLength: 6 }), fc.dictionary(fc.string(), fc.string(), { maxKeys: 3, noNullPrototype: true }), (tensors, metadata) => {
      const filled = tensors.map(({ fill, ...rest }) => ({ ...rest, data: new Uint8Array(rest.shape.reduce((a, b) => a * b, DTYPE_BYTES[rest.dtype])).fill(fill) }));
      const bytes = writeSafetensors(filled, metadata);
      expect(writeSafetensors(filled.toReversed(), metadata)).toEqual(bytes);
      const opened = openSafetensors(bytes);
      expect(Object.fromEntries(opened.metadata)).toEqual(metadata);
      for (const { name, shape, dtype, data } of filled) {
        expect(opened.tensors.get(name)).toMatchObject({ shape, dtype });
        expect(opened.tensors.get(name)!.begin % DTYPE_BYTES[dtype]).toBe(0);
        expect(tensorBytes(opened, name)).toEqual(data);
      }
    }),
    { numRuns: 300 },
  );
});
