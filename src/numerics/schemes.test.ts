/** Storage of operands: bits an element, packed sizes, packing vectors. */
import { describe, expect, it } from 'vitest';
import { FORMATS } from './formats';
import { packRows, unpackRows } from './packing';
import { BF16_OPERAND, bitsPerElement, elementsPerWord, operandFormat, packedSize, SCHEMES } from './schemes';

describe('schemes', () => {
  it('stores 16, 4.5 and 4.03125 bits an element (method.md 6)', () => {
    expect(bitsPerElement(BF16_OPERAND)).toBe(16);
    expect(bitsPerElement(SCHEMES.nvfp4.operands.x)).toBe(4.5);
    expect(bitsPerElement(SCHEMES.nvfp4.operands.dy)).toBe(4.5);
    expect(bitsPerElement(SCHEMES.nvfp4.operands.w)).toBe(4.03125);
    expect(bitsPerElement(operandFormat('nvfp4', 'w', true))).toBe(4.5);
    expect(operandFormat(null, 'w')).toBe(BF16_OPERAND);
  });
  it('all passes low average 4.34375 bits: fprop x w, dgrad dy w, wgrad x dy', () => {
    const bits = (role: 'x' | 'w' | 'dy'): number => bitsPerElement(operandFormat('nvfp4', role));
    const passes = [[bits('x'), bits('w')], [bits('dy'), bits('w')], [bits('x'), bits('dy')]];
    expect(passes.flat().reduce((a, b) => a + b) / 6).toBe(4.34375);
  });
  it('sizes: rows padded to 64 elements, a tile row of scales for 16 rows', () => {
    expect(packedSize(operandFormat('nvfp4', 'x'), 17, 33)).toEqual({ codeRowWords: 8, scaleRowWords: 1, scaleRows: 17, codeWords: 136, scaleWords: 17, bytes: 612 });
    expect(packedSize(operandFormat('nvfp4', 'w'), 17, 65)).toEqual({ codeRowWords: 16, scaleRowWords: 2, scaleRows: 2, codeWords: 272, scaleWords: 4, bytes: 1104 });
    expect(packedSize(BF16_OPERAND, 3, 5)).toEqual({ codeRowWords: 4, scaleRowWords: 0, scaleRows: 0, codeWords: 12, scaleWords: 0, bytes: 48 });
    // Without padding the bytes are the bits an element promises.
    const { bytes } = packedSize(operandFormat('nvfp4', 'w'), 768, 3072);
    expect((8 * bytes) / (768 * 3072)).toBe(4.03125);
  });
});

describe('packing', () => {
  it('vector 3: FP4 (1, -6) is byte 0xF2; lower index in lower bits', () => {
    expect(packRows([2, 0xf], 1, 2, 4, 1)[0]).toBe(0xf2);
    expect(packRows([0x3f80, 0xc0c0], 1, 2, 16, 1)[0]).toBe(0xc0c03f80);
    expect(packRows([1, 2, 3, 0xfe], 1, 4, 8, 1)[0]).toBe(0xfe030201);
    expect(Object.values(FORMATS).map(elementsPerWord)).toEqual([2, 4, 4, 8, 4]);
  });
  it('round trip with padding; padding codes are 0', () => {
    const codes = Uint8Array.from({ length: 3 * 11 }, (_, i) => (i * 7 + 5) % 16);
    const words = packRows(codes, 3, 11, 4, 8);
    expect(Uint8Array.from(unpackRows(words, 3, 11, 4, 8))).toEqual(codes);
    expect([...words].filter((_, i) => i % 8 > 1).every((w) => w === 0)).toBe(true);
    expect(() => packRows(codes, 3, 12, 4, 8)).toThrow(/expected 3x12/);
  });
});
