/**
 * NaN and Inf are counted with integers (engine.md 3.3 rule 6) and end a run with E-RUN-02, never with an angle: in a
 * weight, in an operand whose codes hide them, in a pass that overflows on its own; and so does a gradient of zeros.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { PASS_SCHEMES, type Policy, type SiteId } from '../graph/policy';
import type { SiteResult } from '../graph/probe-record';
import { rhtLength } from '../numerics/hadamard';
import { operandFormat } from '../numerics/schemes';
import { assertFinite } from '../probe/metrics';
import { Probe } from '../probe/probe';
import { elementFormat } from './format-words';
import { graph, params, SHAPE, tokensOf } from './run-fixture';
import { Session } from './session';
import type { RunResult } from './run';

const TOKENS = tokensOf(0);
const NO_FLOOR = { forwardDeg: 0, backwardDeg: 0, perRun: [] };
const low = (...sites: SiteId[]): Policy => ({ reference: 'bf16', passes: Object.fromEntries(sites.map((id) => [id, 'nvfp4' as const])), options: {} });

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterEach(() => {
  gpu.faultyKernel = null;
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

/** The nano model with some values replaced: name -> [flat index, value]. */
function planted(...changes: [string, number, number][]): Map<string, Float32Array> {
  const out = new Map(params);
  for (const [name, index, value] of changes) {
    const copy = Float32Array.from(out.get(name) ?? []);
    expect(index).toBeLessThan(copy.length);
    copy[index] = value;
    out.set(name, copy);
  }
  return out;
}

async function withSession<T>(given: ReadonlyMap<string, Float32Array>, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await Session.create(gpu, graph, given, SHAPE);
  try {
    session.setBatch(TOKENS);
    return await work(session);
  } finally {
    session.dispose();
  }
}

const counted = (run: RunResult): number => [...run.sums.values()].reduce((sum, s) => sum + s.nonFinite, 0);

async function measure(session: Session, sites: readonly SiteId[]): Promise<Map<SiteId, SiteResult>> {
  const probe = new Probe(session, [TOKENS], { batches: 1 });
  await probe.measureFloor({}, NO_FLOOR);
  const found = new Map<SiteId, SiteResult>();
  await probe.measureSites(sites, 'nvfp4', {}, { persistent: false }, {
    onSite: (site, result) => {
      found.set(site, result);
    },
  });
  return found;
}

describe('in a weight', () => {
  it.each([['NaN', NaN], ['Inf', Infinity], ['-Inf', -Infinity], ['FP32 that BF16 rounds to Inf', 3.4e38]])('%s: the run counts it, the probe refuses to begin', async (_what, value) => {
    await withSession(planted(['h.1.mlp.c_fc.weight', 100, value]), async (session) => {
      const run = await session.runReference();
      expect(counted(run)).toBeGreaterThan(0);
      expect(() => assertFinite(run, 'reference')).toThrow(/Inf or NaN elements in the gradient/);
    });
    await withSession(planted(['h.1.mlp.c_fc.weight', 100, value]), async (session) => {
      await expect(new Probe(session, [TOKENS], { batches: 1 }).referenceLosses()).rejects.toMatchObject({ name: 'E-RUN-02' });
    });
  });
});

describe('in an operand whose codes hide it', () => {
  it.each(PASS_SCHEMES)('%s, NaN in a weight that only low passes read: counted by both', async (scheme) => {
    await withSession(planted(['h.1.mlp.c_fc.weight', 100, NaN]), async (session) => {
      // wgrad does not read the weight; fprop and dgrad each count its one element.
      const run = await session.runReference({ reference: 'bf16', passes: { 'h.1.mlp.c_fc:fprop': scheme, 'h.1.mlp.c_fc:dgrad': scheme }, options: {} });
      // E4M3 has a code for NaN, which the GEMM carries on into all of dy; FP4 has none, and nothing but the count tells.
      const { nanCode, maxCode } = elementFormat(operandFormat(scheme, 'w').element);
      const hidden = nanCode === maxCode;
      expect([Number.isFinite(run.loss), counted(run) === 0]).toEqual([hidden, hidden]);
      expect(run.nonFiniteOperands).toBe(2 + (hidden ? 0 : SHAPE.sequences * SHAPE.tokens * 4 * graph.width));
      if (hidden) expect(() => assertFinite(run, 'reference')).toThrow(/2 Inf or NaN elements in quantized operands/);
    });
  });

  it('the count starts from zero with every run', async () => {
    await withSession(planted(['h.1.mlp.c_fc.weight', 100, NaN]), async (session) => {
      for (let i = 0; i < 2; i++) expect((await session.runReference(low('h.1.mlp.c_fc:fprop'))).nonFiniteOperands).toBe(1);
      expect((await session.runReference()).nonFiniteOperands).toBe(0);
    });
  });

  it('NaN in the activation that a bias makes: every row of the operand counts', async () => {
    await withSession(planted(['h.1.mlp.c_fc.bias', 7, NaN]), async (session) => {
      await session.runReference();
      const run = await session.runVariant({ policy: low('h.1.mlp.c_proj:wgrad') });
      // x of c_proj holds a NaN in each of its rows (dy, which has gone through the loss, is all NaN).
      const rows = SHAPE.sequences * SHAPE.tokens;
      expect(run.nonFiniteOperands).toBe(rows + rows * graph.width);
      // A Hadamard transform spreads each NaN over its group of 16 tokens, the padded ones among them.
      const spread = await session.runVariant({ policy: { ...low('h.1.mlp.c_proj:wgrad'), options: { rht: true, sr: true } } });
      expect(spread.nonFiniteOperands).toBe(rhtLength(rows) * (1 + graph.width));
    });
  });
});

