/**
 * The three commands end to end on gpt2-nano: gradients against the PyTorch golden, probes against gradients taken
 * apart from them, stopped and killed probes against undisturbed ones, quantized files against the goldens.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { version } from '../../package.json';
import { cleanAngle, gradientMetrics, gradientSums, poolAngles, predictAngle } from '../base/angle';
import { hashTokens } from '../data/hash';
import { openSafetensors, tensorBytes, tensorFloats, type Safetensors } from '../data/safetensors';
import { writeSafetensors } from '../data/safetensors-writer';
import type { Measured } from '../graph/probe-record';
import { bitsView } from '../numerics/float-bits';
import { caseArray, caseInput, countDifferent, goldenCases } from '../numerics/golden-formats';
import { quantizeNvfp4 } from '../numerics/nvfp4';
import { call, expectDone, NANO, Scratch } from './cli-fixture';
import { Devices } from './devices';
import { builtIn, readJson, readTensors } from './golden';
import type { ProbeReport } from './probe-report';

const devices = new Devices();
const scratch = new Scratch();
afterAll(() => {
  devices.dispose();
  scratch.dispose();
});

const { graph, batches } = builtIn('nano');
const names = graph.params.map(({ name }) => name);
const opened = (path: string): Safetensors => openSafetensors(readFileSync(path), path);
const flat = (file: Safetensors, prefix = ''): Float32Array => Float32Array.from(names.flatMap((name) => [...tensorFloats(file, prefix + name)]));
const angle = (g: Float32Array, r: Float32Array): number => gradientMetrics(gradientSums(g, r)).angleDeg;
const write = (name: string, content: unknown): string => scratch.write(name, content);

/** Two batches of two rows of 16 positions. */
const SMALL = batches.slice(0, 2).map((rows) => rows.slice(0, 2).map((row) => row.slice(0, 17)));
const T = write('tokens.json', { batches: SMALL });
const fprops = Object.fromEntries(graph.nodes.filter((node) => node.op === 'linear' && node.layer !== null).map((node) => [`${node.id}:fprop`, 'nvfp4']));
const BF16 = write('bf16.json', { reference: 'bf16' });
const FPROPS = write('fprops.json', { reference: 'bf16', passes: fprops, options: { rht: false, sr: false, seed: 1 } });

