/**
 * Every scheme's quantizer on the device, bit for bit: all golden cases of e2e/golden/formats (FP32 and BF16 sources, natural
 * and transposed): record, block scales, factors, codes, and every decode against golden and oracle.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { bitsOf, bitsView } from '../numerics/float-bits';
import { FORMATS } from '../numerics/formats';
import { caseArray, countDifferent, goldenCases, goldenScales, goldenTask } from '../numerics/golden-formats';
import { packRows } from '../numerics/packing';
import { gemmOperand, outValues, quantize } from '../numerics/quantize';
import { elementsPerWord, packedSize, SCALE_RULES, scaleBits } from '../numerics/schemes';
import { stride } from './program';
import { oracleWords, quantizeOnDevice, rowWords } from './quantize-readback';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

const isBf16 = (x: Float32Array): boolean => bitsView(x).every((bits) => (bits & 0xffff) === 0);
/** A float multiply may flush subnormal results (engine.md 3.3), and a GEMM that loads them flushes them all the same. */
const flushed = (words: Uint32Array): Uint32Array => words.map((w) => ((w & 0x7f800000) === 0 ? w & 0x80000000 : w) >>> 0);
/** Random bytes that a file gives are nothing the device can draw. */
const cases = goldenCases.flatMap((golden) => {
  const task = goldenTask(golden);
  return task && golden.scheme !== 'nvfp4_sr_given' ? [[golden.name, golden, task] as const] : [];
});

describe('goldens, bit for bit', () => {
  it.each(cases)('%s', async (_name, golden, task) => {
    const { x, rows, cols, format, options } = task;
    const size = packedSize(format, rows, cols);
    const perWord = elementsPerWord(FORMATS[format.element]);
    const blocks = Math.ceil(cols / format.block[1]);
    const bits = scaleBits(format);
    const codes = packRows(caseArray(golden, 'codes'), rows, cols, 32 / perWord, size.codeRowWords);
    const scales = bits === 0 ? new Uint32Array() : packRows(goldenScales(golden), size.scaleRows, blocks, bits, size.scaleRowWords);
    const decoded = packRows(caseArray(golden, 'dequantized'), rows, cols, 32, stride(cols));
    const cpu = quantize(x, rows, cols, format, options);
    const expected = oracleWords(cpu);
    const factors = caseArray(golden, 'multiplier');
    // The type of the source takes part in the rule where a block's quotient overflows.
    const sources = [true, false].filter((bf16) => (bf16 ? isBf16(x) && options.inputDtype !== 'fp32' : golden.scheme.endsWith('fp32scale') ? options.inputDtype === 'fp32' : true));
    const random = golden.options.philox;
    for (const bf16 of sources) {
      for (const transposed of [false, true]) {
        const what = `${bf16 ? 'BF16' : 'FP32'} source${transposed ? ', transposed' : ''}`;
        const given = options.amax === undefined ? {} : { amaxBits: bitsOf(options.amax) };
        const got = await quantizeOnDevice(gpu, x, { rows, cols, bf16, transposed }, format, { ...given, ...(random ? { random } : {}) });
        const { amaxBits, encodeBits, decodeBits } = golden.tensor;
        expect(got.record[0], what).toBe(Number(amaxBits));
        if (encodeBits !== undefined) expect([got.record[2], got.record[3]], what).toEqual([encodeBits, decodeBits].map(Number));
        expect([...got.record], what).toEqual(options.amax === undefined ? expected.record : expected.record.with(1, 0));
        if (SCALE_RULES[format.scale].stored === null) expect([got.record[2], got.record[3]], what).toEqual([factors[0], caseArray(golden, 'scale')[0]]);
        else expect(countDifferent(got.factors, factors, true), `${what}: factors`).toBe(0);
        expect(countDifferent(got.scales, scales, false), `${what}: scales`).toBe(0);
        expect(countDifferent(got.codes, codes, false), `${what}: codes`).toBe(0);
        expect(countDifferent(got.decoded.f32, decoded, true), `${what}: decoded`).toBe(0);
        expect(countDifferent(got.decoded.bf16, rowWords(outValues(cpu), rows, cols, true), false), `${what}: decoded to BF16`).toBe(0);
        if (bits < 32) expect(countDifferent(flushed(got.decoded.operand), flushed(rowWords(gemmOperand(cpu), rows, cols)), true), `${what}: GEMM operand`).toBe(0);
      }
    }
  });
});
