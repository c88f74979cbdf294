/**
 * `probe` end to end on gpt2-nano: probes against gradients taken apart from them, stopped and killed probes against
 * undisturbed ones; recipes, extra measures and joint policies in the report.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { version } from '../../package.json';
import { cleanAngle, gradientMetrics, gradientSums, poolAngles, predictAngle } from '../base/angle';
import { hashTokens } from '../data/hash';
import { tensorFloats, type Safetensors } from '../data/safetensors';
import type { Measured } from '../graph/probe-record';
import { call, expectDone, NANO, openedFile, Scratch, SharedDevices } from './cli-fixture';
import { builtIn } from './golden';
import { openFolder } from './open-folder';
import { readProbeFile } from './probe-file';
import type { ProbeReport } from './probe-report';

const devices = new SharedDevices();
const scratch = new Scratch();
afterAll(() => {
  devices.dispose();
  scratch.dispose();
});

const { graph, batches } = builtIn('nano');
const names = graph.params.map(({ name }) => name);
const flat = (file: Safetensors): Float32Array => Float32Array.from(names.flatMap((name) => [...tensorFloats(file, name)]));
const write = (name: string, content: unknown): string => scratch.write(name, content);

/** Two batches of two rows of 16 positions. */
const SMALL = batches.slice(0, 2).map((rows) => rows.slice(0, 2).map((row) => row.slice(0, 17)));
const T = write('tokens.json', { batches: SMALL });
const fprops = Object.fromEntries(graph.nodes.filter((node) => node.op === 'linear' && node.layer !== null).map((node) => [`${node.id}:fprop`, 'nvfp4']));
const BF16 = write('bf16.json', { reference: 'bf16' });
const FPROPS = write('fprops.json', { reference: 'bf16', passes: fprops, options: { rht: false, sr: false, seed: 1 } });

const text = (out: string): string => readFileSync(scratch.path(out), 'utf8');
const report = (out: string): ProbeReport => JSON.parse(text(out)) as ProbeReport;
const measured = (result: unknown): Measured => {
  expect(result).toMatchObject({ status: 'measured' });
  return result as Measured;
};
/** Gradient and loss of a policy on batch k by the other command. */
async function gradientOf(policy: object, k: number): Promise<{ g: Float32Array; loss: number }> {
  const out = scratch.path('g.safetensors');
  expectDone(await call(['gradient', '--model', NANO, '--tokens', write('k.json', { tokens: SMALL[k] }), '--policy', write('p.json', { reference: 'bf16', ...policy }), '--out', out], devices));
  return { g: flat(openedFile(out)), loss: Number(openedFile(out).metadata.get('loss')) };
}

describe('probe', () => {
  const SITES = ['h.0.mlp.c_fc:fprop', 'h.1.attn.c_proj:dgrad', 'h.1.mlp.c_proj:wgrad'];
  const argv = (out: string, ...more: string[]): string[] => ['probe', '--model', NANO, '--tokens', T, '--recipe', 'nvfp4', '--sites', SITES.join(), '--out', scratch.path(out), ...more];
  const JOINT = write('joint.json', { reference: 'bf16', passes: Object.fromEntries(SITES.map((site) => [site, 'nvfp4'])) });

  it('angles are those of whole gradients compared on the host; floor, prediction, hashes', async () => {
    const { stderr } = expectDone(await call(argv('r.json', '--joint', JOINT, '--joint', FPROPS, '--joint', BF16), devices));
    expect(stderr).toMatch(/3\/3 /);
    const found = report('r.json');
    expect(found).toMatchObject({ schema: 'bendscope-probe/1', recipe: 'nvfp4', options: {}, provenance: { modelName: 'gpt2-nano', batches: 2, sequences: 2, tokens: 16, versions: { bendscope: version } } });
    expect(found.provenance.tokensSha256).toBe(await hashTokens(SMALL));
    expect(Object.keys(found.sites).sort()).toEqual([...SITES].sort());
    const references = [await gradientOf({}, 0), await gradientOf({}, 1)];
    expect(found.referenceLoss).toEqual(references.map(({ loss }) => loss));
    for (const site of SITES) {
      const result = measured(found.sites[site]);
      const expected: (ReturnType<typeof gradientMetrics> & { lossChange: number })[] = [];
      for (const [k, reference] of references.entries()) {
        const low = await gradientOf({ passes: { [site]: 'nvfp4' } }, k);
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
    const scores = found.scores ?? {};
    expect(Object.keys(scores)).toEqual(Object.keys(found.sites));
    expect(scores[SITES[0] ?? '']?.firstOrder).toBeGreaterThan(0);
    expect(SITES.slice(1).map((site) => scores[site]?.firstOrder)).toEqual([null, null]);
    // A low wgrad moves its own dw only: its weight divergence is the shift of the whole gradient.
    const shifts = measured(found.sites[SITES[2] ?? '']).perBatch.map((batch) => batch.relativeShift);
    expect((scores[SITES[2] ?? '']?.snip ?? NaN) / (((shifts[0] ?? NaN) + (shifts[1] ?? NaN)) / 2)).toBeCloseTo(1, 9);
    // What another command reads of the file.
    const read = await readProbeFile(scratch.path('r.json'), await openFolder(NANO));
    expect([read.scores, read.evidence.floor]).toEqual([scores, found.floor]);
    for (const site of SITES) expect(measured(read.evidence.sites[site]).perBatch).toEqual(measured(found.sites[site]).perBatch);
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