describe('gradient', () => {
  const full = write('full.json', { tokens: batches[0] });
  const gradient = async (name: string, policy: string, tokens = full, model = NANO): Promise<Safetensors> => {
    const out = scratch.path(`${name}.safetensors`);
    const { stderr } = expectDone(await call(['gradient', '--model', model, '--tokens', tokens, '--policy', policy, '--out', out], devices));
    expect(stderr).toContain(out);
    return opened(out);
  };

  it.each([['bf16', BF16, 0.35], ['fp32', write('fp32.json', { reference: 'fp32' }), 0.001]] as const)('%s: the golden\'s gradient, names, shapes and loss', async (reference, policy, limitDeg) => {
    const found = await gradient(reference, policy);
    const golden = readTensors(`e2e/golden/nano/gradient-${reference}.safetensors`);
    expect([...found.tensors.keys()].sort()).toEqual([...golden.tensors.keys()].sort());
    for (const { name, shape } of graph.params) expect(found.tensors.get(name)).toMatchObject({ dtype: 'F32', shape });
    const turned = angle(flat(found), Float32Array.from(names.flatMap((name) => [...(golden.tensors.get(name) ?? [])])));
    expect(turned).toBeLessThanOrEqual(limitDeg);
    const loss = found.metadata.get('loss') ?? '';
    expect(Math.abs(Number(loss) - Number(golden.metadata.get('loss')))).toBeLessThan(1e-5);
    expect(loss).toBe(String(Number(loss)));
    expect(found.metadata.get('tokensSha256')).toBe(await hashTokens([batches[0] ?? []]));
    expect(found.metadata.get('version')).toBe(version);
    expect(found.metadata.get('device')).not.toBe('');
    console.log(`gradient ${reference}: ${turned.toExponential(2)} deg from the golden`);
  });

  it('low forward passes turn it as the PyTorch reference says', async () => {
    const turned = angle(flat(await gradient('fprops', FPROPS)), flat(opened(scratch.path('bf16.safetensors'))));
    const golden = readJson<{ joint: Record<string, { angle_deg: number }[][]> }>('e2e/golden/nano/angles.json').joint['nvfp4:fprop']?.[0]?.[0]?.angle_deg ?? NaN;
    console.log(`gradient, all forward passes NVFP4: ${turned.toFixed(4)} deg, golden ${golden}`);
    expect(Math.abs(turned / golden - 1)).toBeLessThan(0.02);
  });

  it('twice: identical bytes; an F32 checkpoint with `transformer.` names: the same numbers under those names', async () => {
    const tokens = write('one.json', { tokens: SMALL[0] });
    const source = opened(`${NANO}/model.safetensors`);
    mkdirSync(scratch.path('prefixed'));
    writeFileSync(scratch.path('prefixed/config.json'), readFileSync(`${NANO}/config.json`));
    writeFileSync(scratch.path('prefixed/model.safetensors'), writeSafetensors([...source.tensors.values()].map(({ name, shape }) => ({ name: `transformer.${name}`, dtype: 'F32', shape, data: tensorFloats(source, name) }))));
    const a = await gradient('a', BF16, tokens);
    const b = await gradient('b', BF16, tokens);
    expect(Buffer.compare(Buffer.from(a.bytes), Buffer.from(b.bytes))).toBe(0);
    const prefixed = await gradient('c', BF16, tokens, scratch.path('prefixed'));
    expect([...prefixed.tensors.keys()].sort()).toEqual(names.map((name) => `transformer.${name}`).sort());
    expect(flat(prefixed, 'transformer.')).toEqual(flat(a));
    expect(prefixed.metadata.get('loss')).toBe(a.metadata.get('loss'));
    expect(prefixed.metadata.get('modelSha256')).not.toBe(a.metadata.get('modelSha256'));
  });
});

