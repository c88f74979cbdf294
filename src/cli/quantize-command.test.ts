/** `quantize` end to end: every golden tensor of every scheme bit for bit through files, hard tensors against the CPU oracle. */
import { afterAll, describe, expect, it } from 'vitest';
import { tensorBytes, tensorFloats, type Safetensors } from '../data/safetensors';
import { writeSafetensors } from '../data/safetensors-writer';
import { bitsView } from '../numerics/float-bits';
import { caseArray, caseInput, countDifferent, goldenCases, goldenScales, type GoldenCase } from '../numerics/golden-formats';
import { quantize } from '../numerics/quantize';
import { operandFormat, type OperandFormat } from '../numerics/schemes';
import { call, expectDone, openedFile, Scratch } from './cli-fixture';
import { Devices } from './devices';

const devices = new Devices();
const scratch = new Scratch();
afterAll(() => {
  devices.dispose();
  scratch.dispose();
});

async function run(input: string, ...flags: readonly string[]): Promise<{ file: Safetensors; stderr: string }> {
  const out = scratch.path('quantized.safetensors');
  const { stderr } = expectDone(await call(['quantize', ...flags, '--in', input, '--out', out], devices));
  return { file: openedFile(out), stderr };
}

/** Golden scheme -> the flags that ask for it. FP32 block scales are in the goldens and not offered. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  nvfp4_1d: ['--scheme', 'nvfp4'],
  nvfp4_2d: ['--scheme', 'nvfp4', '--tiles'],
  nvfp4_rht: ['--scheme', 'nvfp4', '--rht'],
  nvfp4_sr_philox: ['--scheme', 'nvfp4'],
  nvfp4_rht_sr_philox: ['--scheme', 'nvfp4', '--rht'],
  fp8_tensor_e4m3: ['--scheme', 'fp8', '--role', 'w'],
  fp8_tensor_e5m2: ['--scheme', 'fp8', '--role', 'dy'],
  fp8_tensor_e4m3_pow2: ['--scheme', 'fp8', '--options', '{"pow2": true}'],
  fp8_tensor_e5m2_pow2: ['--scheme', 'fp8', '--role', 'dy', '--options', '{"pow2": true}'],
  fp8_block_1x128_pow2: ['--scheme', 'fp8-block'],
  fp8_block_128x128_pow2: ['--scheme', 'fp8-block', '--role', 'w'],
  mxfp8_rceil: ['--scheme', 'mxfp8'],
  mxfp8_floor: ['--scheme', 'mxfp8', '--options', '{"floor": true}'],
  mxfp8_e5m2_rceil: ['--scheme', 'mxfp8', '--role', 'dy', '--options', '{"e5m2Grad": true}'],
  mxfp4_rceil: ['--scheme', 'mxfp4', '--role', 'w'],
  mxfp4_floor: ['--scheme', 'mxfp4', '--options', '{"floor": true}'],
};

describe('goldens', () => {
  it.each(Object.entries(FLAGS))('%s: %j', async (scheme, flags) => {
    // A tensor amax that is given, not measured, is no case of this command.
    const cases = goldenCases.filter((golden) => golden.scheme === scheme && golden.options.tensorAmax === undefined);
    expect(cases.length).toBeGreaterThan(3);
    const philox = cases[0]?.options.philox;
    const random = philox ? ['--sr', [philox.seed, philox.stream, philox.step, philox.draw].join()] : [];
    const input = scratch.write('goldens.safetensors', writeSafetensors(cases.map((golden) => ({ name: golden.name, dtype: 'F32', shape: inputShape(golden), data: caseInput(golden) }))));
    const { file } = await run(input, ...flags, ...random);
    const withScales = !scheme.startsWith('fp8_tensor');
    expect(file.tensors.size).toBe(4 * cases.length);
    for (const golden of cases) {
      const { name } = golden;
      const codes = caseArray(golden, 'codes');
      expect(file.tensors.get(`${name}.codes`)?.dtype).toBe('U8');
      expect(tensorBytes(file, `${name}.codes`).length).toBe(codes.length);
      expect(countDifferent(tensorBytes(file, `${name}.codes`), codes, false), `${name} codes`).toBe(0);
      if (withScales) expect(countDifferent(tensorBytes(file, `${name}.scales`), goldenScales(golden), false), `${name} scales`).toBe(0);
      else expect([...bitsView(tensorFloats(file, `${name}.scale_inv`))], `${name} scale_inv`).toEqual([...caseArray(golden, 'scale')]);
      expect(countDifferent(bitsView(tensorFloats(file, `${name}.dequantized`)), caseArray(golden, 'dequantized'), true), `${name} dequantized`).toBe(0);
      if (golden.tensor.amaxBits) expect([...bitsView(tensorFloats(file, `${name}.amax`))], `${name} amax`).toEqual([Number(golden.tensor.amaxBits)]);
    }
  });
});

/** Of a transformed case the golden names the padded width; the input has its own. */
function inputShape(golden: GoldenCase): readonly number[] {
  const rows = golden.shape[0];
  return [rows, caseInput(golden).length / rows];
}

