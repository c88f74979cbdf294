/**
 * `quantize`: every F32 tensor of a file through the quantizer's kernels on the device, to compare with other
 * implementations: NAME.codes, NAME.scales, NAME.amax, NAME.dequantized.
 */
import { canonicalJson } from '../base/canonical-json';
import { BendscopeError } from '../base/errors';
import { APP_VERSION } from '../base/version';
import { sha256 } from '../data/hash';
import { openSafetensors, tensorFloats } from '../data/safetensors';
import { writeSafetensors, type TensorToWrite } from '../data/safetensors-writer';
import { quantizeTensor, type QuantizedTensor, type TensorOptions } from '../engine/quantize-tensor';
import { PASS_SCHEMES, type PassScheme } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import { isPassScheme } from '../graph/validate';
import { operandFormat, SCALE_RULES, type OperandFormat, type OperandRole } from '../numerics/schemes';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
import { checkOutput, readInput, writeOutput } from './local-files';
import { readRecipe } from './policy-file';
import { say, sayError } from './say';

const ROLES = ['x', 'w', 'dy'] as const satisfies readonly OperandRole[];

export const QUANTIZE: CommandSpec = {
  name: 'quantize',
  summary: 'the codes, scales and decoded values of tensors, bit for bit as the probe uses them',
  flags: [
    { name: 'scheme', value: 'NAME', required: true, help: `one of ${PASS_SCHEMES.join(', ')}` },
    { name: 'role', value: ROLES.join('|'), help: 'the operand of a GEMM the tensors are: activations (default), weights, arriving gradients' },
    { name: 'tiles', value: null, help: '--role w, for schemes that have tiles: 16x16 of nvfp4, 128x128 of fp8-block' },
    { name: 'options', value: 'JSON', help: 'switches of the form: {"weights1d"|"pow2"|"floor"|"e5m2Grad": true}, as probe --help has them' },
    { name: 'rht', value: null, help: 'nvfp4 only: first rounded to BF16 and mixed along the last axis, as both operands of wgrad' },
    { name: 'sr', value: 'SEED,STREAM,STEP,DRAW', help: 'nvfp4 only: dy rounded at random; Philox bytes of key (SEED, STREAM), counter (.., STEP, DRAW, 0)' },
    { name: 'in', value: 'A.safetensors', required: true, help: 'its F32 tensors; those of other types are left out and named' },
    { name: 'out', value: 'B.safetensors', required: true, help: 'for every F32 tensor NAME the tensors below' },
    ADAPTER_FLAG,
  ],
  details: [
    '  NAME.codes        U8, NAME\'s shape: one code an element, of E2M1 (nvfp4, mxfp4; 0 to 7 are 0 0.5 1 1.5 2 3 4 6, 8 is',
    '                    the sign), E4M3, or E5M2 (dy of fp8, and of mxfp8 with e5m2Grad)',
    '  NAME.scales       U8 [block rows, block columns]: one code a block, E4M3 of nvfp4, E8M0 of the others; fp8 has none',
    '  NAME.amax         F32 [1]: the largest |x|, from which the tensor scales of nvfp4 and fp8 follow',
    '  NAME.scale_inv    F32 [1]: fl(1 / scale), what decoded values are multiplied by; fp8 only',
    '  NAME.dequantized  F32, NAME\'s shape: decoded values, of nvfp4 in TransformerEngine\'s order of operations',
    '',
    'Blocks are 1x16 (nvfp4), 1x128 (fp8-block), 1x32 (mxfp8, mxfp4) along the last axis. A tensor of one axis is one row; one',
    'of more than two is taken as [product of the leading axes, last axis]. Blocks at a ragged edge hold fewer elements; with',
    '--rht the last axis is padded to a multiple of 16. NaN and Inf are quantized as they come and named.',
  ],
};

/** Below it S_enc is clamped and encode and decode disagree (formats.md 2.6); above the other, decoded values overflow. */
const TINY_AMAX = 7.9e-36;
const HUGE_AMAX = 7.6e35;

