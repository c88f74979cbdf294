/**
 * `probe` of other recipes than NVFP4, and its extra measures, end to end on gpt2-nano: op groups against gradients taken
 * apart from them, leave-one-out and what persists in the report and in the journal, policies that mix schemes.
 */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { gradientMetrics, gradientSums, predictAngle } from '../base/angle';
import { tensorFloats } from '../data/safetensors';
import type { Measured } from '../graph/probe-record';
import { call, expectDone, NANO, openedFile, Scratch, SharedDevices } from './cli-fixture';
import { builtIn } from './golden';
import type { ProbeReport } from './probe-report';

const devices = new SharedDevices();
const scratch = new Scratch();
afterAll(() => {
  devices.dispose();
  scratch.dispose();
});

const { graph, batches } = builtIn('nano');
const write = (name: string, content: unknown): string => scratch.write(name, content);
/** Batches of two rows of 12 positions. */
const small = (count: number): number[][][] => Array.from({ length: count }, (_, k) => (batches[k % 4] ?? []).slice(0, 2).map((row) => row.slice(k, k + 13)));
const T = write('tokens.json', { batches: small(2) });
const T8 = write('tokens8.json', { batches: small(8) });

const argv = (out: string, recipe: string, tokens: string, ...more: string[]): string[] => ['probe', '--model', NANO, '--recipe', recipe, '--tokens', tokens, '--out', scratch.path(out), ...more];
const text = (out: string): string => readFileSync(scratch.path(out), 'utf8');
const report = (out: string): ProbeReport => JSON.parse(text(out)) as ProbeReport;
const measured = (result: unknown): Measured => {
  expect(result).toMatchObject({ status: 'measured' });
  return result as Measured;
};
async function gradientOf(policy: object, k: number): Promise<Float32Array> {
  const out = scratch.path('g.safetensors');
  expectDone(await call(['gradient', '--model', NANO, '--tokens', write('k.json', { tokens: small(2)[k] }), '--policy', write('p.json', { reference: 'bf16', ...policy }), '--out', out], devices));
  return Float32Array.from(graph.params.flatMap(({ name }) => [...tensorFloats(openedFile(out), name)]));
}

describe('op groups', () => {
  const SITES = ['h.1.ln_1:out', 'h.0.mlp.act:out', 'lm_head:out'];
  const OUTS = write('outs.json', { reference: 'bf16', outs: SITES.map((id) => id.replace(':out', '')) });
  const BOTH = write('both.json', { reference: 'bf16', outs: ['h.1.ln_1'], passes: { 'h.0.mlp.c_fc:fprop': 'fp8' } });
  const out = 'groups.json';

  it('angles are those of whole gradients of packed runs; memory, prediction, policies', async () => {
    const { stderr } = expectDone(await call(argv(out, 'fp8-out', T, '--sites', SITES.join(), '--joint', OUTS, '--joint', BOTH), devices));
    expect(stderr).toMatch(/^memory +predicted +allocated$/m);
    const found = report(out);
    expect(Object.keys(found.sites).sort()).toEqual([...SITES].sort());
    expect(found).toMatchObject({ recipe: 'fp8-out', options: {} });
    expect(found.memory.predicted.totalBytes / found.memory.allocated.totalBytes).toBeCloseTo(1, 1);
    expect(found.memory.allocated.activationBytes.E4M3).toBeGreaterThan(0);
    for (const k of [0, 1]) {
      const reference = await gradientOf({}, k);
      for (const site of SITES) {
        const metrics = gradientMetrics(gradientSums(await gradientOf({ outs: [site.replace(':out', '')] }, k), reference));
        const batch = measured(found.sites[site]).perBatch[k];
        expect((batch?.angleDeg ?? NaN) / metrics.angleDeg).toBeCloseTo(1, 5);
        expect((batch?.relativeShift ?? NaN) / metrics.relativeShift).toBeCloseTo(1, 5);
        expect(batch?.localError).toBeGreaterThan(0);
      }
    }
    const [whole, mixed] = Object.values(found.joint);
    expect(whole).toMatchObject({ lowSites: 3, passes: {}, outs: ['h.0.mlp.act', 'h.1.ln_1', 'lm_head'] });
    expect(whole?.predictedDeg).toBeCloseTo(predictAngle(SITES.map((site) => measured(found.sites[site]).cleanAngleDeg), found.floor?.forwardDeg ?? NaN), 9);
    expect(measured(whole?.result).localError).toBeCloseTo(SITES.reduce((sum, site) => sum + (measured(found.sites[site]).localError ?? NaN), 0), 12);
    // The pass was not measured here, so nothing predicts the sum.
    expect(mixed).toMatchObject({ lowSites: 2, outs: ['h.1.ln_1'], passes: { 'h.0.mlp.c_fc:fprop': 'fp8' }, predictedDeg: null, result: { localError: null } });
  });

  it('patterns choose them; block and MX scaling are other results', async () => {
    expectDone(await call(argv('mx.json', 'fp8-out', T, '--sites', '*.1.ln_?:out', '--options', '{"out": "mx"}'), devices));
    const mx = report('mx.json');
    expect(Object.keys(mx.sites)).toEqual(['h.1.ln_1:out', 'h.1.ln_2:out']);
    expect(mx.options).toEqual({ out: 'mx' });
    expect(measured(mx.sites['h.1.ln_1:out']).angleDeg).not.toBe(measured(report(out).sites['h.1.ln_1:out']).angleDeg);
  });
});