describe('the probe', () => {
  // c_fc of layer 0 reads 2^64 in column 5, where its weight is 0, and 0 in column 6, where its weight is 2^66: the
  // reference adds zeros, but the product of the two tensor scales overflows.
  const WIDE = 256;
  const overflowing = planted(
    ['h.0.ln_2.bias', 5, 2 ** 64], ...Array.from({ length: WIDE }, (_, j): [string, number, number] => ['h.0.mlp.c_fc.weight', 5 * WIDE + j, 0]),
    ['h.0.ln_2.weight', 6, 0], ['h.0.ln_2.bias', 6, 0], ['h.0.mlp.c_fc.weight', 6 * WIDE + 9, 2 ** 66],
  );

  it('a pass that overflows on its own is a failed result; its neighbours are measured', async () => {
    await withSession(overflowing, async (session) => {
      const found = await measure(session, ['h.0.mlp.c_fc:fprop', 'h.0.mlp.c_fc:wgrad', 'h.0.mlp.c_proj:fprop']);
      expect(found.get('h.0.mlp.c_fc:fprop')).toEqual({ status: 'failed', errorName: 'E-RUN-02', reason: expect.stringMatching(/h\.0\.mlp\.c_fc:fprop, batch 0: expected a finite gradient, got \d+ Inf or NaN/) as string });
      for (const site of ['h.0.mlp.c_fc:wgrad', 'h.0.mlp.c_proj:fprop']) {
        const result = found.get(site);
        expect(result?.status, site).toBe('measured');
        if (result?.status === 'measured') expect(result.angleDeg).toBeGreaterThan(0);
      }
      const probe = new Probe(session, [TOKENS], { batches: 1 });
      await probe.measureFloor({}, NO_FLOOR);
      expect(await probe.measureJoint(low('h.0.mlp.c_fc:fprop', 'h.1.mlp.c_fc:wgrad'))).toMatchObject({ status: 'failed', errorName: 'E-RUN-02' });
    });
  });

  it.each([
    ['hidden operands', (run: RunResult): RunResult => ({ ...run, nonFiniteOperands: 3 }), /3 Inf or NaN elements in quantized operands/],
    ['one NaN of one tensor', (run: RunResult): RunResult => ({ ...run, sums: new Map([...run.sums].map(([name, s]) => [name, name === 'ln_f.bias' ? { ...s, nonFinite: 1 } : s])) }), /1 Inf or NaN elements in the gradient, the first in ln_f\.bias/],
    ['a loss that is NaN', (run: RunResult): RunResult => ({ ...run, loss: NaN }), /a loss of NaN/],
    ['sums beyond FP32', (run: RunResult): RunResult => ({ ...run, sums: new Map([...run.sums].map(([name, s]) => [name, { ...s, gg: Infinity }])) }), /too large for FP32 sums/],
  ])('a run with %s', async (_what, spoil, reason) => {
    await withSession(params, async (session) => {
      const real = session.runVariant.bind(session);
      const spy = vi.spyOn(session, 'runVariant').mockImplementation(async (...args) => spoil(await real(...args)));
      const found = await measure(session, ['h.0.mlp.c_fc:wgrad']);
      expect(found.get('h.0.mlp.c_fc:wgrad')).toEqual({ status: 'failed', errorName: 'E-RUN-02', reason: expect.stringMatching(reason) as string });
      spy.mockRestore();
    });
  });

  it('a gradient of zeros in a site is a failed result, in the reference the end of the run', async () => {
    await withSession(params, async (session) => {
      await session.runReference();
      gpu.faultyKernel = 'cross_entropy_bprop';
      const found = await measure(session, ['h.1.mlp.c_proj:fprop']);
      expect(found.get('h.1.mlp.c_proj:fprop')).toEqual({ status: 'failed', errorName: 'E-RUN-02', reason: expect.stringMatching(/a gradient that is zero everywhere/) as string });
    });
    await withSession(params, async (session) => {
      await expect(new Probe(session, [TOKENS], { batches: 1 }).referenceLosses()).rejects.toMatchObject({ name: 'E-RUN-02', message: expect.stringMatching(/zero everywhere/) as string });
    });
  });
});
