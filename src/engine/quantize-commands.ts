/**
 * A tensor to the packed form of any row of SCHEMES, and back: the dispatches of the quantizer's kernels as data, over
 * buffers the caller names. One path for every scheme: amax and non-finite count of the tensor, its scale, amax and scale
 * of every block, codes. All of it is integer work on the device. Oracle: src/numerics/quantize.ts. Source: formats.md 1.6, 2.
 */
import { assert } from '../base/errors';
import { bitsOf, F32_MAX, fromBits } from '../numerics/float-bits';
import { FORMATS } from '../numerics/formats';
import { RHT_GROUP, rhtLength } from '../numerics/hadamard';
import { elementsPerWord, packedSize, SCALE_RULES, scaleBits, type OperandFormat, type ScaleRule } from '../numerics/schemes';
import type { RandomKey } from '../numerics/stochastic';
import { elementWord, maxBits, ruleCode } from './format-words';
import { stride, type Binding, type Clear, type Dispatch } from './program';

/** What is quantized: [rows, length] with the blocked (contracted) axis last, read from a tensor in natural order. */
export interface Source {
  readonly data: Binding;
  readonly sourceFormat: 'bf16' | 'f32';
  /** The stored tensor: its rows and columns; rows are padded with zeros to whole quads. */
  readonly sourceRows: number;
  readonly cols: number;
  /** Element (r, l) is stored at (l, r). */
  readonly transposed: boolean;
  readonly rows: number;
  readonly length: number;
}

/** Buffers of a quantized tensor; sizes by `placeBytes`. Without blocks `scales` and `multipliers` are not touched. */
export interface Places {
  /** The tensor record, 8 words: amax, non-finite count, encode scale, decode scale, fl(S_enc / 6). */
  readonly record: Binding;
  readonly codes: Binding;
  readonly scales: Binding;
  /** Scratch: FP32 factor of every block before the cast. */
  readonly multipliers: Binding;
}

/** Where the scales of a tensor are, whose codes nobody keeps. */
export type Scaled = Omit<Places, 'codes'>;

/** Address of random bytes; of a piece of a tensor also the tensor's columns and where in it the piece begins, at whole blocks. */
export interface RandomPlace extends RandomKey {
  readonly tensorCols?: number;
  readonly row?: number;
  readonly col?: number;
}
/** Elements one Philox call serves. */
const CALL_ELEMENTS = 16;

/** `operand`: what a GEMM multiplies, FP32 (formats.md 1.6); `f32`: the whole decode; `bf16`: the same rounded, packed x2. */
export type DecodeMode = 'operand' | 'f32' | 'bf16';
const MODE_CODE: Record<DecodeMode, number> = { operand: 0, f32: 1, bf16: 2 };

const RECORD_BYTES = 32;
/** Word of the record that holds the encode scale (shaders/lib/record.wgsl). */
const ENCODE_WORD = 2;
/** A block without end, for one factor a tensor. */
const ENDLESS = 0x80000000;
const NOTHING: Binding = { resource: 'nothing' };
/** Word 0: what the next GEMM is multiplied by; word 1: the run's count of non-finite operand elements. */
export const ALPHA: Binding = { resource: 'low:alpha' };
/** Largest number of invocations of the amax kernel; each visits every n-th word. */
const AMAX_INVOCATIONS = 4096;
/** Integer operations an element costs, roughly: what the scheduler budgets. */
const COST = { amax: 4, blockAmax: 10, blockScale: 400, quantize: 150, random: 100, dequantize: 60, hadamard: 300 } as const;

interface Layout {
  readonly rowWords: number;
  readonly perWord: number;
  /** Of scales, 0 without blocks: a word's, words of a row, words in total; blocks of a row. */
  readonly scalesPerWord: number;
  readonly scaleRowWords: number;
  readonly scaleWords: number;
  readonly blocks: number;
}

function layoutOf(format: OperandFormat, rows: number, length: number): Layout {
  const size = packedSize(format, rows, length);
  const bits = scaleBits(format);
  return {
    rowWords: size.codeRowWords, perWord: elementsPerWord(FORMATS[format.element]),
    scalesPerWord: bits === 0 ? 0 : 32 / bits, scaleRowWords: size.scaleRowWords, scaleWords: size.scaleWords,
    blocks: bits === 0 ? 0 : Math.ceil(length / format.block[1]),
  };
}

/** Bytes of each buffer of [rows, length] in this format. */
export function placeBytes(format: OperandFormat, rows: number, length: number): Readonly<Record<keyof Places, number>> {
  const { scaleWords, scalesPerWord } = layoutOf(format, rows, length);
  return { record: RECORD_BYTES, codes: 4 * packedSize(format, rows, length).codeWords, scales: 4 * scaleWords, multipliers: 4 * scaleWords * scalesPerWord };
}