interface Form {
  readonly scheme: PassScheme;
  readonly role: OperandRole;
  readonly format: OperandFormat;
  readonly tensor: TensorOptions;
  /** What the output's metadata says of it. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The stored form that the flags ask for. Throws E-PLAN-03 (scheme), E-PLAN-06 (options), E-CLI-01 (flags that contradict). */
function readForm(flags: Flags): Form {
  const scheme = flags.text('scheme');
  if (!isPassScheme(scheme)) throw new BendscopeError('E-PLAN-03', `--scheme: expected ${PASS_SCHEMES.join(', ')}, got "${scheme}"`, 'The recipe of op groups, fp8-out, stores as fp8 does.');
  const { options } = readRecipe(scheme, flags.optional('options'));
  if (options.rht || options.sr) throw new BendscopeError('E-PLAN-06', '--options: expected switches of the stored form, got rht or sr', 'Use the flags --rht and --sr.');
  const [rht, tiles, random] = [flags.given('rht'), flags.given('tiles'), flags.integers('sr', 4)];
  const role = flags.given('role') ? flags.oneOf('role', ROLES) : random ? 'dy' : tiles ? 'w' : 'x';
  const format = operandFormat(scheme, role, options);
  if (tiles && role !== 'w') throw flags.wrong('tiles', 'weights (--role w)', `--role ${role}`);
  if (tiles && format.block[0] === 1) throw flags.wrong('tiles', 'a scheme with tiles', `${scheme} ${canonicalJson(options)}`);
  const { switches } = RECIPES[scheme];
  if (rht && (!switches.includes('rht') || role === 'w')) throw flags.wrong('rht', 'x or dy of nvfp4', `${role} of ${scheme}`);
  if (random && (!switches.includes('sr') || role !== 'dy')) throw flags.wrong('sr', 'dy of nvfp4', `${role} of ${scheme}`);
  const [seed = 0, stream = 0, step = 0, draw = 0] = random ?? [];
  return {
    scheme, role, format,
    tensor: { rht, ...(random ? { random: { seed, stream, step, draw } } : {}) },
    metadata: { scheme, role, block: format.block.join('x'), element: format.element, options: canonicalJson({ ...options, ...(rht ? { rht } : {}), ...(random ? { sr: { seed, stream, step, draw } } : {}) }) },
  };
}

/** Throws what readForm, readInput, openSafetensors and checkOutput throw, E-FILE-08 without an F32 tensor. */
export async function quantize(flags: Flags, devices: Devices): Promise<void> {
  const [input, out] = [flags.text('in'), flags.text('out')];
  const form = readForm(flags);
  const bytes = await readInput(input);
  await checkOutput(out, [input]);
  const source = openSafetensors(bytes, input);
  source.warnings.forEach(sayError);
  const chosen = [...source.tensors.values()].filter(({ dtype }) => dtype === 'F32');
  const others = [...source.tensors.values()].filter(({ dtype }) => dtype !== 'F32');
  if (chosen.length === 0) throw new BendscopeError('E-FILE-08', `${input}: expected at least one F32 tensor, got ${others.length} of other types.`, 'Save the tensors as F32.');
  for (const { name, dtype } of others) say(`left out: ${name} (${dtype})`);

  const gpu = await devices.get(flags);
  const started = performance.now();
  const written: TensorToWrite[] = [];
  for (const { name, shape } of chosen) {
    const x = tensorFloats(source, name);
    const cols = shape[shape.length - 1] ?? 1;
    const rows = cols === 0 ? 0 : x.length / cols;
    const q = await quantizeTensor(gpu, x, rows, cols, form.format, form.tensor);
    warn(name, q, form.scheme);
    written.push(...tensorsOf(name, form.tensor.rht ? [...shape.slice(0, -1), q.cols] : shape, q, form.format));
  }
  await writeOutput(out, writeSafetensors(written, { ...form.metadata, inputSha256: await sha256(bytes), device: gpu.adapterName, version: APP_VERSION }));
  say(`${chosen.length} tensors, ${((performance.now() - started) / 1000).toFixed(2)} s: ${out}`);
}

function warn(name: string, q: QuantizedTensor, scheme: PassScheme): void {
  if (q.nonFinite > 0) say(`warning: ${name} holds ${q.nonFinite} Inf or NaN elements, which no code can show`);
  if (scheme !== 'nvfp4') return;
  if (q.amax > 0 && q.amax < TINY_AMAX) say(`warning: ${name} is tiny (amax ${q.amax}): its encode and decode scales disagree, as in TransformerEngine`);
  if (q.amax > HUGE_AMAX) say(`warning: ${name} is huge (amax ${q.amax}): decoded values may overflow`);
}

function tensorsOf(name: string, shape: readonly number[], q: QuantizedTensor, { scale }: OperandFormat): TensorToWrite[] {
  const { stored, perTensor } = SCALE_RULES[scale];
  return [
    { name: `${name}.codes`, dtype: 'U8', shape, data: q.codes },
    ...(stored === null ? [] : [{ name: `${name}.scales`, dtype: 'U8' as const, shape: [q.grid.rows, q.grid.cols], data: Uint8Array.from(q.scales) }]),
    { name: `${name}.amax`, dtype: 'F32', shape: [1], data: Float32Array.of(q.amax) },
    ...(stored === null && perTensor ? [{ name: `${name}.scale_inv`, dtype: 'F32' as const, shape: [1], data: Float32Array.of(q.decode) }] : []),
    { name: `${name}.dequantized`, dtype: 'F32', shape, data: q.dequantized },
  ];
}
