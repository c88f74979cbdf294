/**
 * What goes wrong first, under every form an operand can have: zero tensors and blocks, one huge outlier, subnormal blocks,
 * K = 16n + 1, 32n + 1, 128n + 1 with a huge last value. All stay finite, keep signs and do not leak between blocks.
 */
import { describe, expect, it } from 'vitest';
import { blockAmax } from './blocks';
import { bitsOf, bitsView, countNonFinite } from './float-bits';
import { FORMATS } from './formats';
import { HUGE, OPERANDS, SMALLEST, hardTensors, operandName } from './operands-fixture';
import { gemmAlpha, gemmOperand, outValues, packQuantized, quantize, unpackQuantized } from './quantize';
import { SCALE_RULES, type OperandFormat } from './schemes';

const TENSORS = hardTensors();
const hasBlocks = ({ scale }: OperandFormat): boolean => SCALE_RULES[scale].stored !== null;

describe.each(OPERANDS.map((format) => [operandName(format), format] as const))('%s', (_name, format) => {
  const signBit = FORMATS[format.element].bits - 1;

  it.each(TENSORS.map((tensor) => [tensor.name, tensor] as const))('%s: finite, signs kept, bounded by the block', (_tensorName, { rows, cols, x }) => {
    expect(bitsView(x).every((bits) => (bits & 0xffff) === 0)).toBe(true);
    const q = quantize(x, rows, cols, format);
    const operand = gemmOperand(q);
    expect([q.nonFinite, countNonFinite(q.dequantized), countNonFinite(operand), countNonFinite(outValues(q)), countNonFinite(q.multipliers)]).toEqual([0, 0, 0, 0, 0]);
    // With an ordinary partner; two huge ones overflow in fl(amaxA * amaxB), as their product would.
    expect(Number.isFinite(gemmAlpha(q, quantize(Float32Array.of(3), 1, 1, format)))).toBe(true);
    expect(unpackQuantized(packQuantized(q), rows, cols, format)).toEqual({ codes: q.codes, scales: q.scales });
    const block = hasBlocks(format) ? format.block : ([rows, cols] as const);
    const amax = blockAmax(x, rows, cols, block);
    const wide = Math.ceil(cols / block[1]);
    const wrong = { sign: 0, zero: 0, larger: 0 };
    let top = 0;
    for (let i = 0; i < x.length; i++) {
      const decoded = q.dequantized[i] ?? 0;
      if ((q.codes[i] ?? 0) >> signBit !== (bitsView(x)[i] ?? 0) >>> 31) wrong.sign += 1;
      if (x[i] === 0 && !Object.is(decoded, x[i])) wrong.zero += 1;
      const bound = amax[Math.floor(Math.floor(i / cols) / block[0]) * wide + Math.floor((i % cols) / block[1])] ?? 0;
      // The last octave of E4M3 scales rounds up by at most 2; nothing grows more.
      if (Math.abs(decoded) > 2 * bound) wrong.larger += 1;
      if (Math.abs(x[i] ?? 0) > Math.abs(x[top] ?? 0)) top = i;
    }
    expect(wrong).toEqual({ sign: 0, zero: 0, larger: 0 });
    // The tensor's largest element survives wherever the scale is not clamped; clipping by the floor rule is the worst.
    if (Math.abs(x[top] ?? 0) > 1) expect(Math.abs((q.dequantized[top] ?? 0) / (x[top] ?? 0) - 1)).toBeLessThanOrEqual(0.25);
  });

  it('all zero: no scale but the neutral one', () => {
    const zero = quantize(new Float32Array(33), 1, 33, format);
    expect(zero.tensor).toEqual({ amax: 0, encode: 1, decode: 1 });
    // FP8 blocks take scale 1 (formats.md 2.1 step 2): E8M0 code 127, or FP32 bits. NVFP4 and MX take code 0.
    const neutral = format.scale === 'block-pow2' ? 127 : format.scale === 'block-f32' ? bitsOf(1) : 0;
    expect([...zero.scales]).toEqual(hasBlocks(format) ? Array(Math.ceil(33 / format.block[1])).fill(neutral) : []);
  });

  it('a huge last value leaves other blocks alone, unless they share a tensor scale, under which they vanish', () => {
    const [rows, cols] = [3, 257];
    const tensor = TENSORS.find(({ name }) => name === 'a huge last value, 3x257');
    if (!tensor) throw new Error('no such tensor');
    const q = quantize(tensor.x, rows, cols, format);
    const others = Float32Array.from({ length: rows * (cols - 1) }, (_, i) => tensor.x[Math.floor(i / (cols - 1)) * cols + (i % (cols - 1))] ?? 0);
    const without = quantize(others, rows, cols - 1, format);
    const left = others.map((_, i) => q.dequantized[Math.floor(i / (cols - 1)) * cols + (i % (cols - 1))] ?? NaN);
    if (SCALE_RULES[format.scale].perTensor) expect(left.every((v) => v === 0)).toBe(true);
    else expect(bitsView(left)).toEqual(bitsView(without.dequantized));
    expect(Math.abs((q.dequantized[cols - 1] ?? 0) / HUGE - 1)).toBeLessThanOrEqual(0.25);
  });

  it('the smallest BF16 number is 0 or within its own size', () => {
    const decoded = quantize(Float32Array.of(SMALLEST), 1, 1, format).dequantized[0] ?? NaN;
    expect(decoded === 0 || Math.abs(decoded / SMALLEST - 1) <= 0.25).toBe(true);
  });
});