/** amax and non-finite count of a stored tensor of `elements`, padding included, into a record that is clear. */
export function amaxDispatch(data: Binding, sourceFormat: Source['sourceFormat'], elements: number, record: Binding): Dispatch {
  const words = sourceFormat === 'bf16' ? elements / 2 : elements;
  const visitors = Math.min(AMAX_INVOCATIONS, words);
  return { kernel: 'amax', constants: { SRC_FMT: sourceFormat === 'bf16' ? 1 : 0 }, params: [words, visitors], bindings: [data, record], invocations: visitors, flops: COST.amax * elements };
}

/** The scales of a record whose amax is there. */
export function tensorScaleDispatch(format: OperandFormat, record: Binding): Dispatch {
  return { kernel: 'tensor_scale', constants: {}, params: [ruleCode(format), maxBits(format.element)], bindings: [record], invocations: 1, flops: 1 };
}

/** How kernels find the elements of a source: the first words of their Params. */
function sourceWords({ rows, length, cols, sourceFormat, transposed }: Source): number[] {
  return [rows, length, stride(cols), sourceFormat === 'bf16' ? 1 : 0, transposed ? 1 : 0];
}

/** FP32 factors of the blocks before the cast, none without blocks: rows and columns of a block, where they are, words a row of blocks. */
function factorsOf(format: OperandFormat, { blocks, scalesPerWord, scaleRowWords }: Layout, places: Scaled): { block: readonly [number, number]; data: Binding; first: number; stride: number } {
  if (blocks === 0) return { block: [ENDLESS, ENDLESS], data: places.record, first: ENCODE_WORD, stride: 0 };
  return { block: format.block, data: places.multipliers, first: 0, stride: scalesPerWord * scaleRowWords };
}

/** What the cast writes: FORM of shaders/kernels/quantize.wgsl, where, and invocations and words of a row. */
interface Cast {
  readonly form: 0 | 1 | 2;
  readonly out: Binding;
  readonly rowPieces: number;
  readonly rowWords: number;
}

/** Every element cast, after its block's factor is there. */
function castDispatch(source: Source, format: OperandFormat, places: Scaled, { form, out, rowPieces, rowWords }: Cast, random?: RandomPlace): Dispatch {
  const { rows, length } = source;
  const layout = layoutOf(format, rows, length);
  const { block, data, first, stride: factorStride } = factorsOf(format, layout, places);
  const { step = 0, draw = 0, seed = 0, stream = 0, tensorCols = length, row = 0, col = 0 }: Partial<RandomPlace> = random ?? {};
  const calls = Math.ceil(tensorCols / CALL_ELEMENTS);
  const cost = COST.quantize + (random ? COST.random : 0) + (form === 0 ? 0 : COST.dequantize);
  return {
    kernel: 'quantize', constants: { STOCHASTIC: random ? 1 : 0 },
    params: [
      ...sourceWords(source), elementWord(format.element), layout.perWord, rowPieces, form, rowWords, ...block, first, factorStride,
      calls, (row * calls + col / CALL_ELEMENTS) >>> 0, step, draw, seed, stream,
    ],
    bindings: [form === 2 ? NOTHING : source.data, data, out],
    invocations: rows * rowPieces, flops: cost * rows * length,
  };
}

/** Scale and factor of every block of a source whose record is complete. */
function blockCommands(source: Source, format: OperandFormat, places: Scaled): (Dispatch | Clear)[] {
  const { rows, length, sourceFormat } = source;
  const layout = layoutOf(format, rows, length);
  if (layout.blocks === 0) return [];
  const elements = rows * length;
  const { block, stride: factorStride } = factorsOf(format, layout, places);
  return [
    { clear: places.multipliers },
    {
      kernel: 'block_amax', constants: {}, params: [...sourceWords(source), ...block, layout.blocks, factorStride],
      bindings: [source.data, places.multipliers], invocations: rows * layout.blocks, flops: COST.blockAmax * elements,
    },
    {
      kernel: 'block_scales', constants: {},
      params: [
        ruleCode(format), maxBits(format.element), bitsOf(1 / fromBits(maxBits(format.element))), sourceFormat === 'bf16' ? maxBits('BF16') : bitsOf(F32_MAX),
        layout.scaleWords, layout.scaleRowWords, layout.blocks, layout.scalesPerWord,
      ],
      bindings: [places.record, places.scales, places.multipliers], invocations: layout.scaleWords, flops: COST.blockScale * layout.scaleWords * layout.scalesPerWord,
    },
  ];
}

