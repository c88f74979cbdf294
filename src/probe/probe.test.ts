/**
 * The probe on gpt2-nano: what persists against whole gradients taken apart on the host, leave-one-out against the joint
 * policy it is, local errors of plans, and the same bits with one resident reference run as with all.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batches as texts, graph, params, SHAPE } from '../engine/run-fixture';
import { Session } from '../engine/session';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { probeRun } from '../graph/ledger';
import { REFERENCE_POLICY, type Policy, type PolicyOptions, type RandomDraw, type RecipeName, type SiteId } from '../graph/policy';
import type { Measured, PersistentShift, SiteResult } from '../graph/probe-record';
import { paintableSites } from '../graph/sites';
import { lowSites, policyLowering } from './low-sites';
import { persistentShift } from './persistence';
import { Probe } from './probe';
import { sessionUse } from './session-use';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

/** Eight batches of 2 x 13 positions. */
const BATCHES = texts.slice(0, 4).flatMap((rows) => [rows.slice(0, 2), rows.slice(2, 4)]).map((rows) => rows.map((row) => row.slice(0, SHAPE.tokens + 1)));
const FLOOR = { forwardDeg: 0.1, backwardDeg: 0.01, perRun: [] };
const measured = (result: SiteResult | undefined): Measured => {
  if (result?.status !== 'measured') throw new Error(`expected a measured result, got ${JSON.stringify(result)}`);
  return result;
};
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);

/** A probe of `count` batches; resident: how many reference runs stay on the device, all by default. */
async function withProbe<T>(recipe: RecipeName, options: PolicyOptions, count: number, work: (probe: Probe) => Promise<T>, resident = count): Promise<T> {
  const run = { ...probeRun(graph, SHAPE, count, { recipe, options, persistent: true }), batches: resident };
  const session = await Session.create(gpu, graph, params, SHAPE, sessionUse(run));
  try {
    const probe = new Probe(session, BATCHES.slice(0, count), run);
    await probe.measureFloor({}, FLOOR);
    return await work(probe);
  } finally {
    session.dispose();
  }
}
async function sitesOf(probe: Probe, sites: readonly SiteId[], recipe: RecipeName, options: PolicyOptions, persistent: boolean): Promise<Record<SiteId, SiteResult>> {
  const found: Record<SiteId, SiteResult> = {};
  await probe.measureSites(sites, recipe, options, { persistent }, { onSite: (site, result) => void (found[site] = result) });
  return found;
}

describe('what persists', () => {
  const options: PolicyOptions = { sr: true, seed: 5 };
  const [FPROP, DGRAD, WGRAD] = ['h.0.mlp.c_fc:fprop', 'h.1.attn.c_proj:dgrad', 'h.0.attn.c_attn:wgrad'] as const;
  let found: Record<SiteId, SiteResult>;
  /** Whole gradient of a policy on a batch, parameters one after another. */
  let gradient: (policy: Policy, k: number, random: RandomDraw) => Promise<Float32Array>;
  let host: Session;

  beforeAll(async () => {
    found = await withProbe('nvfp4', options, 8, (probe) => sitesOf(probe, [FPROP, DGRAD, WGRAD], 'nvfp4', options, true));
    host = await Session.create(gpu, graph, params, SHAPE, { plan: { ...REFERENCE_POLICY, passes: { [WGRAD]: 'nvfp4' }, options } });
    gradient = async (policy, k, random) => {
      host.setBatch(BATCHES[k] ?? []);
      await host.runReference(policy, undefined, random);
      return Float32Array.from([...(await host.readGradient()).values()].flatMap((values) => [...values]));
    };
  });
  afterAll(() => host.dispose());

  async function onHost(site: SiteId, draws: readonly { readonly k: number; readonly random: RandomDraw }[]): Promise<{ shift: PersistentShift; relative: number[] }> {
    const policy = policyLowering(graph, [site], 'nvfp4', options);
    const shifts: Float32Array[] = [];
    const squares: number[] = [];
    for (const { k, random } of draws) {
      const reference = await gradient(REFERENCE_POLICY, k, random);
      const low = await gradient(policy, k, random);
      shifts.push(low.map((x, i) => x - (reference[i] ?? 0)));
      squares.push(dot(reference, reference));
    }
    return { shift: persistentShift(shifts.flatMap((a) => shifts.map((b) => dot(a, b))), squares), relative: shifts.map((d, i) => Math.sqrt(dot(d, d) / (squares[i] ?? NaN))) };
  }
  function expectSame(actual: PersistentShift | { readonly reason: string } | undefined, expected: PersistentShift): void {
    if (!actual || 'reason' in actual) throw new Error(`expected a persistent shift, got ${JSON.stringify(actual)}`);
    expect(actual.draws).toBe(expected.draws);
    // FP32 partial sums on the device; where little of a shift stays, the difference of two sums shows it.
    expect(Math.abs(actual.relative ** 2 - expected.relative ** 2)).toBeLessThan(1e-4 * (expected.relative ** 2 / (expected.share || 1)));
    expect(Math.abs(actual.standardError - expected.standardError)).toBeLessThan(1e-2 * expected.standardError + 1e-9);
    expect(Math.abs(actual.share - expected.share)).toBeLessThan(1e-4);
  }

  it.each([FPROP, DGRAD, WGRAD])('%s over eight batches, batch k rounded with the numbers of step k: as whole gradients say', async (site) => {
    const expected = await onHost(site, BATCHES.map((_, k) => ({ k, random: { step: k, draw: 0 } })));
    const result = measured(found[site]);
    result.perBatch.forEach((batch, k) => expect(batch.relativeShift / (expected.relative[k] ?? NaN)).toBeCloseTo(1, 4));
    expectSame(result.persistent?.overBatches, expected.shift);
    console.log(`${site} over batches: ${JSON.stringify(result.persistent?.overBatches)}`);
  });

  it.each([DGRAD, WGRAD])('%s over eight draws of the first batch: as whole gradients say', async (site) => {
    const expected = await onHost(site, Array.from({ length: 8 }, (_, draw) => ({ k: 0, random: { step: 0, draw } })));
    expectSame(measured(found[site]).persistent?.overDraws, expected.shift);
    console.log(`${site} over draws: ${JSON.stringify(measured(found[site]).persistent?.overDraws)}`);
  });

  it('says why there is nothing: a forward pass draws nothing, no sr, another recipe, too few batches, no room', async () => {
    expect(measured(found[FPROP]).persistent?.overDraws).toEqual({ reason: 'only the gradients that dgrad and wgrad read are rounded at random' });
    const few = await withProbe('nvfp4', {}, 2, (probe) => sitesOf(probe, [WGRAD], 'nvfp4', {}, true));
    expect(measured(few[WGRAD]).persistent).toEqual({ overBatches: { reason: 'needs at least 8 batches; this run has 2' }, overDraws: { reason: 'stochastic rounding (sr) is off' } });
    const other = await withProbe('mxfp8', {}, 8, (probe) => sitesOf(probe, [WGRAD], 'mxfp8', {}, true), 1);
    expect(measured(other[WGRAD]).persistent).toMatchObject({ overBatches: { reason: expect.stringMatching(/^needs 8 reference runs and 8 shifts on the device at once/) as string }, overDraws: { reason: 'MXFP8 rounds nothing at random' } });
  });
});

