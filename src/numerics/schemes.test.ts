/** Storage of operands: bits an element of every row (formats.md 2.0), packed sizes, packing vectors. */
import { describe, expect, it } from 'vitest';
import { FORMATS } from './formats';
import { packRows, unpackRows } from './packing';
import { BF16_OPERAND, bitsPerElement, elementsPerWord, operandFormat, packedSize, SCHEMES, type OperandFormat, type OperandOptions, type OperandRole, type SchemeName } from './schemes';

describe('bits an element', () => {
  const bits = (scheme: SchemeName, options: OperandOptions = {}): number[] => (['x', 'w', 'dy'] as const).map((role) => bitsPerElement(operandFormat(scheme, role, options)));
  // x, w, dy: 8 times the bytes of the storage table. FP8 blocks store one byte a scale, the 1.0078125 of the table.
  const BLOCK = 8 * 1.0078125;
  const BLOCK_TILE = 8 + 8 / 128 ** 2;
  it.each<[SchemeName, OperandOptions, number[]]>([
    ['nvfp4', {}, [8 * 0.5625, 8 * 0.50390625, 8 * 0.5625]],
    ['nvfp4', { weights1d: true }, [4.5, 4.5, 4.5]],
    ['mxfp4', {}, [8 * 0.53125, 8 * 0.53125, 8 * 0.53125]],
    ['mxfp4', { floor: true }, [4.25, 4.25, 4.25]],
    ['mxfp8', {}, [8 * 1.03125, 8 * 1.03125, 8 * 1.03125]],
    ['mxfp8', { floor: true, e5m2Grad: true }, [8.25, 8.25, 8.25]],
    ['fp8-block', {}, [BLOCK, BLOCK_TILE, BLOCK]],
    ['fp8', {}, [8, 8, 8]],
    ['fp8', { pow2: true }, [8, 8, 8]],
    ['fp8-out', {}, [8, 8, 8]],
    ['fp8-out', { pow2: true }, [8, 8, 8]],
    ['fp8-out', { out: 'block' }, [BLOCK, BLOCK_TILE, BLOCK]],
    ['fp8-out', { out: 'mx' }, [8.25, 8.25, 8.25]],
  ])('%s %j', (scheme, options, expected) => {
    expect(bits(scheme, options)).toEqual(expected);
  });
  it('FP32 block scales: 1.03125 and 1.000244 bytes', () => {
    const f32 = (block: readonly [number, number]): number => bitsPerElement({ element: 'E4M3', scale: 'block-f32', block }) / 8;
    expect([f32([1, 128]), f32([128, 128])]).toEqual([1.03125, 1 + 4 / 128 ** 2]);
  });
  it('high precision is 16; NVFP4 with all passes low averages 4.34375 (method.md 6)', () => {
    expect(bitsPerElement(BF16_OPERAND)).toBe(16);
    expect(operandFormat(null, 'w')).toBe(BF16_OPERAND);
    const [x = 0, w = 0, dy = 0] = bits('nvfp4');
    expect((x + w + (dy + w) + (x + dy)) / 6).toBe(4.34375);
  });
  it('only dy may be E5M2, and only where the row says so (formats.md 2.0)', () => {
    const element = (scheme: SchemeName, role: OperandRole, options: OperandOptions = {}): string => operandFormat(scheme, role, options).element;
    for (const scheme of Object.keys(SCHEMES) as SchemeName[]) {
      for (const role of ['x', 'w'] as const) expect(element(scheme, role, { e5m2Grad: true })).not.toBe('E5M2');
    }
    const elements = [element('fp8', 'dy'), element('fp8-block', 'dy'), element('mxfp8', 'dy'), element('mxfp8', 'dy', { e5m2Grad: true }), element('fp8-out', 'dy', { out: 'mx' })];
    expect(elements).toEqual(['E5M2', 'E4M3', 'E4M3', 'E5M2', 'E5M2']);
  });
});

describe('packed sizes', () => {
  it('block schemes pad rows to 64 elements, tiles store a row of scales once; tensor scales pad to quads', () => {
    expect(packedSize(operandFormat('nvfp4', 'x'), 17, 33)).toEqual({ codeRowWords: 8, scaleRowWords: 1, scaleRows: 17, codeWords: 136, scaleWords: 17, bytes: 612 });
    expect(packedSize(operandFormat('nvfp4', 'w'), 17, 65)).toEqual({ codeRowWords: 16, scaleRowWords: 2, scaleRows: 2, codeWords: 272, scaleWords: 4, bytes: 1104 });
    expect(packedSize(operandFormat('mxfp8', 'x'), 3, 129)).toEqual({ codeRowWords: 48, scaleRowWords: 2, scaleRows: 3, codeWords: 144, scaleWords: 6, bytes: 600 });
    expect(packedSize(operandFormat('fp8-block', 'w'), 129, 129)).toEqual({ codeRowWords: 48, scaleRowWords: 1, scaleRows: 2, codeWords: 6192, scaleWords: 2, bytes: 24776 });
    expect(packedSize(operandFormat('fp8', 'x'), 3, 5)).toEqual({ codeRowWords: 2, scaleRowWords: 0, scaleRows: 0, codeWords: 6, scaleWords: 0, bytes: 24 });
    expect(packedSize(BF16_OPERAND, 3, 5)).toEqual({ codeRowWords: 4, scaleRowWords: 0, scaleRows: 0, codeWords: 12, scaleWords: 0, bytes: 48 });
  });
  it('without padding the bytes are the bits an element promises; widths that do not divide a word take the next that does', () => {
    const formats: OperandFormat[] = (Object.keys(SCHEMES) as SchemeName[]).flatMap((scheme) => (['x', 'w', 'dy'] as const).map((role) => operandFormat(scheme, role)));
    for (const format of formats) {
      const spare = 32 / elementsPerWord(FORMATS[format.element]) - FORMATS[format.element].bits;
      expect((8 * packedSize(format, 768, 3072).bytes) / (768 * 3072), JSON.stringify(format)).toBe(bitsPerElement(format) + spare);
    }
  });
});

describe('packing', () => {
  it('the lower index lies in the lower bits; 6-bit formats keep a byte each', () => {
    expect(packRows([0x3f80, 0xc0c0], 1, 2, 16, 1)[0]).toBe(0xc0c03f80);
    expect(packRows([1, 2, 3, 0xfe], 1, 4, 8, 1)[0]).toBe(0xfe030201);
    const perWord = Object.fromEntries(Object.values(FORMATS).map((format) => [format.name, elementsPerWord(format)]));
    expect(perWord).toEqual({ BF16: 2, E4M3: 4, E5M2: 4, E2M1: 8, E2M3: 4, E3M2: 4, E8M0: 4 });
  });
  it('round trip with padding; padding codes are 0', () => {
    const codes = Uint8Array.from({ length: 3 * 11 }, (_, i) => (i * 7 + 5) % 16);
    const words = packRows(codes, 3, 11, 4, 8);
    expect(Uint8Array.from(unpackRows(words, 3, 11, 4, 8))).toEqual(codes);
    expect([...words].filter((_, i) => i % 8 > 1).every((w) => w === 0)).toBe(true);
    expect(() => packRows(codes, 3, 12, 4, 8)).toThrow(/expected 3x12/);
  });
});