describe('tensors of any number of axes; other types left out and named; warnings', () => {
  const x = Float32Array.from({ length: 210 }, (_, i) => Math.cos(i * i) * 2 ** (i % 7));
  const input = scratch.write('axes.safetensors', writeSafetensors([
    { name: 'scalar', dtype: 'F32', shape: [], data: Float32Array.of(2.4) },
    { name: 'row', dtype: 'F32', shape: [210], data: x },
    { name: 'cube', dtype: 'F32', shape: [2, 5, 21], data: x },
    { name: 'empty', dtype: 'F32', shape: [0, 4], data: new Float32Array(0) },
    { name: 'flat', dtype: 'F32', shape: [4, 0], data: new Float32Array(0) },
    { name: 'half', dtype: 'F16', shape: [2], data: new Uint16Array(2) },
    { name: 'odd', dtype: 'F32', shape: [2], data: Float32Array.of(NaN, 1) },
    { name: 'tiny', dtype: 'F32', shape: [2], data: Float32Array.of(1e-36, 0) },
  ]));

  it.each<[readonly string[], OperandFormat]>([
    [['--scheme', 'nvfp4'], operandFormat('nvfp4', 'x')],
    [['--scheme', 'nvfp4', '--tiles'], operandFormat('nvfp4', 'w')],
    [['--scheme', 'nvfp4', '--role', 'w', '--options', '{"weights1d": true}'], operandFormat('nvfp4', 'w', { weights1d: true })],
    [['--scheme', 'fp8'], operandFormat('fp8', 'x')],
    [['--scheme', 'fp8-block', '--tiles'], operandFormat('fp8-block', 'w')],
    [['--scheme', 'mxfp4'], operandFormat('mxfp4', 'x')],
  ])('%j', async (flags, format) => {
    const { file, stderr } = await run(input, ...flags);
    expect(stderr).toContain('left out: half (F16)');
    expect(stderr).toMatch(/warning: odd holds 1 Inf or NaN/);
    expect(stderr.includes('warning: tiny is tiny')).toBe(flags.includes('nvfp4'));
    expect([...file.tensors.keys()].some((name) => name.startsWith('half'))).toBe(false);
    expect(file.metadata.get('block')).toBe(format.block.join('x'));
    const blocks = format.scale !== 'tensor';
    for (const [name, rows, cols] of [['scalar', 1, 1], ['row', 1, 210], ['cube', 10, 21]] as const) {
      const expected = quantize(name === 'scalar' ? Float32Array.of(2.4) : x, rows, cols, format, { inputDtype: 'fp32' });
      expect(tensorBytes(file, `${name}.codes`)).toEqual(expected.codes);
      if (blocks) expect([...tensorBytes(file, `${name}.scales`)]).toEqual([...expected.scales]);
      else expect(file.tensors.has(`${name}.scales`)).toBe(false);
      expect(tensorFloats(file, `${name}.dequantized`)).toEqual(expected.dequantized);
    }
    const [high, wide] = format.block;
    expect(file.tensors.get('cube.codes')?.shape).toEqual([2, 5, 21]);
    if (blocks) expect(file.tensors.get('cube.scales')?.shape).toEqual([Math.ceil(10 / high), Math.ceil(21 / wide)]);
    expect(file.tensors.get('empty.codes')?.shape).toEqual([0, 4]);
    expect(file.tensors.get('flat.dequantized')?.shape).toEqual([4, 0]);
  });

  it('--rht pads the last axis and keeps the others', async () => {
    const { file } = await run(input, '--scheme', 'nvfp4', '--rht');
    expect(['scalar', 'row', 'cube', 'empty'].map((name) => file.tensors.get(`${name}.codes`)?.shape)).toEqual([[16], [224], [2, 5, 32], [0, 16]]);
    expect(file.metadata.get('options')).toBe('{"rht":true}');
  });
});

it('--adapter: a word it does not know is wrong usage; hardware where there is none is E-GPU-12', async () => {
  const input = scratch.write('x.safetensors', writeSafetensors([{ name: 'x', dtype: 'F32', shape: [1], data: Float32Array.of(1) }]));
  const argv = (adapter: string): string[] => ['quantize', '--scheme', 'nvfp4', '--in', input, '--out', scratch.path('y'), '--adapter', adapter];
  const unknown = await call(argv('fast'), devices);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/^E-CLI-01: --adapter: expected auto, native, swiftshader, got "fast"/)]);
  const fresh = new Devices();
  try {
    const native = await call(argv('native'), fresh);
    const hardware = native.stderr.includes('adapter: ') && !native.stderr.includes('(software)');
    if (hardware) expectDone(native);
    else expect([native.code, native.stderr]).toEqual([1, expect.stringMatching(/^E-GPU-12: --adapter native: expected a hardware adapter/m)]);
    expect(scratch.names().includes('y')).toBe(hardware);
  } finally {
    fresh.dispose();
  }
});