describe.each<[RecipeName, PolicyOptions]>([['nvfp4', { rht: true, sr: true }], ['fp8-out', {}]])('%s %j', (recipe, options) => {
  const all = paintableSites(graph, recipe).map(({ id }) => id);
  const some = [all[0] ?? '', all[4] ?? '', all.at(-2) ?? ''];
  const withoutTime = (results: Readonly<Record<SiteId, SiteResult>>): unknown => JSON.parse(JSON.stringify(results, (key, value: unknown) => (key === 'elapsedMs' ? undefined : value)));

  it('leaving a site out is the joint policy without it; its local error is the sum of the others, once all are measured', async () => {
    await withProbe(recipe, options, 1, async (probe) => {
      const isolated = { recipe, options, sites: await sitesOf(probe, all, recipe, options, false) };
      const left: Record<SiteId, SiteResult> = {};
      await probe.measureLeaveOneOut(some.slice(1), isolated, { onSite: (site, result) => void (left[site] = result) });
      for (const site of some.slice(1)) {
        const policy = policyLowering(graph, all.filter((id) => id !== site), recipe, options);
        expect(lowSites(policy)).toHaveLength(all.length - 1);
        const joint = measured(await probe.measureJoint(policy, isolated));
        expect(withoutTime({ site: measured(left[site]) })).toEqual(withoutTime({ site: joint }));
        const sum = all.filter((id) => id !== site).reduce((total, id) => total + (measured(isolated.sites[id]).perBatch[0]?.localError ?? NaN), 0);
        expect(joint.localError).toBeCloseTo(sum, 12);
        expect(joint.perBatch[0]?.localError).toBeCloseTo(sum, 12);
      }
      const fewer = Object.fromEntries(Object.entries(isolated.sites).filter(([id]) => id !== all[1]));
      const whole = policyLowering(graph, all, recipe, options);
      expect(measured(await probe.measureJoint(whole, { ...isolated, sites: fewer })).localError).toBeNull();
      expect(measured(await probe.measureJoint(whole, { ...isolated, options: { ...options, seed: 9, pow2: true } })).localError).toBeNull();
    });
  });

  it('one resident reference run instead of three: the same bits', async () => {
    const sites = [...some, all[2] ?? ''];
    const resident = await withProbe(recipe, options, 3, (probe) => sitesOf(probe, sites, recipe, options, false));
    const again = await withProbe(recipe, options, 3, (probe) => sitesOf(probe, sites.toReversed(), recipe, options, false), 1);
    expect(withoutTime(again)).toEqual(withoutTime(resident));
  });
});