describe('extra measures', () => {
  const SITES = ['h.0.mlp.c_fc:fprop', 'h.1.attn.c_proj:dgrad'];
  const extras = (out: string): string[] => argv(out, 'nvfp4-te', T, '--sites', SITES.join(), '--options', '{"seed": 3}', '--leave-one-out', '--persistent');

  it('what persists over batches and over draws', async () => {
    const [, backward = ''] = SITES;
    const { stderr } = expectDone(await call(argv('te.json', 'nvfp4-te', T8, '--sites', backward, '--persistent'), devices));
    expect(stderr).toMatch(/^1\/1 .* stays over batches, .* stays over draws$/m);
    const found = report('te.json');
    expect(found).toMatchObject({ recipe: 'nvfp4', options: { rht: true, sr: true } });
    expect(found).not.toHaveProperty('leaveOneOut');
    expect(measured(found.sites[backward]).persistent).toMatchObject({ overBatches: { draws: 8 }, overDraws: { draws: 8 } });
  });

  it('interrupted among the extra measures: the same command continues to the same bytes', async () => {
    expectDone(await call(extras('whole.json'), devices));
    const stopped = await call(extras('stopped.json'), devices, (line) => {
      if (line.startsWith('1/2 all low but')) process.listeners('SIGINT').at(-1)?.('SIGINT');
    });
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/\nE-RUN-03: /)]);
    const { stderr } = expectDone(await call(extras('stopped.json'), devices));
    expect(stderr).toContain('continuing: 2 of 2 sites');
    expect(stderr).not.toMatch(/^1\/2 /m);
    expect(text('stopped.json')).toBe(text('whole.json'));
    const whole = report('whole.json');
    expect(whole.options).toEqual({ rht: true, sr: true, seed: 3 });
    const overBatches = { reason: 'needs at least 8 batches; this run has 2' };
    expect(SITES.map((site) => measured(whole.sites[site]).persistent)).toMatchObject([{ overBatches, overDraws: { reason: expect.stringContaining('rounded at random') as string } }, { overBatches, overDraws: { draws: 8 } }]);
    expect(Object.keys(whole.leaveOneOut ?? {})).toEqual(Object.keys(whole.sites));
    for (const site of SITES) {
      const all = measured(whole.leaveOneOut?.[site]);
      expect(all.angleDeg).toBeGreaterThan(measured(whole.sites[site]).angleDeg);
      // Not every low site was measured alone.
      expect(all.localError).toBeNull();
      expect(all).not.toHaveProperty('persistent');
    }
  });

  it('a journal with more than is asked for: the report holds what was asked', async () => {
    const stopped = await call(extras('less.json'), devices, (line) => {
      if (line.startsWith('2/2 h.')) process.listeners('SIGINT').at(-1)?.('SIGINT');
    });
    expect(stopped.code).toBe(1);
    expectDone(await call(argv('less.json', 'nvfp4', T, '--sites', SITES.join(), '--options', '{"rht": true, "sr": true, "seed": 3, "floor": false}'), devices));
    const less = report('less.json');
    expect(less).not.toHaveProperty('leaveOneOut');
    for (const site of SITES) {
      const more = measured(report('whole.json').sites[site]);
      expect(more.persistent).toBeDefined();
      expect({ ...measured(less.sites[site]), persistent: more.persistent }).toEqual(more);
    }
  });
});