describe('probe', () => {
  const SITES = ['h.0.mlp.c_fc:fprop', 'h.1.attn.c_proj:dgrad', 'h.1.mlp.c_proj:wgrad'];
  const argv = (out: string, ...more: string[]): string[] => ['probe', '--model', NANO, '--tokens', T, '--recipe', 'nvfp4', '--sites', SITES.join(), '--out', scratch.path(out), ...more];
  const text = (out: string): string => readFileSync(scratch.path(out), 'utf8');
  const report = (out: string): ProbeReport => JSON.parse(text(out)) as ProbeReport;
  const measured = (result: unknown): Measured => {
    expect(result).toMatchObject({ status: 'measured' });
    return result as Measured;
  };
  const JOINT = write('joint.json', { reference: 'bf16', passes: Object.fromEntries(SITES.map((site) => [site, 'nvfp4'])) });

  it('angles are those of whole gradients compared on the host; floor, prediction, hashes', async () => {
    const { stderr } = expectDone(await call(argv('r.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16), devices));
    expect(stderr).toMatch(/3\/3 /);
    const found = report('r.json');
    expect(found).toMatchObject({ schema: 'bendscope-probe/1', recipe: 'nvfp4', options: {}, provenance: { modelName: 'gpt2-nano', batches: 2, sequences: 2, tokens: 16, versions: { bendscope: version } } });
    expect(found.provenance.tokensSha256).toBe(await hashTokens(SMALL));
    expect(Object.keys(found.sites).sort()).toEqual([...SITES].sort());
    const gradientOf = async (passes: object, k: number): Promise<{ g: Float32Array; loss: number }> => {
      const out = scratch.path('g.safetensors');
      expectDone(await call(['gradient', '--model', NANO, '--tokens', write('k.json', { tokens: SMALL[k] }), '--policy', write('p.json', { reference: 'bf16', passes }), '--out', out], devices));
      return { g: flat(opened(out)), loss: Number(opened(out).metadata.get('loss')) };
    };
    const references = [await gradientOf({}, 0), await gradientOf({}, 1)];
    expect(found.referenceLoss).toEqual(references.map(({ loss }) => loss));
    for (const site of SITES) {
      const result = measured(found.sites[site]);
      const expected: (ReturnType<typeof gradientMetrics> & { lossChange: number })[] = [];
      for (const [k, reference] of references.entries()) {
        const low = await gradientOf({ [site]: 'nvfp4' }, k);
        expected.push({ ...gradientMetrics(gradientSums(low.g, reference.g)), lossChange: low.loss - reference.loss });
      }
      result.perBatch.forEach((batch, k) => {
        // Partial sums are FP32 on the device: 5 digits.
        expect(batch.angleDeg / (expected[k]?.angleDeg ?? NaN)).toBeCloseTo(1, 5);
        expect(batch.relativeShift / (expected[k]?.relativeShift ?? NaN)).toBeCloseTo(1, 5);
        expect(batch.lengthRatio).toBeCloseTo(expected[k]?.lengthRatio ?? NaN, 5);
        expect(batch.rotationShare).toBeCloseTo(expected[k]?.rotationShare ?? NaN, 4);
        expect(batch.lossChange).toBe(expected[k]?.lossChange);
        expect(batch.localError).toBeGreaterThan(0);
      });
      const pooled = poolAngles(result.perBatch.map((batch) => batch.angleDeg));
      expect([result.angleDeg, result.angleSeDeg]).toEqual([pooled.angleDeg, pooled.angleSeDeg]);
      const floor = site.endsWith('fprop') ? found.floor?.forwardDeg : site.endsWith('dgrad') ? found.floor?.backwardDeg : 0;
      expect(result.cleanAngleDeg).toBe(cleanAngle(result.angleDeg, floor ?? NaN));
      expect(Object.keys(result.blockAngleDeg)).toEqual(names);
      expect(Object.keys(result.layerAngleDeg).sort()).toEqual(['0', '1', 'outside']);
      expect(result).not.toHaveProperty('elapsedMs');
    }
    const [whole, forward, none] = Object.values(found.joint);
    expect(whole).toMatchObject({ lowSites: 3, passes: Object.fromEntries(SITES.map((site) => [site, 'nvfp4'])) });
    expect(whole?.predictedDeg).toBeCloseTo(predictAngle(SITES.map((site) => measured(found.sites[site]).cleanAngleDeg), found.floor?.forwardDeg ?? NaN), 9);
    expect(measured(whole?.result).angleDeg).toBeGreaterThan(measured(found.sites[SITES[0] ?? '']).angleDeg / 2);
    // Not every forward pass was measured alone; a policy without low passes turns nothing.
    expect(forward?.predictedDeg).toBeNull();
    expect(measured(none?.result).angleDeg).toBe(0);
  });

  it('twice: identical bytes, and no journal left; other options: another result', async () => {
    expectDone(await call(argv('again.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16), devices));
    expect(text('again.json')).toBe(text('r.json'));
    expect(scratch.names().filter((name) => /journal|part/.test(name))).toEqual([]);
    expectDone(await call(argv('1d.json', '--options', '{"weights1d":true}', '--joint', JOINT), devices));
    const oneD = report('1d.json');
    expect(oneD.options).toEqual({ weights1d: true });
    expect(measured(oneD.sites['h.0.mlp.c_fc:fprop']).angleDeg).not.toBe(measured(report('r.json').sites['h.0.mlp.c_fc:fprop']).angleDeg);
    expect(oneD.sites['h.1.mlp.c_proj:wgrad']).toEqual(report('r.json').sites['h.1.mlp.c_proj:wgrad']);
    // The joint policy has 16x16 weights: what was measured here does not predict it.
    expect(Object.values(oneD.joint)[0]?.predictedDeg).toBeNull();
  });

  const lineOf = (stderr: string): string[] => stderr.split('\n').filter((line) => /^\d+\/\d+ /.test(line)).map((line) => line.split(' ')[1] ?? '');

  it('interrupted: E-RUN-03, cells kept; the same command continues to the same bytes', async () => {
    const stopped = await call(argv('stopped.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16), devices, (line) => {
      // What Ctrl-C calls, without ending the test runner.
      if (line.startsWith('1/3 ')) process.listeners('SIGINT').at(-1)?.('SIGINT');
    });
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toMatch(/\nE-RUN-03: .*\n.*run again to continue/);
    expect(scratch.names()).toContain('stopped.json.journal');
    expect(scratch.names()).not.toContain('stopped.json');
    const done = lineOf(stopped.stderr);
    const { stderr } = expectDone(await call(argv('stopped.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16), devices));
    expect(stderr).toContain(`continuing: ${done.length} of 3 sites`);
    expect([...done, ...lineOf(stderr)].sort()).toEqual([...SITES].sort());
    expect(text('stopped.json')).toBe(text('r.json'));
    expect(scratch.names()).not.toContain('stopped.json.journal');
  });

  it('killed, its last line torn: the same command continues to the same bytes', async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('../../.ci/cli.mjs', import.meta.url)), ...argv('killed.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
      if (stderr.includes('\n1/3 ')) child.kill('SIGKILL');
    });
    const signal = await new Promise((resolve) => child.on('exit', (_code, by) => resolve(by)));
    expect([signal, stdout], stderr).toEqual(['SIGKILL', '']);
    expect(stderr).toMatch(/adapter: .+/);
    appendFileSync(scratch.path('killed.json.journal'), '{"key":"sha256:0","kind":"si');
    const resumed = expectDone(await call(argv('killed.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16), devices));
    expect(resumed.stderr).toMatch(/continuing: [123] of 3 sites/);
    expect(lineOf(resumed.stderr)).not.toContain(lineOf(stderr)[0]);
    expect(text('killed.json')).toBe(text('r.json'));
  });

  it('cells of another text in the journal are neither used nor lost', async () => {
    const key = `sha256:${'0'.repeat(64)}`;
    const foreign = `${JSON.stringify({ key, kind: 'site', id: SITES[0], value: { status: 'failed', errorName: 'E-RUN-02', reason: 'of another run' } })}\n`;
    writeFileSync(scratch.path('shared.json.journal'), foreign);
    expectDone(await call(argv('shared.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16), devices));
    expect(text('shared.json')).toBe(text('r.json'));
    expect(text('shared.json.journal')).toBe(foreign);
    writeFileSync(scratch.path('shared.json.journal'), `no record\n${foreign}`);
    const { code, stderr } = await call(argv('shared.json'), devices);
    expect(code).toBe(1);
    expect(stderr).toMatch(/E-FILE-07: .*shared\.json\.journal is damaged: line 1/);
  });
});

describe('quantize', () => {
  const quantize = async (input: string, ...more: string[]): Promise<{ file: Safetensors; stderr: string }> => {
    const out = scratch.path('quantized.safetensors');
    const { stderr } = expectDone(await call(['quantize', '--scheme', 'nvfp4', ...more, '--in', input, '--out', out], devices));
    return { file: opened(out), stderr };
  };

  it.each([['1x16', []], ['16x16', ['--tiles']]] as const)('%s: every golden tensor bit for bit', async (block, flags) => {
    const cases = goldenCases.filter((golden) => golden.options.tensorAmax === undefined && golden.block.join('x') === block);
    expect(cases.length).toBeGreaterThan(5);
    const input = write('goldens.safetensors', writeSafetensors(cases.map((golden) => ({ name: golden.name, dtype: 'F32', shape: golden.shape, data: caseInput(golden) }))));
    const { file } = await quantize(input, ...flags);
    expect(file.tensors.size).toBe(4 * cases.length);
    expect(file.metadata.get('block')).toBe(block);
    for (const golden of cases) {
      const { name } = golden;
      expect(file.tensors.get(`${name}.codes`)).toMatchObject({ dtype: 'U8', shape: golden.shape });
      expect(file.tensors.get(`${name}.scales`)?.dtype).toBe('U8');
      expect(countDifferent(tensorBytes(file, `${name}.codes`), caseArray(golden, 'codes'), false), `${name} codes`).toBe(0);
      expect(countDifferent(tensorBytes(file, `${name}.scales`), caseArray(golden, 'scale'), false), `${name} scales`).toBe(0);
      expect(countDifferent(bitsView(tensorFloats(file, `${name}.dequantized`)), caseArray(golden, 'dequantized'), true), `${name} dequantized`).toBe(0);
      expect([...bitsView(tensorFloats(file, `${name}.amax`))], `${name} amax`).toEqual([Number(golden.tensor.amaxBits)]);
    }
  });

  it('tensors of any number of axes; other types left out and named; warnings', async () => {
    const x = Float32Array.from({ length: 210 }, (_, i) => Math.cos(i * i) * 2 ** (i % 7));
    const input = write('axes.safetensors', writeSafetensors([
      { name: 'scalar', dtype: 'F32', shape: [], data: Float32Array.of(2.4) },
      { name: 'row', dtype: 'F32', shape: [210], data: x },
      { name: 'cube', dtype: 'F32', shape: [2, 5, 21], data: x },
      { name: 'empty', dtype: 'F32', shape: [0, 4], data: new Float32Array(0) },
      { name: 'flat', dtype: 'F32', shape: [4, 0], data: new Float32Array(0) },
      { name: 'half', dtype: 'F16', shape: [2], data: new Uint16Array(2) },
      { name: 'odd', dtype: 'F32', shape: [2], data: Float32Array.of(NaN, 1) },
      { name: 'tiny', dtype: 'F32', shape: [2], data: Float32Array.of(1e-36, 0) },
    ]));
    for (const block of [[1, 16], [16, 16]] as const) {
      const { file, stderr } = await quantize(input, ...(block[0] === 16 ? ['--tiles'] : []));
      expect(stderr).toContain('left out: half (F16)');
      expect(stderr).toMatch(/warning: odd holds 1 Inf or NaN/);
      expect(stderr).toMatch(/warning: tiny is tiny/);
      expect([...file.tensors.keys()].some((name) => name.startsWith('half'))).toBe(false);
      for (const [name, rows, cols] of [['scalar', 1, 1], ['row', 1, 210], ['cube', 10, 21]] as const) {
        const expected = quantizeNvfp4(name === 'scalar' ? Float32Array.of(2.4) : x, rows, cols, block);
        expect(tensorBytes(file, `${name}.codes`)).toEqual(expected.codes);
        expect(tensorBytes(file, `${name}.scales`)).toEqual(expected.scales);
        expect(tensorFloats(file, `${name}.dequantized`)).toEqual(expected.dequantized);
      }
      expect(file.tensors.get('cube.codes')?.shape).toEqual([2, 5, 21]);
      expect(file.tensors.get('cube.scales')?.shape).toEqual([Math.ceil(10 / block[0]), 2]);
      expect(file.tensors.get('row.scales')?.shape).toEqual([1, 14]);
      expect(file.tensors.get('empty.codes')?.shape).toEqual([0, 4]);
      expect(file.tensors.get('flat.dequantized')?.shape).toEqual([4, 0]);
    }
  });
});

it('--adapter: a word it does not know is wrong usage; hardware where there is none is E-GPU-12', async () => {
  const input = write('x.safetensors', writeSafetensors([{ name: 'x', dtype: 'F32', shape: [1], data: Float32Array.of(1) }]));
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
