/**
 * Angles under switches that the PyTorch goldens lack, against our own float64 reference, which meets those goldens to six
 * digits where they exist (src/engine/reference): joints of all sites, and backward passes rounded at random; gpt2-nano,
 * batch 0. Power-of-two scales of E4M3 differ in range only: that those rows agree to four digits is no accident.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gradientMetrics, gradientSums } from '../base/angle';
import { referenceGradient } from '../engine/reference/gradient';
import { Session } from '../engine/session';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { REFERENCE_POLICY, type Policy, type PolicyOptions, type RecipeName, type SiteId } from '../graph/policy';
import type { SiteResult } from '../graph/probe-record';
import { paintableSites } from '../graph/sites';
import { policyLowering } from '../probe/low-sites';
import { Probe } from '../probe/probe';
import { builtIn } from './golden';

const { graph, params, batches: [batch = []] } = builtIn('nano');
const SHAPE = { sequences: batch.length, tokens: (batch[0]?.length ?? 1) - 1 };
let gpu: Gpu;
let session: Session;
let high: Float64Array;
beforeAll(async () => {
  high = gradientOf(REFERENCE_POLICY);
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

function gradientOf(policy: Policy): Float64Array {
  const { gradient } = referenceGradient(graph, params, batch, policy);
  return Float64Array.from(graph.params.flatMap(({ name }) => [...(gradient.get(name) ?? [])]));
}
const angleOf = (result: SiteResult): number => (result.status === 'measured' ? result.angleDeg : NaN);

describe.each<[RecipeName, PolicyOptions, number]>([
  ['nvfp4', { rht: true, sr: true, seed: 7 }, 0.02],
  ['nvfp4', { weights1d: true, rht: true, sr: true }, 0.02],
  ['mxfp4', { floor: true }, 0.02],
  ['mxfp8', { floor: true }, 0.03],
  ['mxfp8', { e5m2Grad: true }, 0.03],
  ['fp8', { pow2: true }, 0.03],
  ['fp8-out', { pow2: true }, 0.03],
  ['fp8-out', { out: 'block' }, 0.03],
  ['fp8-out', { out: 'mx' }, 0.03],
])('%s %j', (recipe, options, limit) => {
  const all = paintableSites(graph, recipe).map(({ id }) => id);
  beforeAll(async () => {
    session = await Session.create(gpu, graph, params, SHAPE, recipe === 'fp8-out' ? { outs: options } : {});
  });
  afterAll(() => session.dispose());

  const alone = options.sr ? ['h.1.mlp.c_fc:dgrad', 'h.0.attn.c_attn:wgrad'] : [];
  it.each<{ what: string; low: readonly SiteId[] }>([{ what: 'all', low: all }, ...alone.map((site) => ({ what: site, low: [site] }))])(`$what: within ${100 * limit} % of float64`, async ({ what, low }) => {
    const policy = policyLowering(graph, low, recipe, options);
    const probe = new Probe(session, [batch], { batches: 1 });
    await probe.measureFloor({}, { forwardDeg: 0, backwardDeg: 0, perRun: [] });
    const found = angleOf(await probe.measureJoint(policy));
    const expected = gradientMetrics(gradientSums(gradientOf(policy), high)).angleDeg;
    console.log(`${recipe} ${JSON.stringify(options)} ${what}: ${found.toFixed(4)} against ${expected.toFixed(4)} deg, ${(100 * (found / expected - 1)).toFixed(2)} %`);
    expect(Math.abs(found / expected - 1)).toBeLessThan(limit);
  });
});