/** Block scales and codes of a source whose record is complete. random: stochastic rounding instead of nearest even; E2M1 only. */
export function codeCommands(source: Source, format: OperandFormat, places: Places, random?: RandomPlace): (Dispatch | Clear)[] {
  assert(!random || format.element === 'E2M1', `quantize: expected E2M1 for stochastic rounding, got ${format.element}`);
  const { rowWords } = layoutOf(format, source.rows, source.length);
  return [...blockCommands(source, format, places), castDispatch(source, format, places, { form: 0, out: places.codes, rowPieces: rowWords, rowWords }, random)];
}

function recordCommands(source: Source, format: OperandFormat, record: Binding): (Dispatch | Clear)[] {
  return [{ clear: record }, amaxDispatch(source.data, source.sourceFormat, source.sourceRows * stride(source.cols), record), tensorScaleDispatch(format, record)];
}

/** A whole tensor -> record, codes and scales. random: stochastic rounding instead of nearest even; E2M1 only. */
export function quantizeCommands(source: Source, format: OperandFormat, places: Places, random?: RandomKey): (Dispatch | Clear)[] {
  return [...recordCommands(source, format, places.record), ...codeCommands(source, format, places, random)];
}

/**
 * A whole tensor -> the BF16 values its codes would decode to, packed x2, rows padded with zeros to whole quads: the bits of
 * `quantizeCommands` and `dequantizeCommands`, without codes. inPlace: `out` is the source's own buffer. Not for NVFP4,
 * whose decode factor is more than fl(1 / factor).
 */
export function qdqCommands(source: Source, format: OperandFormat, places: Scaled, out: Binding, inPlace = false): (Dispatch | Clear)[] {
  const { stored, perTensor }: ScaleRule = SCALE_RULES[format.scale];
  assert(stored === null || !perTensor, `quantize: expected a rule of one level of scales, got ${format.scale}`);
  assert(!inPlace || (source.sourceFormat === 'bf16' && !source.transposed), 'quantize: expected BF16 in natural order in place');
  const width = stride(source.length);
  const { perWord } = layoutOf(format, source.rows, source.length);
  return [
    ...recordCommands(source, format, places.record), ...blockCommands(source, format, places),
    castDispatch(source, format, places, { form: inPlace ? 2 : 1, out, rowPieces: Math.ceil(width / perWord), rowWords: width / 2 }),
  ];
}

/** Packed [rows, length] -> out [rows, length] in natural order, rows padded with zeros to whole quads. */
export function dequantizeCommands(format: OperandFormat, rows: number, length: number, places: Omit<Places, 'multipliers'>, out: Binding, mode: DecodeMode): Dispatch[] {
  const { rowWords, perWord, blocks, scalesPerWord, scaleRowWords } = layoutOf(format, rows, length);
  const quads = stride(length) / 4;
  const [blockRows, blockCols] = blocks > 0 ? format.block : [ENDLESS, ENDLESS];
  return [{
    kernel: 'dequantize', constants: {},
    params: [rows, length, quads, elementWord(format.element), (rowWords * perWord) / 4, ruleCode(format), blockRows, blockCols, scalesPerWord, scaleRowWords, MODE_CODE[mode]],
    bindings: [places.codes, blocks > 0 ? places.scales : NOTHING, places.record, out], invocations: rows * quads, flops: COST.dequantize * rows * length,
  }];
}

/** The random Hadamard transform of a BF16 tensor [tokens, cols] along its tokens -> out [cols, rhtLength(tokens)] BF16. */
export function hadamardDispatch(data: Binding, tokens: number, cols: number, out: Binding): Dispatch {
  const groups = rhtLength(tokens) / RHT_GROUP;
  return { kernel: 'hadamard', constants: {}, params: [tokens, cols, stride(cols), groups], bindings: [data, out], invocations: cols * groups, flops: COST.hadamard * tokens * cols };
}

/** The tensor scales' product of a GEMM's operands, and their non-finite counts added to the run's; both are of one rule. */
export function alphaDispatch(format: OperandFormat, recordA: Binding, recordB: Binding): Dispatch {
  return { kernel: 'gemm_alpha', constants: {}, params: [ruleCode(format)], bindings: [recordA, recordB, ALPHA], invocations: 1, flops: 1 };
}

/** Whether a GEMM on operands of this format is multiplied by alpha. */
export function hasAlpha(format: OperandFormat): boolean {
  return SCALE_RULES[format.scale].perTensor;
}

/** Adds a record's non-finite count to the run's, in `low:alpha`: for tensors that no low GEMM reads. */
export function countCommand(record: Binding): Dispatch {
  return { kernel: 'gemm_alpha', constants: {}, params: [SCALE_RULES.none.code], bindings: [record, NOTHING, ALPHA], invocations: 1, flops: 1 };
}
