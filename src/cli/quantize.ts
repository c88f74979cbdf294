/**
 * `quantize`: every F32 tensor of a file through the NVFP4 kernels on the device, to compare with other implementations:
 * NAME.codes, NAME.scales, NAME.amax, NAME.dequantized.
 */
import { BendscopeError } from '../base/errors';
import { APP_VERSION } from '../base/version';
import { sha256 } from '../data/hash';
import { openSafetensors, tensorFloats } from '../data/safetensors';
import { writeSafetensors, type TensorToWrite } from '../data/safetensors-writer';
import { quantizeTensor } from '../engine/quantize-tensor';
import { PASS_SCHEMES } from '../graph/policy';
import { isPassScheme } from '../graph/validate';
import { SCHEMES } from '../numerics/schemes';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
import { checkOutput, readInput, writeOutput } from './local-files';
import { say, sayError } from './say';

export const QUANTIZE: CommandSpec = {
  name: 'quantize',
  summary: 'the codes, scales and decoded values of tensors, bit for bit as the probe uses them',
  flags: [
    { name: 'scheme', value: 'nvfp4', required: true, help: 'E2M1 elements, an E4M3 scale a block, an FP32 scale a tensor' },
    { name: 'tiles', value: null, help: '16x16 blocks, as for weights, instead of 1x16' },
    { name: 'in', value: 'A.safetensors', required: true, help: 'its F32 tensors; those of other types are left out and named' },
    { name: 'out', value: 'B.safetensors', required: true, help: 'for every F32 tensor NAME the four tensors below' },
    ADAPTER_FLAG,
  ],
  details: [
    '  NAME.codes        U8, NAME\'s shape: one E2M1 code an element (0 to 7 are 0 0.5 1 1.5 2 3 4 6; 8 is the sign)',
    '  NAME.scales       U8 [block rows, block columns]: one E4M3 code a block',
    '  NAME.amax         F32 [1]: the largest |x|, which stands for the tensor scale',
    '  NAME.dequantized  F32, NAME\'s shape: q * fl(fl(scale * amax) / 2688), in TransformerEngine\'s order of operations',
    '',
    'Blocks lie along the last axis. A tensor of one axis is one row; one of more than two is taken as [product of the',
    'leading axes, last axis]. Blocks at a ragged edge hold fewer elements. NaN and Inf are quantized as they come and named.',
  ],
};

/** Below it S_enc is clamped and encode and decode disagree (formats.md 2.6); above the other, decoded values overflow. */
const TINY_AMAX = 7.9e-36;
const HUGE_AMAX = 7.6e35;

/** Throws E-PLAN-03 (scheme), what readInput, openSafetensors and checkOutput throw, E-FILE-08 without an F32 tensor. */
export async function quantize(flags: Flags, devices: Devices): Promise<void> {
  const [input, out, scheme] = [flags.text('in'), flags.text('out'), flags.text('scheme')];
  if (!isPassScheme(scheme)) throw new BendscopeError('E-PLAN-03', `--scheme: expected ${PASS_SCHEMES.join(', ')}, got "${scheme}"`, 'This build quantizes no other scheme.');
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
  const operand = flags.given('tiles') ? SCHEMES[scheme].operands.w : SCHEMES[scheme].operands.x;
  const written: TensorToWrite[] = [];
  for (const { name, shape } of chosen) {
    const x = tensorFloats(source, name);
    const cols = shape[shape.length - 1] ?? 1;
    const rows = cols === 0 ? 0 : x.length / cols;
    const q = await quantizeTensor(gpu, x, rows, cols, operand);
    if (q.nonFinite > 0) say(`warning: ${name} holds ${q.nonFinite} Inf or NaN elements, which no code can show`);
    if (q.amax > 0 && q.amax < TINY_AMAX) say(`warning: ${name} is tiny (amax ${q.amax}): its encode and decode scales disagree, as in TransformerEngine`);
    if (q.amax > HUGE_AMAX) say(`warning: ${name} is huge (amax ${q.amax}): decoded values may overflow`);
    written.push(
      { name: `${name}.codes`, dtype: 'U8', shape, data: q.codes },
      { name: `${name}.scales`, dtype: 'U8', shape: [q.grid.rows, q.grid.cols], data: q.scales },
      { name: `${name}.amax`, dtype: 'F32', shape: [1], data: Float32Array.of(q.amax) },
      { name: `${name}.dequantized`, dtype: 'F32', shape, data: q.dequantized },
    );
  }
  await writeOutput(out, writeSafetensors(written, { scheme, block: operand.block.join('x'), inputSha256: await sha256(bytes), device: gpu.adapterName, version: APP_VERSION }));
  say(`${chosen.length} tensors, ${((performance.now() - started) / 1000).toFixed(2)} s: ${out}`);
}
